package store

import (
	"bytes"

	"github.com/lockredis/lockredis/internal/heapsize"
)

// Stream is the value of a stream: entries of names and values in the order of their ids,
// and consumer groups. Unlike other aggregates a stream may be empty. The zero Stream is
// empty and ready.
//
// The entries are in chunks, as in Redis: packed bytes of at most stream-node-max-entries
// entries and stream-node-max-bytes bytes. XADD ... MAXLEN ~ removes whole chunks, so a
// chunk must end where Redis ends its listpack. A chunk counts the bytes that its listpack
// would have, and stores fewer. A B+ tree of the chunks' first ids finds the chunk of an id.
// Thus a look-up, the begin of a range, a deletion and the trimming of a chunk take
// logarithmic time in the number of entries.
//
// One sorted slice of chunks would be a little smaller. But to take a chunk out of its
// middle would move half of the slice. A skip list of entries would cost a pointer and an
// allocation for each entry.
//
// The last chunk grows in an array that the next chunk takes over. So a full chunk is one
// allocation of its exact size.
type Stream struct {
	// Last is the greatest id that the stream has had, or that XSETID set.
	Last StreamID
	// MaxDeleted is the greatest id that XDEL deleted, 0-0 if there is none.
	MaxDeleted StreamID
	// Added is how many entries were ever added.
	Added int64
	// Groups are the consumer groups.
	Groups StreamGroups

	first  StreamID // of the first entry, 0-0 if there is none
	length int
	chunks idTree[*streamChunk]
	nodes  int // the result of RadixNodes, 0 if unknown
	// loose says that a payload or file had ids out of order, or figures that are not those
	// of the entries. Then only check may not compare them.
	loose bool
}

// Type returns TypeStream.
func (s *Stream) Type() Type { return TypeStream }

// Encoding returns "stream".
func (s *Stream) Encoding() string { return "stream" }

// Len returns the number of entries.
func (s *Stream) Len() int { return s.length }

// First returns the id of the first entry, 0-0 if there is none.
func (s *Stream) First() StreamID { return s.first }

// LastEntry returns the id of the last entry, 0-0 if there is none.
func (s *Stream) LastEntry() (id StreamID) {
	s.chunks.descend(MaxStreamID, func(_ StreamID, c *streamChunk) bool {
		last, ok := c.edge(true)
		if ok {
			id = last
		}
		return !ok
	})
	return id
}

// Chunks returns how many nodes Redis's radix tree has that hold entries.
func (s *Stream) Chunks() int { return s.chunks.len() }

// Clone returns an independent copy with the consumer groups.
func (s *Stream) Clone() Value {
	copied := *s
	copied.chunks = idTree[*streamChunk]{}
	s.chunks.ascend(StreamID{}, func(id StreamID, c *streamChunk) bool {
		copied.chunks.put(id, c.clone())
		return true
	})
	copied.Groups = s.Groups.clone()
	return &copied
}

// MemoryUsage estimates the memory of the value in bytes (see Value). A sample is a chunk.
func (s *Stream) MemoryUsage(samples int) int64 {
	size := heapsize.Pointers[Stream](1) + s.chunks.bytes() + s.chunks.len()*heapsize.Pointers[streamChunk](1)
	return int64(size) + s.dataBytes(samples) + s.Groups.memoryUsage(samples)
}

// dataBytes estimates the memory of the entries. The last chunk is not like the others: it
// grows.
func (s *Stream) dataBytes(samples int) int64 {
	_, last, ok := s.chunks.last()
	if !ok {
		return 0
	}
	n, seen, sum := s.chunks.len()-1, 0, 0
	s.chunks.ascend(StreamID{}, func(_ StreamID, c *streamChunk) bool {
		if c == last {
			return false
		}
		sum += heapsize.Text(cap(c.data))
		seen++
		return seen != samples
	})
	return int64(heapsize.Text(cap(last.data))) + int64(sum)*int64(n)/int64(max(seen, 1))
}

// Append adds an entry. id is above Last, and fields are names and values in turn, at least
// one of each. It returns false and adds nothing if the entry is too large.
func (s *Stream) Append(id StreamID, fields [][]byte, lim *Limits) bool {
	size := fieldBytes(fields)
	if size > streamPackedMax {
		return false
	}
	_, c, ok := s.chunks.last()
	if ok && c.live == 0 && !c.first.Less(id) { // XTRIM has emptied it, then XSETID set a lower id
		s.dropChunk(c)
		_, c, ok = s.chunks.last()
	}
	if !ok || c.full(size, lim) {
		c = newStreamChunk(id, fields, c.close())
		s.chunks.put(id, c)
		s.nodes = 0
	}
	c.append(id, fields)
	if s.length == 0 {
		s.first = id
	}
	s.length++
	s.Added++
	s.Last = id
	return true
}

// close gives the chunk an array without free room, because it gets no more entries. It
// returns the old array for the next chunk, nil if the old array has no use. c may be nil.
func (c *streamChunk) close() []byte {
	const most = 1 << 16 // bytes
	if c == nil || len(c.data) == cap(c.data) || cap(c.data) > most {
		return nil
	}
	buf := c.data[:0]
	c.data = bytes.Clone(c.data)
	return buf
}

// StreamEntry is an entry of a stream. It aliases the stream and is valid until the stream
// changes.
type StreamEntry struct {
	ID    StreamID
	chunk *streamChunk
	body  int
	same  bool
}

