package record

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/internal/shrink"
	"github.com/lockredis/lockredis/store"
)

// parts are the parts of all keys.
//
// A lock that is released is often acquired again. So the part of a key that is gone stays for a while,
// empty. The parts of the keys that have gone last are listed in gone. A part that is pushed out of
// there, and is still empty, serves another key.
type parts struct {
	dbs   []database // by number
	last  keyPart    // that was found last: most changes are of the key of the change before
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

const (
	// mostGone is how many empty parts are kept.
	mostGone = 64
	// longestGone is the length of the longest key that is kept with an empty part, in bytes.
	longestGone = 128
)

// empty reports whether nothing is known of the key.
func (p *part) empty() bool { return !p.byScript && p.fresh == nil }

// add returns the part of the key that has changed, a new one if there is none.
func (s *parts) add(ch *command.Change) *part {
	ch.Entry.Mark()
	return s.make(ch.DB, ch.Key)
}

// find returns the part of a key, nil if there is none. It may be empty.
func (s *parts) find(db int, key string) *part {
	if l := &s.last; l.key == key && l.db == db && l.part != nil {
		return l.part
	}
	return s.search(db, key)
}

func (s *parts) search(db int, key string) *part {
	if db >= len(s.dbs) {
		return nil
	}
	p := s.dbs[db].parts[key]
	if p != nil {
		s.last = keyPart{db, key, p}
	}
	return p
}

// make is find, with a new part if there is none.
func (s *parts) make(db int, key string) *part {
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
	s.last = keyPart{db, key, p}
	return p
}

// drop empties the part of a key that is gone.
func (s *parts) drop(db int, key string) {
	p := s.find(db, key)
	if p == nil {
		return
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
		s.last = keyPart{}
	}
}

// move makes the part of a key the part of the entry to. That has no part, or an empty one.
func (s *parts) move(db int, key string, toDB int, to *store.Entry) {
	from := s.find(db, key)
	if from == nil {
		return
	}
	to.Mark()
	p := s.make(toDB, to.Key())
	*p, *from = *from, *p
	p.listed, from.listed = from.listed, p.listed
	s.drop(db, key)
}

// flush forgets the keys of a database.
func (s *parts) flush(db int) {
	if db < len(s.dbs) {
		s.forgetGone()
		s.dbs[db] = database{}
		s.last = keyPart{}
	}
}

// swap exchanges two databases.
func (s *parts) swap(a, b int) {
	s.forgetGone()
	for max(a, b) >= len(s.dbs) {
		s.dbs = append(s.dbs, database{})
	}
	s.dbs[a], s.dbs[b] = s.dbs[b], s.dbs[a]
	s.last = keyPart{}
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
