package tracking

import (
	"maps"
	"slices"

	"github.com/lockredis/lockredis/internal/heapsize"
	"github.com/lockredis/lockredis/internal/shrink"
)

// Prefixes has the prefixes that clients asked for, and the keys under them that have
// changed since the last Drain. The zero Prefixes is empty.
type Prefixes struct {
	byName  map[string]*prefix
	peak    int       // of byName, see shrink.Delete
	lengths []length  // of the prefixes, in ascending order
	changed []*prefix // the prefixes that have keys
	names   int64     // estimated memory of the prefixes without their ids
	ids     int       // of all prefixes
}

// prefix is one prefix with its clients' ids in ascending order.
type prefix struct {
	name string
	ids  []int64
	keys map[string]int64 // changed, with the client that changed it last, or 0
}

// length is how many prefixes have that number of bytes.
type length struct{ bytes, count int }

// Len returns the number of prefixes.
func (p *Prefixes) Len() int { return len(p.byName) }

// Bytes estimates the memory of the prefixes, with the lists of the clients that asked for them.
func (p *Prefixes) Bytes() int64 {
	const id = 36 // its number, and the name in the client's list
	return p.names + id*int64(p.ids)
}

// prefixBytes estimates the memory of a prefix. Its map of keys is empty most of the time.
func prefixBytes(name string) int64 {
	const emptyMap = 48
	return int64(heapsize.Text(len(name)) + heapsize.MapEntry[string, *prefix]() +
		heapsize.Pointers[prefix](1) + emptyMap)
}

// Add adds a client to the prefix. It does nothing if the client is there already.
func (p *Prefixes) Add(name string, id int64) {
	one := p.byName[name]
	if one == nil {
		if p.byName == nil {
			p.byName = map[string]*prefix{}
		}
		one = &prefix{name: name, keys: map[string]int64{}}
		p.byName[name] = one
		p.countLength(len(name), 1)
		p.names += prefixBytes(name)
	}
	if at, found := slices.BinarySearch(one.ids, id); !found {
		one.ids = slices.Insert(one.ids, at, id)
		p.ids++
	}
}

// Remove removes a client from the prefix. A prefix without clients is forgotten, with the
// keys that have changed.
func (p *Prefixes) Remove(name string, id int64) {
	one := p.byName[name]
	if one == nil {
		return
	}
	if at, found := slices.BinarySearch(one.ids, id); found {
		one.ids = slices.Delete(one.ids, at, at+1)
		p.ids--
	}
	if len(one.ids) == 0 {
		shrink.Delete(&p.byName, name, &p.peak)
		p.countLength(len(name), -1)
		p.names -= prefixBytes(name)
		p.changed = slices.DeleteFunc(p.changed, func(other *prefix) bool { return other == one })
	}
}

// countLength adds n to the number of prefixes with that many bytes.
func (p *Prefixes) countLength(bytes, n int) {
	i, found := slices.BinarySearchFunc(p.lengths, bytes, func(l length, b int) int { return l.bytes - b })
	if !found {
		p.lengths = slices.Insert(p.lengths, i, length{bytes: bytes})
	}
	if p.lengths[i].count += n; p.lengths[i].count == 0 {
		p.lengths = slices.Delete(p.lengths, i, i+1)
	}
}

// Changed notes under every prefix of key that client by has changed it. by is 0 if no
// client did. The last call for a key counts.
func (p *Prefixes) Changed(key string, by int64) {
	for _, l := range p.lengths {
		if l.bytes > len(key) {
			return
		}
		if one := p.byName[key[:l.bytes]]; one != nil {
			if len(one.keys) == 0 {
				p.changed = append(p.changed, one)
			}
			one.keys[key] = by
		}
	}
}

// Dirty reports whether Drain has something to deliver.
func (p *Prefixes) Dirty() bool { return len(p.changed) > 0 }

// Batch has the keys that have changed under one prefix.
type Batch struct {
	IDs  []int64  // the clients that asked for the prefix
	Keys []string // in ascending order

	by map[string]int64
}

// Without returns the keys that the client has not changed. It returns Keys itself if these
// are all.
func (b *Batch) Without(id int64) []string {
	for i, key := range b.Keys {
		if b.by[key] != id {
			continue
		}
		rest := slices.Clone(b.Keys[:i])
		for _, key := range b.Keys[i+1:] {
			if b.by[key] != id {
				rest = append(rest, key)
			}
		}
		return rest
	}
	return b.Keys
}

// Drain passes the changes to deliver, prefix by prefix in ascending order, and forgets
// them. deliver must not call a method of p.
func (p *Prefixes) Drain(deliver func(*Batch)) {
	slices.SortFunc(p.changed, func(a, b *prefix) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	for _, one := range p.changed {
		deliver(&Batch{IDs: one.ids, Keys: slices.Sorted(maps.Keys(one.keys)), by: one.keys})
		one.keys = map[string]int64{}
	}
	clear(p.changed)
	p.changed = p.changed[:0]
}
