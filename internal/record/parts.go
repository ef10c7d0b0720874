package record

import (
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/internal/shrink"
	"github.com/lockredis/lockredis/store"
)

// parts are the parts of all keys.
//
// A lock that is released is often acquired again. So the part of a key that is gone stays for a
// while, empty. A list, gone, has the keys that went last. A part that leaves the list and is still
// empty serves another key.
type parts struct {
	dbs   []database // by number
	last  found
	gone  [mostGone]keyPart
	next  int   // the index in gone that is used next
	spare *part // nil, or an empty part of no key
}

type database struct {
	parts map[string]*part
	peak  int // see shrink.Delete
}

// keyPart is a key with its part.
type keyPart struct {
	db   int
	key  string
	part *part // nil: there is no such key
}

// found is what was found last. Most changes are of the key of the change before, and a lock that is
// released is often the next one.
type found struct {
	keyPart
	entry *store.Entry // nil: it is not known, or gone
}

const (
	// mostGone is how many empty parts are kept.
	mostGone = 64
	// longestGone is the length of the longest key that is kept with an empty part, in bytes.
	longestGone = 128
)

// empty reports whether nothing is known of the key.
func (p *part) empty() bool { return !p.byScript && p.fresh == nil }

// of returns the part of an entry of a database, nil if there is none.
func (s *parts) of(db int, e *store.Entry) *part {
	if s.last.entry == e {
		return s.last.part
	}
	return s.search(db, e)
}

func (s *parts) search(db int, e *store.Entry) *part {
	if !e.Marked() {
		return nil
	}
	p := s.find(db, e.Key())
	if p != nil {
		s.last.entry = e
	}
	return p
}

// add is of, with a new part if there is none.
func (s *parts) add(db int, e *store.Entry) *part {
	e.Mark()
	p := s.open(db, e.Key())
	s.last.entry = e
	return p
}

// find returns the part of a key, nil if there is none. It may be empty.
func (s *parts) find(db int, key string) *part {
	if l := &s.last; l.part != nil && l.db == db && l.key == key {
		return l.part
	}
	if db >= len(s.dbs) {
		return nil
	}
	p := s.dbs[db].parts[key]
	if p != nil {
		s.last = found{keyPart: keyPart{db, key, p}}
	}
	return p
}

// open is find, with a new part if there is none.
func (s *parts) open(db int, key string) *part {
	if p := s.find(db, key); p != nil {
		return p
	}
	for db >= len(s.dbs) {
		s.dbs = append(s.dbs, database{})
	}
	d := &s.dbs[db]
	if d.parts == nil {
		d.parts = map[string]*part{}
	}
	p := s.spare
	if s.spare = nil; p == nil {
		p = &part{}
	}
	d.parts[key] = p
	s.last = found{keyPart: keyPart{db, key, p}}
	return p
}

// drop empties the part of a key that is gone.
func (s *parts) drop(db int, key string, p *part) {
	if p == nil {
		return
	}
	if s.last.part == p {
		s.last.entry = nil
	}
	p.byScript, p.unnoted, p.by, p.as = false, false, inspect.Origin{}, ""
	p.hints, p.fresh = inspect.Hints{}, nil
	p.entries.Reset()
	switch {
	case p.listed:
	case len(key) > longestGone:
		s.delete(keyPart{db, key, p})
	default:
		s.push(keyPart{db, key, p})
	}
}

// push lists an empty part in gone.
func (s *parts) push(k keyPart) {
	at := &s.gone[s.next]
	s.next = (s.next + 1) % mostGone
	before := *at
	*at, k.part.listed = k, true
	if before.part != nil {
		s.leave(before)
	}
}

// leave deletes a part that is no longer listed, if it is still empty.
func (s *parts) leave(k keyPart) {
	k.part.listed = false
	if k.part.empty() {
		s.delete(k)
	}
}

// delete deletes an empty part.
func (s *parts) delete(k keyPart) {
	d := &s.dbs[k.db]
	if d.parts[k.key] != k.part {
		return
	}
	shrink.Delete(&d.parts, k.key, &d.peak)
	s.spare = k.part
	if s.last.part == k.part {
		s.last = found{}
	}
}

// move makes the part of an entry the part of another one. That has none, or an empty one.
func (s *parts) move(db int, e *store.Entry, toDB int, to *store.Entry) {
	from := s.of(db, e)
	if from == nil {
		return
	}
	p := s.add(toDB, to)
	*p, *from = *from, *p
	p.listed, from.listed = from.listed, p.listed
	s.drop(db, e.Key(), from)
}

// flush forgets the keys of a database.
func (s *parts) flush(db int) {
	if db < len(s.dbs) {
		s.forgetGone()
		s.dbs[db] = database{}
		s.last = found{}
	}
}

// swap exchanges two databases.
func (s *parts) swap(a, b int) {
	s.forgetGone()
	for max(a, b) >= len(s.dbs) {
		s.dbs = append(s.dbs, database{})
	}
	s.dbs[a], s.dbs[b] = s.dbs[b], s.dbs[a]
	s.last = found{}
}

// forgetGone deletes the empty parts.
func (s *parts) forgetGone() {
	for i, k := range s.gone {
		if k.part != nil {
			s.leave(k)
			s.gone[i] = keyPart{}
		}
	}
}

// each visits the parts of the keys that something is known of.
func (s *parts) each(do func(keyPart)) {
	for db := range s.dbs {
		for key, p := range s.dbs[db].parts {
			if !p.empty() {
				do(keyPart{db, key, p})
			}
		}
	}
}
