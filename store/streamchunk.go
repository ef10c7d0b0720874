package store

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// streamChunk is a run of a stream's entries: what a node of Redis's radix tree holds. The
// field names of its first entry are its master fields. An entry with the same field names
// stores only its values.
//
// data has the number of master fields and their names. Behind them are the entries. An entry
// is
//
//	head    length of the rest of the entry <<2, entrySame, entryDead
//	id      the differences from the entry before: milliseconds, and sequence number (signed)
//	fields  unless entrySame is set: their number
//	        for each its name (unless entrySame is set) and its value
//	size    length of id and fields, to be read backwards
//
// All these numbers are varints; the bytes of size are in reverse order. streamtext.go
// packs names and values. A deleted entry only gets entryDead: like Redis, a chunk frees its
// memory when its last entry is deleted.
//
// A listpack has a length for each part of an entry. An entry here has two in all: the head is
// read forwards, the size backwards.
//
// The ids of live entries ascend. That of a deleted entry may be above later ones: after XDEL of
// the greatest id, XSETID may set a lower one, from which XADD continues.
type streamChunk struct {
	data       []byte
	body       int32    // offset of the first entry in data
	live, dead int32    // number of entries
	lastDead   bool     // the last entry is deleted
	first      StreamID // no live entry has an id below it
	last       StreamID // of the last entry, deleted or not
	// packed is the size in bytes of the listpack that Redis would have in place of the
	// chunk. It decides when a chunk is full, see stream-node-max-bytes.
	packed int64
}

const (
	entryDead = 1 << iota
	entrySame
	entryBits = 2
)

// streamPackedMax is the largest size of a listpack, in bytes.
const streamPackedMax = 1 << 30

// newStreamChunk returns a chunk without entries. fields are names and values in turn: the
// first entry's. The chunk appends to buf.
func newStreamChunk(first StreamID, fields [][]byte, buf []byte) *streamChunk {
	n := len(fields) / 2
	c := &streamChunk{first: first, last: first}
	c.packed = listpackEmpty + 2*listpackInt(0) + listpackInt(int64(n)) + listpackInt(0)
	c.data = binary.AppendUvarint(buf, uint64(n))
	for i := 0; i < len(fields); i += 2 {
		var size int64
		c.data, size = appendText(c.data, fields[i])
		c.packed += size
	}
	c.body = int32(len(c.data))
	return c
}

// full reports whether an entry of size bytes, field names and values together, needs
// another chunk.
func (c *streamChunk) full(size int64, lim *Limits) bool {
	most := lim.StreamNodeBytes
	if most <= 0 || most > streamPackedMax {
		most = streamPackedMax
	}
	return c.packed+size >= most ||
		lim.StreamNodeEntries > 0 && int64(c.live+c.dead) >= lim.StreamNodeEntries
}

// append adds an entry. id is above the ids of all live entries, and not below c.first. fields
// are names and values in turn.
func (c *streamChunk) append(id StreamID, fields [][]byte) {
	same := c.sameFields(fields)
	parts, flags := int64(len(fields)/2), uint64(entrySame)
	packed := listpackInt(2) + listpackInt(int64(id.MS-c.first.MS)) +
		listpackInt(int64(id.Seq-c.first.Seq))
	// The head comes first, but is known last. Its room is a guess: the rest of the entry moves
	// only if the guess is wrong.
	var head [2 * binary.MaxVarintLen64]byte
	room := uvarintLen(uint64(fieldBytes(fields)) << entryBits)
	begin := len(c.data) + room
	data := append(c.data, head[:room]...)
	data = binary.AppendUvarint(data, id.MS-c.last.MS)
	data = binary.AppendVarint(data, int64(id.Seq-c.last.Seq))
	if !same {
		data = binary.AppendUvarint(data, uint64(parts))
		packed += listpackInt(parts)
		parts, flags = 2*parts+1, 0
	}
	for i, b := range fields {
		if !same || i%2 == 1 {
			var size int64
			data, size = appendText(data, b)
			packed += size
		}
	}
	data = appendReversed(data, uint64(len(data)-begin))
	rest := binary.AppendUvarint(head[:0], uint64(len(data)-begin)<<entryBits|flags)
	if len(rest) == room {
		copy(data[begin-room:], rest)
	} else {
		data = slices.Replace(data, begin-room, begin, rest...)
	}
	c.data, c.last, c.lastDead = data, id, false
	c.packed += packed + listpackInt(parts+3)
	c.count(1, 0)
}

// fieldBytes returns the number of bytes in fields.
func fieldBytes(fields [][]byte) (n int64) {
	for _, b := range fields {
		n += int64(len(b))
	}
	return n
}

