package store

import (
	"errors"
	"fmt"
)

// Check returns an error when the databases are inconsistent: a key that its index
// does not find, a deadline without a key, a value with indexes that disagree. It
// visits every key, expired keys too, changes nothing and is for tests.
func (s *Space) Check() error {
	if s.unseen != "" {
		return fmt.Errorf("key %q was changed without LookupWrite during a snapshot", s.unseen)
	}
	for _, db := range s.Opened() {
		if err := db.check(); err != nil {
			return fmt.Errorf("database %d: %w", db.id, err)
		}
		if at, ok := db.deadlines.Next(); ok && (s.earliest == 0 || at < s.earliest) {
			return fmt.Errorf("database %d: deadline %d is before Earliest, %d", db.id, at, s.earliest)
		}
	}
	return s.owned.check()
}

func (db *DB) check() error {
	if err := db.keys.check(); err != nil {
		return err
	}
	if err := db.deadlines.Check(); err != nil {
		return err
	}
	if err := db.checkBytes(); err != nil {
		return err
	}
	if err := db.slots.check(&db.keys); err != nil {
		return err
	}
	deadlines := 0
	for e := range db.keys.index.all() {
		if e.HasDeadline() {
			deadlines++
		}
		if err := db.checkFields(e); err != nil {
			return fmt.Errorf("key %q: %w", e.Key(), err)
		}
		if err := checkValue(e.Value()); err != nil {
			return fmt.Errorf("key %q: %w", e.Key(), err)
		}
	}
	if deadlines != db.deadlines.Len() {
		return fmt.Errorf("%d keys have a deadline, the index of deadlines has %d",
			deadlines, db.deadlines.Len())
	}
	return db.fields.Check()
}

// checkFields returns an error unless e has field deadlines for its own fields only,
// and the timer cannot miss them.
func (db *DB) checkFields(e *Entry) error {
	h := hashIn(e)
	if h == nil || h.times() == nil {
		return nil
	}
	times := h.times()
	if times.entry != e || times.db != db || len(times.fields) != times.due.Len() {
		return fmt.Errorf("%d field deadlines, %d in the index, or of another key",
			len(times.fields), times.due.Len())
	}
	for field := range times.fields {
		if !h.Has(bytesOf(field)) {
			return fmt.Errorf("deadline of field %q, which does not exist", field)
		}
	}
	at, ok := times.due.Next()
	if ok && (!times.bound.Set() || db.fields.Deadline(times) > at || db.space.earliest > at) {
		return fmt.Errorf("the first field is due at %d, the bounds are %d and %d",
			at, db.fields.Deadline(times), db.space.earliest)
	}
	return times.due.Check()
}

// checkBytes returns an error unless bytes is the sum over the settled keys.
func (db *DB) checkBytes() error {
	bytes := int64(0)
	for e := range db.keys.index.all() {
		if db.space.footprint.on && db.counts(e) && !e.unsettled() {
			bytes += e.Bytes(sizeSamples)
		}
	}
	if bytes != db.bytes {
		return fmt.Errorf("the settled keys have %d bytes, the database counts %d", bytes, db.bytes)
	}
	return nil
}

// check returns an error unless the index has exactly these entries, each in its slot.
func (x *slotIndex) check(keys *keyTable) error {
	if x == nil {
		return nil
	}
	listed := 0
	for slot := range x.slots {
		list, n := &x.slots[slot], 0
		var newer *slotNode
		for node := list.first; node != nil; newer, node = node, node.earlier {
			if x.of(node.entry) != list || x.nodes[node.entry] != node || node.newer != newer {
				return fmt.Errorf("store: key %q is wrong in the list of slot %d", node.entry.Key(), slot)
			}
			n++
		}
		if n != list.n {
			return fmt.Errorf("store: slot %d has %d keys and counts %d", slot, n, list.n)
		}
		listed += n
	}
	for e := range keys.index.all() {
		if x.nodes[e] == nil {
			return fmt.Errorf("store: key %q is in no slot", e.Key())
		}
	}
	if listed != keys.n || len(x.nodes) != listed {
		return fmt.Errorf("store: %d keys have a slot, %d are indexed, the database has %d",
			listed, len(x.nodes), keys.n)
	}
	return nil
}

// check returns an error unless the index finds every entry by its key, and nothing
// else.
func (t *keyTable) check() error {
	hash := func(e *Entry) uint32 {
		if e == nil {
			return 0
		}
		return keyHash(bytesOf(e.Key()))
	}
	if err := t.index.check(t.n, hash); err != nil {
		return err
	}
	for e := range t.index.all() {
		key := bytesOf(e.Key())
		if t.find(keyHash(key), key) != e {
			return fmt.Errorf("store: key %q is not found", e.Key())
		}
	}
	return nil
}

