package store

import (
	"bytes"
	"encoding/binary"

	"github.com/lockredis/lockredis/resp"
)

// streamChunk is a run of a stream's entries: what a node of Redis's radix tree holds. The
// field names of its first entry are its master fields. An entry with the same field names
// stores only its values.
//
// data has the master fields: their number, and for each its length and bytes. Behind them
// are the entries. An entry is
//
//	head    length of the rest of the entry <<2, entrySame, entryDead
//	id      milliseconds since the entry before, and the sequence number; in the same
//	        millisecond the difference from the entry before
//	fields  unless entrySame is set: their number
//	        for each its name (unless entrySame is set) and its value: length and bytes
//
// All numbers are varints. A deleted entry only gets entryDead: like Redis, a chunk frees
// its memory when its last entry is deleted.
type streamChunk struct {
	data       []byte
	body       int32 // offset of the first entry in data
	live, dead int32 // number of entries
	lastDead   bool  // the last entry is deleted
	first      StreamID
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
		c.data = appendBytes(c.data, fields[i])
		c.packed += listpackString(fields[i])
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

// append adds an entry. id is above all ids of the chunk, or it is c.first and the chunk is
// empty. fields are names and values in turn.
func (c *streamChunk) append(id StreamID, fields [][]byte) {
	same := c.sameFields(fields)
	var room [32]byte
	head := binary.AppendUvarint(room[:0], id.MS-c.last.MS)
	seq := id.Seq
	if id.MS == c.last.MS {
		seq -= c.last.Seq
	}
	head = binary.AppendUvarint(head, seq)
	if !same {
		head = binary.AppendUvarint(head, uint64(len(fields)/2))
	}
	size := len(head)
	c.packed += listpackInt(2) + listpackInt(int64(id.MS-c.first.MS)) +
		listpackInt(int64(id.Seq-c.first.Seq))
	for i, b := range fields {
		if !same || i%2 == 1 {
			size += uvarintLen(uint64(len(b))) + len(b)
			c.packed += listpackString(b)
		}
	}
	parts, flags := int64(len(fields)/2), uint64(entrySame)
	if !same {
		c.packed += listpackInt(parts)
		parts, flags = 2*parts+1, 0
	}
	c.packed += listpackInt(parts + 3)
	c.data = append(binary.AppendUvarint(c.data, uint64(size)<<entryBits|flags), head...)
	for i, b := range fields {
		if !same || i%2 == 1 {
			c.data = appendBytes(c.data, b)
		}
	}
	c.last, c.lastDead = id, false
	c.count(1, 0)
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
		var name []byte
		if name, pos = c.bytesAt(pos); !bytes.Equal(name, fields[i]) {
			return false
		}
	}
	return true
}

// streamCursor is an entry of a chunk while the chunk is walked.
type streamCursor struct {
	id         StreamID
	head       int // offset of the entry's head in the chunk's data
	body       int // offset behind its id
	end        int // offset of the next entry
	same, dead bool
}

// start returns a cursor in front of the first entry.
func (c *streamChunk) start() streamCursor {
	return streamCursor{id: c.first, end: int(c.body)}
}

// next moves the cursor to the next entry. It returns false after the last one.
func (c *streamChunk) next(at *streamCursor) bool {
	if at.end >= len(c.data) {
		return false
	}
	at.head = at.end
	head, pos := c.uvarintAt(at.head)
	at.end = pos + int(head>>entryBits)
	at.dead, at.same = head&entryDead != 0, head&entrySame != 0
	ms, pos := c.uvarintAt(pos)
	seq, pos := c.uvarintAt(pos)
	if ms == 0 {
		seq += at.id.Seq
	}
	at.id.MS += ms
	at.id.Seq = seq
	at.body = pos
	return true
}

// find returns the live entry with this id. ok is false if there is none.
func (c *streamChunk) find(id StreamID) (at streamCursor, ok bool) {
	for at = c.start(); c.next(&at); {
		if !at.id.Less(id) {
			return at, at.id == id && !at.dead
		}
	}
	return at, false
}

// edge returns the id of the first live entry, or of the last. ok is false if there is none.
func (c *streamChunk) edge(last bool) (id StreamID, ok bool) {
	if last && !c.lastDead {
		return c.last, true
	}
	for at := c.start(); c.next(&at); {
		if at.dead {
			continue
		}
		if id, ok = at.id, true; !last {
			break
		}
	}
	return id, ok
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

func (c *streamChunk) bytesAt(pos int) (b []byte, next int) {
	n, pos := c.uvarintAt(pos)
	next = pos + int(n)
	return c.data[pos:next:next], next
}

func appendBytes(to, b []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}

func uvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// The sizes of Redis's listpack, in bytes.

// listpackEmpty is the size of a listpack without elements.
const listpackEmpty = 7

// listpackInt returns the size of an integer.
func listpackInt(n int64) int64 {
	switch {
	case 0 <= n && n < 1<<7:
		return 1 + 1
	case -1<<12 <= n && n < 1<<12:
		return 2 + 1
	case -1<<15 <= n && n < 1<<15:
		return 3 + 1
	case -1<<23 <= n && n < 1<<23:
		return 4 + 1
	case -1<<31 <= n && n < 1<<31:
		return 5 + 1
	}
	return 9 + 1
}

// listpackString returns the size of a byte string. The digits of an integer take the
// size of the integer.
func listpackString(b []byte) int64 {
	if n, ok := resp.ParseInt(b); ok {
		return listpackInt(n)
	}
	size := int64(len(b))
	switch {
	case size < 1<<6:
		size++
	case size < 1<<12:
		size += 2
	default:
		size += 5
	}
	switch { // its size again, to be read backwards
	case size <= 127:
		return size + 1
	case size < 16383:
		return size + 2
	case size < 2097151:
		return size + 3
	case size < 268435455:
		return size + 4
	}
	return size + 5
}