// count changes the numbers of entries, and the size that they take in a listpack.
func (c *streamChunk) count(live, dead int32) {
	c.packed -= listpackInt(int64(c.live)) + listpackInt(int64(c.dead))
	c.live += live
	c.dead += dead
	c.packed += listpackInt(int64(c.live)) + listpackInt(int64(c.dead))
}

// sameFields reports whether the names among fields are the master fields.
func (c *streamChunk) sameFields(fields [][]byte) bool {
	n, pos := binary.Uvarint(c.data)
	if int(n) != len(fields)/2 {
		return false
	}
	for i := 0; i < len(fields); i += 2 {
		var ok bool
		if pos, ok = c.isText(pos, fields[i]); !ok {
			return false
		}
	}
	return true
}

// streamCursor is an entry of a chunk while the chunk is walked in either direction.
type streamCursor struct {
	id         StreamID
	ms, seq    uint64 // differences from the id of the entry before
	head       int    // offset of the entry's head in the chunk's data
	body       int    // offset behind its id
	end        int    // offset of the next entry
	same, dead bool
}

// start returns a cursor in front of the first entry.
func (c *streamChunk) start() streamCursor {
	return streamCursor{id: c.first, end: int(c.body)}
}

// finish returns a cursor behind the last entry.
func (c *streamChunk) finish() streamCursor {
	return streamCursor{id: c.last, head: len(c.data)}
}

// next moves the cursor to the next entry. It returns false after the last one.
func (c *streamChunk) next(at *streamCursor) bool {
	if at.end >= len(c.data) {
		return false
	}
	at.head = at.end
	head, pos := c.uvarintAt(at.head)
	at.end = pos + int(head>>entryBits)
	c.read(at, pos)
	at.id.MS += at.ms
	at.id.Seq += at.seq
	return true
}

// prev moves the cursor to the entry before. It returns false before the first one.
func (c *streamChunk) prev(at *streamCursor) bool {
	if at.head <= int(c.body) {
		return false
	}
	at.end = at.head
	at.id.MS -= at.ms
	at.id.Seq -= at.seq
	size, pos := c.reversedBefore(at.end)
	pos -= int(size)
	at.head = pos - uvarintLen(uint64(at.end-pos)<<entryBits)
	c.read(at, pos)
	return true
}

// read reads the flags of the entry at at.head, whose id is at pos.
func (c *streamChunk) read(at *streamCursor, pos int) {
	flags := c.data[at.head]
	at.dead, at.same = flags&entryDead != 0, flags&entrySame != 0
	at.ms, pos = c.uvarintAt(pos)
	seq, pos := c.uvarintAt(pos)
	at.seq = seq>>1 ^ -(seq & 1) // as binary.AppendVarint writes a signed number
	at.body = pos
}

// find returns the live entry with this id. ok is false if there is none.
func (c *streamChunk) find(id StreamID) (at streamCursor, ok bool) {
	for at = c.start(); c.next(&at); {
		if !at.dead && !at.id.Less(id) {
			return at, at.id == id
		}
	}
	return at, false
}

// edge returns the id of the first live entry, or of the last. ok is false if there is none.
func (c *streamChunk) edge(last bool) (id StreamID, ok bool) {
	if last && !c.lastDead {
		return c.last, true
	}
	at, move := c.start(), c.next
	if last {
		at, move = c.finish(), c.prev
	}
	for move(&at) {
		if !at.dead {
			return at.id, true
		}
	}
	return StreamID{}, false
}

// kill marks the live entry at the cursor as deleted. The caller counts it.
func (c *streamChunk) kill(at *streamCursor) {
	c.data[at.head] |= entryDead
	c.lastDead = c.lastDead || at.id == c.last
}

// clone returns an independent copy.
func (c *streamChunk) clone() *streamChunk {
	copied := *c
	copied.data = bytes.Clone(c.data)
	return &copied
}

func (c *streamChunk) uvarintAt(pos int) (v uint64, next int) {
	if b := c.data[pos]; b < 0x80 {
		return uint64(b), pos + 1
	}
	v, n := binary.Uvarint(c.data[pos:])
	return v, pos + n
}

// appendReversed appends a varint with its bytes in reverse order.
func appendReversed(to []byte, v uint64) []byte {
	from := len(to)
	to = binary.AppendUvarint(to, v)
	slices.Reverse(to[from:])
	return to
}

// reversedBefore returns the number that appendReversed has written in front of end, and its
// offset.
func (c *streamChunk) reversedBefore(end int) (v uint64, pos int) {
	for shift := 0; ; shift += 7 {
		end--
		b := c.data[end]
		if v |= uint64(b&0x7f) << shift; b < 0x80 {
			return v, end
		}
	}
}

func uvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}