// Fields calls do for each name and value, in order, and returns their number.
func (e *StreamEntry) Fields(do func(name, value StreamText)) int {
	c, pos, names := e.chunk, e.body, 0
	n, next := c.uvarintAt(0)
	if e.same {
		names = next
	} else {
		n, pos = c.uvarintAt(pos)
	}
	for range n {
		var name, value StreamText
		if e.same {
			name, names = c.textAt(names)
		} else {
			name, pos = c.textAt(pos)
		}
		value, pos = c.textAt(pos)
		do(name, value)
	}
	return int(n)
}

// Len returns the number of names.
func (e *StreamEntry) Len() int {
	at := 0
	if !e.same {
		at = e.body
	}
	n, _ := e.chunk.uvarintAt(at)
	return int(n)
}

// entry returns the entry at a cursor.
func (c *streamChunk) entry(at *streamCursor) StreamEntry {
	return StreamEntry{ID: at.id, chunk: c, body: at.body, same: at.same}
}

// Entry returns the entry with this id. ok is false if there is none.
func (s *Stream) Entry(id StreamID) (e StreamEntry, ok bool) {
	leaf, i := s.chunks.seekBack(id)
	if leaf == nil {
		return e, false
	}
	c := leaf.vals[i]
	at, ok := c.find(id)
	return c.entry(&at), ok
}

// Has reports whether there is an entry with this id.
func (s *Stream) Has(id StreamID) bool {
	_, ok := s.Entry(id)
	return ok
}

// Range calls do for the entries with ids from from to to, both included, in order, or from
// to to from if back is set. It ends when do returns false. do must not change the stream.
func (s *Stream) Range(from, to StreamID, back bool, do func(StreamEntry) bool) {
	if back {
		s.rangeBack(from, to, do)
		return
	}
	leaf, i := s.chunks.seekBack(from)
	begin := StreamID{}
	if leaf != nil {
		begin = leaf.ids[i]
	}
	s.chunks.ascend(begin, func(first StreamID, c *streamChunk) bool {
		if to.Less(first) {
			return false
		}
		for at := c.start(); c.next(&at); {
			switch {
			case at.dead:
			case to.Less(at.id):
				return false
			case at.id.Less(from):
			case !do(c.entry(&at)):
				return false
			}
		}
		return true
	})
}

func (s *Stream) rangeBack(from, to StreamID, do func(StreamEntry) bool) {
	s.chunks.descend(to, func(_ StreamID, c *streamChunk) bool {
		for at := c.finish(); c.prev(&at); {
			switch {
			case at.dead:
			case at.id.Less(from):
				return false
			case to.Less(at.id):
			case !do(c.entry(&at)):
				return false
			}
		}
		return true
	})
}

// Delete removes the entry with this id and reports whether there was one.
func (s *Stream) Delete(id StreamID) bool {
	leaf, i := s.chunks.seekBack(id)
	if leaf == nil {
		return false
	}
	c := leaf.vals[i]
	at, ok := c.find(id)
	if !ok {
		return false
	}
	if c.live == 1 {
		s.dropChunk(c)
	} else {
		c.kill(&at)
		c.count(-1, 1)
	}
	s.length--
	if s.MaxDeleted.Less(id) {
		s.MaxDeleted = id
	}
	if id == s.first {
		s.findFirst()
	}
	return true
}

// findFirst sets first.
func (s *Stream) findFirst() {
	s.first = StreamID{}
	if s.length == 0 {
		return
	}
	s.first = MaxStreamID // as in Redis, for a length without entries
	s.chunks.ascend(StreamID{}, func(_ StreamID, c *streamChunk) bool {
		id, ok := c.edge(false)
		if ok {
			s.first = id
		}
		return !ok
	})
}

func (s *Stream) dropChunk(c *streamChunk) {
	s.chunks.remove(c.first)
	s.nodes = 0
}

// StreamTrim says which entries Trim removes, from the first entry on.
type StreamTrim struct {
	// ByID removes the entries below MinID. Without it, Trim removes entries while there
	// are more than MaxLen.
	ByID   bool
	MinID  StreamID
	MaxLen int64
	// Whole removes only whole chunks.
	Whole bool
	// Limit is the largest number of removed entries. 0: no limit.
	Limit int64
}

// Trim removes entries and returns how many.
func (s *Stream) Trim(t StreamTrim) (removed int64) {
	for s.chunks.len() > 0 && (t.ByID || int64(s.length) > t.MaxLen) {
		_, c, _ := s.chunks.first()
		entries := int64(c.live)
		if t.Limit > 0 && removed+entries > t.Limit {
			break
		}
		all := int64(s.length)-entries >= t.MaxLen
		if t.ByID {
			all = c.last.Less(t.MinID)
		}
		if all {
			s.dropChunk(c)
			s.length -= int(entries)
			removed += entries
			continue
		}
		if !t.Whole {
			removed += s.trimChunk(c, &t)
		}
		break
	}
	if removed > 0 {
		s.findFirst()
	}
	return removed
}

// trimChunk removes entries from the first chunk and returns how many. The chunk stays.
func (s *Stream) trimChunk(c *streamChunk, t *StreamTrim) (removed int64) {
	for at := c.start(); c.next(&at); {
		if t.ByID && !at.id.Less(t.MinID) || !t.ByID && int64(s.length) <= t.MaxLen {
			break
		}
		if !at.dead {
			c.kill(&at)
			removed++
			s.length--
		}
	}
	c.count(-int32(removed), int32(removed))
	return removed
}

// RadixNodes returns how many nodes Redis's radix tree would have for the chunks. The time
// is linear in the number of chunks, but constant while the chunks stay the same.
func (s *Stream) RadixNodes() int {
	if s.nodes == 0 {
		s.nodes = s.countNodes()
	}
	return s.nodes
}
