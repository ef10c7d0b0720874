package store

import "hash/maphash"

// keyTable is the set of a database's entries: found by key, and in a dense
// slice that gives RANDOMKEY its pick and SCAN its cursor.
//
// It stands where a map[string]*Entry could, which holds a key's string beside
// the entry: a lock, with its key and deadline, takes 24 bytes of heap more with
// the map at 100,000 locks and 46 at a million. A look-up that hits takes as long as the map's
// or a tenth longer, one that misses up to 12 ns longer; adding and removing a
// key takes a tenth to a third less.
//
// The table is in parts, each a small one of its own: open-addressed, with the
// hashes beside the entries, so that probing and splitting touch no entry but
// the one sought. A part that is three quarters full splits in two by the next
// leading bit of the hashes, and two that are nearly empty become one again, so
// that no single addition or removal has more than a few hundred slots to
// move. A removal closes its gap: no tombstones pile up under locks that come
// and go. Hashes are seeded: nobody can choose keys that collide.
type keyTable struct {
	seed    maphash.Seed
	parts   []*part // by leading bits of the hash; often several to one part
	shift   uint8   // 32 less the bits that parts goes by
	entries []*Entry
}

// part holds the keys that share the leading bits of their hash.
type part struct {
	hashes  [partSlots]uint32 // 0: a free slot
	entries [partSlots]*Entry
	used    uint32
	depth   uint8 // how many bits they share
}

const partSlots = 256

func newKeyTable() keyTable {
	return keyTable{seed: maphash.MakeSeed(), parts: []*part{{}}, shift: 32}
}

// hash returns the key's hash, which is not 0.
func (t *keyTable) hash(key []byte) uint32 { return max(1, uint32(maphash.Bytes(t.seed, key))) }

// find returns the entry with this key, whose hash is given, or nil.
func (t *keyTable) find(hash uint32, key []byte) *Entry {
	p := t.parts[hash>>t.shift]
	for i := hash % partSlots; ; i = (i + 1) % partSlots {
		switch p.hashes[i] {
		case hash:
			if e := p.entries[i]; e.Key() == string(key) {
				return e
			}
		case 0:
			return nil
		}
	}
}

// add puts in an entry whose key, with the hash given, is not there yet.
func (t *keyTable) add(hash uint32, e *Entry) {
	for t.parts[hash>>t.shift].used >= partSlots/4*3 {
		t.split(hash)
	}
	t.parts[hash>>t.shift].occupy(hash, e)
	e.place = uint32(len(t.entries))
	t.entries = append(t.entries, e)
}

// remove takes out an entry that is there. The last entry moves to its place.
func (t *keyTable) remove(e *Entry) {
	hash := t.hash(bytesOf(e.Key()))
	p := t.parts[hash>>t.shift]
	p.vacate(p.slotOf(hash, e))
	for t.merge(hash) {
	}
	last := len(t.entries) - 1
	moved := t.entries[last]
	t.entries[e.place], moved.place = moved, e.place
	t.entries[last] = nil
	t.entries = shrink(t.entries[:last])
}

// split replaces the part of this hash by two.
func (t *keyTable) split(hash uint32) {
	p := t.parts[hash>>t.shift]
	if p.depth == 32-t.shift {
		wider := make([]*part, 0, 2*len(t.parts))
		for _, p := range t.parts {
			wider = append(wider, p, p)
		}
		t.parts = wider
		t.shift--
	}
	halves := [2]*part{{depth: p.depth + 1}, {depth: p.depth + 1}}
	for i, h := range p.hashes {
		if h != 0 {
			halves[h>>(31-p.depth)&1].occupy(h, p.entries[i])
		}
	}
	places := t.placesOf(hash, p.depth)
	for i := range places {
		places[i] = halves[2*i/len(places)]
	}
}

// merge makes one part of that of this hash and its other half, if they fill a
// quarter of one at most, and reports whether it did.
func (t *keyTable) merge(hash uint32) bool {
	p := t.parts[hash>>t.shift]
	if p.depth == 0 {
		return false
	}
	other := t.parts[(hash^1<<(32-p.depth))>>t.shift]
	if other.depth != p.depth || p.used+other.used > partSlots/4 {
		return false
	}
	for i, h := range other.hashes {
		if h != 0 {
			p.occupy(h, other.entries[i])
		}
	}
	p.depth--
	places := t.placesOf(hash, p.depth)
	for i := range places {
		places[i] = p
	}
	return true
}

// placesOf returns the places in parts that go by the first depth bits of hash.
func (t *keyTable) placesOf(hash uint32, depth uint8) []*part {
	n := uint32(1) << (32 - t.shift - depth)
	from := hash >> t.shift &^ (n - 1)
	return t.parts[from : from+n]
}

// slotOf returns the slot of an entry that is there.
func (p *part) slotOf(hash uint32, e *Entry) uint32 {
	i := hash % partSlots
	for p.entries[i] != e {
		if p.hashes[i] == 0 {
			panic("store: an entry was removed twice")
		}
		i = (i + 1) % partSlots
	}
	return i
}

// occupy puts e into the first free slot from its hash on.
func (p *part) occupy(hash uint32, e *Entry) {
	i := hash % partSlots
	for p.hashes[i] != 0 {
		i = (i + 1) % partSlots
	}
	p.hashes[i], p.entries[i] = hash, e
	p.used++
}

// vacate frees slot i and moves back what probing would miss behind the gap.
func (p *part) vacate(i uint32) {
	for j := (i + 1) % partSlots; p.hashes[j] != 0; j = (j + 1) % partSlots {
		if home := p.hashes[j]; (j-home)%partSlots >= (j-i)%partSlots {
			p.hashes[i], p.entries[i] = p.hashes[j], p.entries[j]
			i = j
		}
	}
	p.hashes[i], p.entries[i] = 0, nil
	p.used--
}