// check returns an error unless the index has n items, each in the part for its
// hash, and every part is in the right elements of parts. hash returns the hash of
// an item, which is never 0.
func (x *hashIndex[T]) check(n int, hash func(T) uint32) error {
	used, parts := 0, 0
	for i := 0; i < len(x.parts); parts++ {
		p := x.parts[i]
		if int(p.pos) >= len(x.dense) || x.dense[p.pos] != p {
			return fmt.Errorf("store: a part has the wrong position %d", p.pos)
		}
		from := uint32(i) << x.shift
		same := x.partsOf(from, p.depth)
		found := 0
		for slot, h := range p.hashes {
			if h == 0 {
				continue
			}
			if x.part(h) != p || hash(p.items[slot]) != h {
				return fmt.Errorf("store: hash %#x is in a wrong part or has a wrong item", h)
			}
			found++
		}
		if found != int(p.used) {
			return fmt.Errorf("store: a part has %d items and counts %d", found, p.used)
		}
		for j := range same {
			if x.parts[i+j] != p {
				return fmt.Errorf("store: a part of depth %d is not at %d of %d",
					p.depth, i+j, len(x.parts))
			}
		}
		used += found
		i += len(same)
	}
	if used != n || parts != len(x.dense) {
		return fmt.Errorf("store: the index has %d items of %d, %d parts of %d",
			used, n, parts, len(x.dense))
	}
	return nil
}

func checkValue(v Value) error {
	switch v := v.(type) {
	case *Hash:
		return v.check()
	case *ZSet:
		return v.check()
	case *Set:
		return v.check()
	case *List:
		return v.check()
	case *Stream:
		return v.check()
	}
	return nil
}

var errEmpty = errors.New("store: the value is empty")

func (h *Hash) check() error {
	if h.Len() == 0 {
		return errEmpty
	}
	if t := h.table(); t != nil {
		return t.check()
	}
	return h.packed().check()
}

func (s *Set) check() error {
	if s.Len() == 0 {
		return errEmpty
	}
	if s.table == nil {
		for i := 1; i < len(s.ints); i++ {
			if s.ints[i-1] >= s.ints[i] {
				return fmt.Errorf("store: integer %d comes after %d", s.ints[i], s.ints[i-1])
			}
		}
		return nil
	}
	return s.table.check()
}

func (z *ZSet) check() (err error) {
	if z.Len() == 0 {
		return errEmpty
	}
	if z.table == nil {
		if err := z.packed.check(); err != nil {
			return err
		}
	} else if err := z.table.check(); err != nil {
		return err
	}
	var last ZItem
	n := 0
	z.Each(func(item ZItem) bool {
		if n > 0 && !last.before(item) {
			err = fmt.Errorf("store: member %q comes after %q", item.Member, last.Member)
		}
		if score, ok := z.Score(item.Bytes()); !ok || score != item.Score {
			err = fmt.Errorf("store: member %q has two scores", item.Member)
		}
		last = item
		n++
		return err == nil
	})
	if err == nil && n != z.Len() {
		err = fmt.Errorf("store: %d members in order, %d in all", n, z.Len())
	}
	return err
}

func (t *zsetTable) check() error {
	if n := len(t.scores.elems); t.order.n != n || t.order.root.size() != n {
		return errors.New("store: the order and the scores of a sorted set have different sizes")
	}
	if leaves := t.order.root.leafCount(); leaves != t.order.leaves {
		return fmt.Errorf("store: a sorted set has %d leaves and counts %d", leaves, t.order.leaves)
	}
	return t.scores.check()
}

// check returns an error unless find finds every element by its key, and the index,
// if there is one, has nothing else.
func (d *dict[V]) check() error {
	if len(d.hashes) != len(d.elems) || d.index == nil && len(d.elems) > dictFew {
		return fmt.Errorf("store: %d elements have %d hashes, index: %v",
			len(d.elems), len(d.hashes), d.index != nil)
	}
	for i := range d.elems {
		key := bytesOf(d.elems[i].key)
		if d.find(key) != i || d.hashes[i] != keyHash(key) {
			return fmt.Errorf("store: element %q is not found at position %d", key, i)
		}
	}
	if d.index == nil {
		return nil
	}
	return d.index.check(len(d.elems), func(i uint32) uint32 { return d.hashes[i] })
}

func (l *List) check() error {
	if l.n == 0 {
		return errEmpty
	}
	n := 0
	for _, node := range l.nodes() {
		if node.n == 0 || int(node.n) != node.Len() {
			return fmt.Errorf("store: a list node has %d elements and counts %d", node.Len(), node.n)
		}
		if err := node.check(); err != nil {
			return err
		}
		if size := node.listpackSize(); !node.plain() && int(node.size) != size {
			return fmt.Errorf("store: a list node of %d bytes records %d", size, node.size)
		}
		if node.plain() && node.n != 1 {
			return fmt.Errorf("store: a plain list node has %d elements", node.n)
		}
		n += int(node.n)
	}
	if n != l.n {
		return fmt.Errorf("store: a list has %d elements and counts %d", n, l.n)
	}
	return nil
}

// check returns an error unless forward and backward walks visit as many elements
// as the header counts.
func (p Packed) check() error {
	forward, back := 0, 0
	for pos := p.First(); pos >= 0; pos = p.Next(pos) {
		forward++
	}
	for pos := p.Last(); pos >= 0; pos = p.Prev(pos) {
		back++
	}
	if forward != p.Len() || back != forward {
		return fmt.Errorf("store: %d elements forward, %d backward, %d counted",
			forward, back, p.Len())
	}
	return nil
}
