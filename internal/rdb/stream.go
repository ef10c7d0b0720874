package rdb

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// A stream is its nodes, its figures and its groups. A node is its key, the 16 bytes of an
// id, and a listpack: the number of entries and of deleted entries, the number of the first
// entry's names, the names, 0, and the entries. An entry is its flags, the difference of its
// id from the node's key, the number of its fields unless they have the first entry's names,
// the fields, and how many elements that makes.
const (
	entryDeleted = 1 << iota
	entrySameNames
)

func appendStream(e *Encoder, dst []byte, s *store.Stream) []byte {
	const some = 16 // nodes that tell how large the others are
	dst = AppendLength(dst, uint64(s.Chunks()))
	start, written := len(dst), 0
	var pack listpack
	s.EachNode(func(n store.StreamNode) {
		if written++; written == some+1 {
			dst = slices.Grow(dst, (len(dst)-start)/some*(s.Chunks()-some)*9/8)
		}
		var key [16]byte
		dst = e.AppendString(dst, appendStreamID(key[:0], n.First()))
		fillStreamListpack(&pack, n)
		dst = e.AppendString(dst, pack.bytes())
	})
	dst = AppendLength(dst, uint64(s.Len()))
	for _, id := range []store.StreamID{s.Last, s.First(), s.MaxDeleted} {
		dst = AppendLength(AppendLength(dst, id.MS), id.Seq)
	}
	dst = AppendLength(dst, uint64(s.Added))
	dst = AppendLength(dst, uint64(len(s.Groups)))
	for _, g := range s.Groups {
		dst = appendStreamGroup(e, dst, g)
	}
	return dst
}

func appendStreamGroup(e *Encoder, dst []byte, g *store.StreamGroup) []byte {
	dst = e.AppendString(dst, []byte(g.Name))
	dst = AppendLength(AppendLength(dst, g.Last.MS), g.Last.Seq)
	dst = AppendLength(dst, uint64(g.Read))
	dst = AppendLength(dst, uint64(g.Len()))
	g.Each(store.StreamID{}, func(id store.StreamID, p *store.Pending) bool {
		dst = binary.LittleEndian.AppendUint64(appendStreamID(dst, id), uint64(p.Delivered))
		dst = AppendLength(dst, uint64(p.Count))
		return true
	})
	dst = AppendLength(dst, uint64(len(g.Consumers())))
	for _, c := range g.Consumers() {
		dst = e.AppendString(dst, []byte(c.Name))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(c.Seen))
		dst = AppendLength(dst, uint64(c.Len()))
		c.Each(store.StreamID{}, func(id store.StreamID, _ *store.Pending) bool {
			dst = appendStreamID(dst, id)
			return true
		})
	}
	return dst
}

// appendStreamID appends the 16 bytes of an id, the highest first.
func appendStreamID(dst []byte, id store.StreamID) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, id.MS), id.Seq)
}

// fillStreamListpack fills pack with the elements of a node.
func fillStreamListpack(pack *listpack, n store.StreamNode) {
	pack.reset()
	number := pack.addInteger
	live, dead := n.Counts()
	names := n.Names()
	number(int64(live))
	number(int64(dead))
	number(int64(len(names)))
	for _, name := range names {
		pack.addText(name)
	}
	number(0)
	first := n.First()
	n.Each(func(e store.StreamEntry, same, dead bool) {
		before, flags := pack.n, int64(0)
		if dead {
			flags |= entryDeleted
		}
		if same {
			flags |= entrySameNames
		}
		number(flags)
		number(int64(e.ID.MS - first.MS))
		number(int64(e.ID.Seq - first.Seq))
		if !same {
			number(int64(e.Len()))
		}
		e.Fields(func(name, value store.StreamText) {
			if !same {
				pack.addText(name)
			}
			pack.addText(value)
		})
		number(int64(pack.n - before))
	})
}

// stream reads a stream. Redis before 7.0 wrote typeStream, without the first id, the
// greatest deleted id, the number of added entries, and what the groups have read.
func (d *decoder) stream(kind byte) store.Value {
	var b store.StreamBuilder
	for range d.length() {
		d.streamNode(&b)
		if d.err != nil {
			return nil
		}
	}
	f := store.StreamFigures{Len: int64(d.length()), Last: d.streamID()}
	f.Added = f.Len
	if kind != typeStream {
		first := d.streamID()
		f.First, f.MaxDeleted, f.Added = &first, d.streamID(), int64(d.length())
	}
	s := b.Stream(f)
	if d.err == nil && f.Len != 0 && s.Chunks() == 0 {
		d.fail(corrupt("stream of %d entries without nodes", f.Len))
	}
	if d.err != nil {
		return nil
	}
	for range d.length() {
		d.streamGroup(s, kind)
		if d.err != nil {
			return nil
		}
	}
	return s
}

func (d *decoder) streamID() store.StreamID {
	ms := d.length()
	return store.StreamID{MS: ms, Seq: d.length()}
}

