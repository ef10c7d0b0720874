package store

import "errors"

// StreamNode is a run of a stream's entries as Redis keeps and serializes it: a listpack in
// a node of the radix tree.
type StreamNode struct{ c *streamChunk }

// EachNode calls do for the nodes in order.
func (s *Stream) EachNode(do func(StreamNode)) {
	s.chunks.ascend(StreamID{}, func(_ StreamID, c *streamChunk) bool {
		do(StreamNode{c})
		return true
	})
}

// FirstNode returns the key of the first node: the id of an entry that may be deleted. It is
// the greatest id if the stream has no node.
func (s *Stream) FirstNode() StreamID {
	if first, _, ok := s.chunks.first(); ok {
		return first
	}
	return MaxStreamID
}

// First returns the node's key: the id of its first entry, deleted or not.
func (n StreamNode) First() StreamID { return n.c.first }

// Counts returns the number of entries, and of deleted entries.
func (n StreamNode) Counts() (live, dead int) { return int(n.c.live), int(n.c.dead) }

// Size returns the size of the listpack in bytes.
func (n StreamNode) Size() int { return int(n.c.packed) }

// Names returns the names of the first entry's fields.
func (n StreamNode) Names() []StreamText {
	count, pos := n.c.uvarintAt(0)
	names := make([]StreamText, count)
	for i := range names {
		names[i], pos = n.c.textAt(pos)
	}
	return names
}

// Each calls do for each entry, deleted or not. same says that its names are Names.
func (n StreamNode) Each(do func(e StreamEntry, same, dead bool)) {
	for at := n.c.start(); n.c.next(&at); {
		do(n.c.entry(&at), at.same, at.dead)
	}
}

var errStreamNode = errors.New("store: two nodes of a stream have the same key")

// StreamBuilder builds a stream from nodes. The zero StreamBuilder is ready. Like Redis it
// takes ids that are not in order, and figures that the entries contradict. Commands
// then behave as in Redis, which believes the figures.
type StreamBuilder struct {
	s     Stream
	c     *streamChunk
	names [][]byte // of c's first entry, each followed by nil
	top   StreamID // the greatest id of a live entry
	live  int      // number of live entries
}

// Node begins a node with this key. names are the names of its first entry's fields.
func (b *StreamBuilder) Node(first StreamID, names [][]byte) error {
	b.names = make([][]byte, 0, 2*len(names))
	for _, name := range names {
		b.names = append(b.names, name, nil)
	}
	return b.begin(first)
}

func (b *StreamBuilder) begin(first StreamID) error {
	if _, taken := b.s.chunks.get(first); taken {
		return errStreamNode
	}
	b.c = newStreamChunk(first, b.names, b.c.close())
	b.s.chunks.put(first, b.c)
	return nil
}

// Entry adds an entry to the node. fields are names and values in turn. The first live id of
// a node may be below the node's key: Redis writes that after XTRIM, XSETID and XADD.
func (b *StreamBuilder) Entry(id StreamID, fields [][]byte, dead bool) error {
	if !dead && id.Less(b.c.first) && b.c.live == 0 {
		b.s.dropChunk(b.c)
		if err := b.begin(id); err != nil {
			return err
		}
	}
	c := b.c
	at := streamCursor{id: id, head: len(c.data)}
	c.append(id, fields)
	if dead {
		c.kill(&at)
		c.count(-1, 1)
		return nil
	}
	b.s.loose = b.s.loose || !b.top.Less(id) || id.Less(c.first)
	if b.top.Less(id) {
		b.top = id
	}
	b.live++
	return nil
}

// Counts ends the node with the numbers of live and deleted entries that it tells. They may
// contradict its entries.
func (b *StreamBuilder) Counts(live, dead int32) {
	if c := b.c; live != c.live {
		c.count(live-c.live, dead-c.dead)
		b.s.loose = true
	}
}

// StreamFigures are what a serialized stream tells about itself.
type StreamFigures struct {
	Len              int64
	Last, MaxDeleted StreamID
	Added            int64
	First            *StreamID // nil: the first entry's id
}

// Stream ends the stream.
func (b *StreamBuilder) Stream(f StreamFigures) *Stream {
	s := &b.s
	s.length, s.Last, s.MaxDeleted, s.Added = int(f.Len), f.Last, f.MaxDeleted, f.Added
	s.findFirst()
	if f.First != nil && *f.First != s.first {
		s.first, s.loose = *f.First, true
	}
	s.loose = s.loose || s.length != b.live || s.Last.Less(b.top)
	return s
}
