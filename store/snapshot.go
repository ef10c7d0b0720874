package store

import (
	"math"

	"github.com/lockredis/lockredis/expiry"
)

// Snapshot visits every key of a Space as it was when the snapshot began, while commands
// change the Space. It is how a save gets a consistent copy without a copy of the data.
//
// Next visits the keys in the order of their hashes, a few at each call. A key that is
// about to change is visited before it changes, unless it was visited already. A key that
// is added later is not visited. So each key is visited exactly once.
//
// The price is a comparison for each look-up that may write, while no snapshot is under
// way. While one is, it is the names of the keys that change before Next reaches them.
//
// A command that changes a value in place must get its entry from LookupWrite: that is
// where the value is visited. Space.Check reports a value that was changed otherwise.
type Snapshot struct {
	space *Space
	parts []*snapshotPart // one for each database, by number
	visit func(db SnapshotDB, e *Entry)
}

// SnapshotDB is a database as it was when a snapshot began.
type SnapshotDB struct {
	ID            int
	Keys, Expires int // Expires: keys with a deadline

	deadlines *expiry.Index[*Entry] // of the keys
}

// Deadline returns the deadline of a key that the snapshot visits, in Unix milliseconds, 0
// if there is none.
func (db SnapshotDB) Deadline(e *Entry) int64 { return db.deadlines.Deadline(e) }

// snapshotPart is a snapshot of one database.
type snapshotPart struct {
	SnapshotDB
	of     *Snapshot
	db     *DB                 // nil after a flush: table has the keys, and nothing changes them
	table  *hashIndex[*Entry]  // nil when all keys are visited
	cursor uint64              // keys with a smaller hash are visited
	passed map[string]struct{} // keys with a larger hash that Next must not visit
	next   *snapshotPart       // of an earlier snapshot of the database; nil: none
}

// Snapshot begins a snapshot. visit is called for each key. It must not change the Space,
// and must not keep the value. Any number of snapshots may be under way.
func (s *Space) Snapshot(visit func(db SnapshotDB, e *Entry)) *Snapshot {
	snap := &Snapshot{space: s, visit: visit}
	for _, db := range s.Opened() {
		if db.Len() == 0 {
			// Keys that are added later do not belong to the snapshot.
			continue
		}
		part := &snapshotPart{
			SnapshotDB: SnapshotDB{db.id, db.Len(), db.Expires(), &db.deadlines},
			of:         snap, db: db, table: &db.keys.index, passed: map[string]struct{}{},
			next: db.snapshot,
		}
		db.snapshot, db.watched = part, true
		snap.parts = append(snap.parts, part)
	}
	return snap
}

// Next visits about count keys. It returns false when all keys are visited.
func (s *Snapshot) Next(count int) (more bool) {
	if len(s.parts) == 0 {
		return false
	}
	part := s.parts[0]
	part.cursor = part.table.scan(part.cursor, count, func(e *Entry) {
		if _, passed := part.passed[e.Key()]; !passed {
			s.visit(part.SnapshotDB, e)
		}
	})
	if part.cursor == 0 {
		part.end()
		s.parts = s.parts[1:]
	}
	return len(s.parts) > 0
}

// End ends the snapshot before all keys are visited.
func (s *Snapshot) End() {
	for _, part := range s.parts {
		part.end()
	}
	s.parts = nil
}

func (p *snapshotPart) end() {
	if db := p.db; db != nil {
		at := &db.snapshot
		for *at != p {
			at = &(*at).next
		}
		*at = p.next
		db.watched = db.snapshot != nil || db.space.footprint.on
	}
	p.table, p.passed, p.deadlines = nil, nil, nil
}

// ahead reports whether Next has still to come to the key of e.
func (p *snapshotPart) ahead(e *Entry) bool {
	if uint64(keyHash(bytesOf(e.Key()))) < p.cursor || p.cursor > math.MaxUint32 {
		return false
	}
	_, passed := p.passed[e.Key()]
	return !passed
}

// changing visits e unless it was visited: its value or deadline is about to change. Like the methods
// below, it does the same for the earlier snapshots of the database.
func (p *snapshotPart) changing(e *Entry) {
	for ; p != nil; p = p.next {
		if p.ahead(e) {
			p.passed[e.Key()] = struct{}{}
			p.of.visit(p.SnapshotDB, e)
		}
	}
}

// adding makes Next skip e, which is a new key.
func (p *snapshotPart) adding(e *Entry) {
	for ; p != nil; p = p.next {
		if p.ahead(e) {
			p.passed[e.Key()] = struct{}{}
		}
	}
}

// changed notes that e was changed without a call of changing: a bug.
func (p *snapshotPart) changed(e *Entry) {
	for ; p != nil; p = p.next {
		if p.ahead(e) {
			p.of.space.unseen = e.Key()
		}
	}
}

// flushing keeps the keys of a database that is about to get an empty table.
func (p *snapshotPart) flushing(db *DB) {
	if p == nil {
		return
	}
	index, deadlines := db.keys.index, db.deadlines
	for ; p != nil; p = p.next {
		p.db, p.table, p.deadlines = nil, &index, &deadlines
	}
	db.snapshot, db.watched = nil, db.space.footprint.on
}