// rawStreamID reads the 16 bytes of an id.
func (d *decoder) rawStreamID() store.StreamID {
	b := d.bytes(16)
	if b == nil {
		return store.StreamID{}
	}
	return store.StreamID{MS: binary.BigEndian.Uint64(b), Seq: binary.BigEndian.Uint64(b[8:])}
}

// millis reads a time in Unix ms.
func (d *decoder) millis() int64 {
	if b := d.bytes(8); b != nil {
		return integer(b)
	}
	return 0
}

func (d *decoder) streamNode(b *store.StreamBuilder) {
	key, packed := d.string(), d.string()
	if d.err != nil {
		return
	}
	if len(key) != 16 {
		d.fail(corrupt("key of %d bytes in a stream", len(key)))
		return
	}
	elems, err := readListpackElements(packed) // Redis does not look at their number here
	if err != nil {
		d.fail(err)
		return
	}
	first := store.StreamID{
		MS: binary.BigEndian.Uint64(key), Seq: binary.BigEndian.Uint64(key[8:]),
	}
	r := &streamReader{elems: elems}
	r.node(b, first)
	if r.failed {
		d.fail(corrupt("node %v of a stream", first))
	}
}

// streamReader reads the listpack of a node. After a failure it returns zeros.
type streamReader struct {
	elems  [][]byte
	failed bool
}

func (r *streamReader) elem() []byte {
	if len(r.elems) == 0 {
		r.failed = true
		return nil
	}
	elem := r.elems[0]
	r.elems = r.elems[1:]
	return elem
}

func (r *streamReader) number() int64 {
	n, ok := resp.ParseInt(r.elem())
	r.failed = r.failed || !ok
	return n
}

// count reads how many elements follow, in groups of size.
func (r *streamReader) count(size int) int {
	n := r.number()
	if n < 0 || n > int64(len(r.elems)/size) {
		r.failed = true
		return 0
	}
	return int(n)
}

// node reads a node. As in Redis, the numbers of live and deleted entries have the right sum;
// each of them may be wrong.
func (r *streamReader) node(b *store.StreamBuilder, first store.StreamID) {
	live, dead := r.number(), r.number()
	names := make([][]byte, r.count(1))
	for i := range names {
		names[i] = r.elem()
	}
	if r.number() != 0 || r.failed || b.Node(first, names) != nil {
		r.failed = true
		return
	}
	entries := int64(0)
	for ; !r.failed && len(r.elems) > 0; entries++ {
		r.entry(b, first, names)
	}
	if r.failed || live < 0 || dead < 0 || live > entries || live+dead != entries {
		r.failed = true
		return
	}
	b.Counts(int32(live), int32(dead))
}

// entry reads an entry.
func (r *streamReader) entry(b *store.StreamBuilder, first store.StreamID, names [][]byte) {
	before := len(r.elems)
	flags := r.number()
	id := store.StreamID{MS: first.MS + uint64(r.number()), Seq: first.Seq + uint64(r.number())}
	var fields [][]byte
	if flags&entrySameNames != 0 {
		for _, name := range names {
			fields = append(fields, name, r.elem())
		}
	} else {
		for range 2 * r.count(2) {
			fields = append(fields, r.elem())
		}
	}
	parts := int64(before - len(r.elems))
	if r.number() != parts || r.failed || b.Entry(id, fields, flags&entryDeleted != 0) != nil {
		r.failed = true
	}
}

// streamGroup reads a consumer group.
func (d *decoder) streamGroup(s *store.Stream, kind byte) {
	name := d.string()
	last := d.streamID()
	if d.err != nil {
		return
	}
	g := s.Groups.Add(name)
	if g == nil {
		d.fail(corrupt("stream with a group twice"))
		return
	}
	g.Last, g.Read = last, store.ReadUnknown
	if kind != typeStream {
		g.Read = int64(d.length()) // any value: as in Redis, it may have overflowed
	} else if n, ok := s.Position(last); ok {
		g.Read = n
	}
	type delivery struct{ at, n int64 }
	pending := map[store.StreamID]delivery{}
	n := d.length()
	for range n {
		id := d.rawStreamID()
		pending[id] = delivery{d.millis(), int64(d.length())}
		if d.err != nil {
			return
		}
	}
	for range d.length() {
		c := g.AddConsumer(d.string(), d.millis())
		if kind == typeStreamActive {
			d.millis() // the time of the last success, which is not kept
		}
		if c == nil {
			d.fail(corrupt("group with a consumer twice"))
		}
		for range d.length() {
			id := d.rawStreamID()
			p, ok := pending[id]
			if !ok || d.err != nil || g.Pending(id) != nil {
				d.fail(corrupt("pending entry %v", id))
				return
			}
			owned := g.Assign(id, c)
			owned.Delivered, owned.Count = p.at, p.n
		}
		if d.err != nil {
			return
		}
	}
	if uint64(len(pending)) != n || g.Len() != len(pending) {
		d.fail(corrupt("%s pending entries without a consumer", strconv.Itoa(len(pending)-g.Len())))
	}
}
