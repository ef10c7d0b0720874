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

var errStreamOrder = errors.New("store: ids of a stream are not in order")

// StreamBuilder builds a stream from nodes. The zero StreamBuilder is ready.
type StreamBuilder struct {
	s     Stream
	c     *streamChunk
	names [][]byte // of c's first entry, each followed by nil
	top   StreamID // of the last live entry
}

// Node begins a node with this key, behind the nodes before it. names are those of its first
// entry.
func (b *StreamBuilder) Node(first StreamID, names [][]byte) error {
	if b.c != nil && (!b.c.first.Less(first) || !b.top.Less(first)) {
		return errStreamOrder
	}
	b.names = make([][]byte, 0, 2*len(names))
	for _, name := range names {
		b.names = append(b.names, name, nil)
	}
	b.begin(first)
	return nil
}

func (b *StreamBuilder) begin(first StreamID) {
	b.c = newStreamChunk(first, b.names, b.c.close())
	b.s.chunks.put(first, b.c)
}

// Entry adds an entry to the node. fields are names and values in turn. The ids of live entries
// ascend over all nodes. The first live id of a node may be below the node's key: Redis writes
// that after XTRIM, XSETID and XADD.
func (b *StreamBuilder) Entry(id StreamID, fields [][]byte, dead bool) error {
	if !dead && !b.top.Less(id) {
		return errStreamOrder
	}
	if !dead && id.Less(b.c.first) {
		if b.c.live > 0 {
			return errStreamOrder
		}
		b.s.dropChunk(b.c)
		b.begin(id)
	}
	c := b.c
	at := streamCursor{id: id, head: len(c.data)}
	c.append(id, fields)
	if !dead {
		b.top = id
		b.s.length++
		return nil
	}
	c.kill(&at)
	c.count(-1, 1)
	return nil
}

// Stream ends the stream, which has had so many entries. last and maxDeleted are its Last
// and MaxDeleted.
func (b *StreamBuilder) Stream(last, maxDeleted StreamID, added int64) (*Stream, error) {
	s := &b.s
	if last.Less(b.top) {
		return nil, errStreamOrder
	}
	s.Last, s.MaxDeleted, s.Added = last, maxDeleted, added
	s.findFirst()
	return s, nil
}
