package store

import (
	"fmt"

	"github.com/lockredis/lockredis/expiry"
)

// A replica keeps the keys whose deadlines are over until its primary deletes them. The primary does
// not know the deadlines that clients of a writable replica set. While Space.OwnDeadlines is set, an
// index has them, and ExpireDue deletes their keys also with KeepExpired. A deadline that the primary
// sets or removes takes the key out of the index.

// ownDeadlines is the index of those deadlines. The zero value is empty.
type ownDeadlines struct {
	due  expiry.Index[*ownDeadline]
	keys map[*Entry]*ownDeadline
}

// ownDeadline is the deadline of one key.
type ownDeadline struct {
	db       *DB
	entry    *Entry
	deadline expiry.Item
}

// DeadlineItem returns the item in ownDeadlines.due (expiry.Holder).
func (o *ownDeadline) DeadlineItem() *expiry.Item { return &o.deadline }

// own follows a new deadline of e: of a client of this server, or of its primary.
func (db *DB) own(e *Entry, at int64) {
	s := db.space
	if s.nothingIsDue() {
		s.owned.remove(e)
		return
	}
	o := s.owned.keys[e]
	if o == nil {
		o = &ownDeadline{db: db, entry: e}
		if s.owned.keys == nil {
			s.owned.keys = map[*Entry]*ownDeadline{}
		}
		s.owned.keys[e] = o
	}
	s.owned.due.Add(o, at)
	s.observer.Sooner()
}

// removeDeadline removes the deadline of e, and reports whether there was one.
func (db *DB) removeDeadline(e *Entry) bool {
	db.space.owned.remove(e)
	return db.deadlines.Remove(e)
}

func (owned *ownDeadlines) remove(e *Entry) {
	if o := owned.keys[e]; o != nil {
		owned.due.Remove(o)
		delete(owned.keys, e)
	}
}

// flushed forgets the keys of a database.
func (owned *ownDeadlines) flushed(db *DB) {
	for e, o := range owned.keys {
		if o.db == db {
			owned.remove(e)
		}
	}
}

// expireOwn deletes at most max keys whose own deadline is due, and returns how many.
func (s *Space) expireOwn(max int) int {
	return s.owned.due.PopDue(s.Due, max, func(o *ownDeadline) {
		delete(s.owned.keys, o.entry)
		o.db.expire(o.entry)
	})
}

// EarliestOwn returns the earliest of those deadlines; 0: there is none.
func (s *Space) EarliestOwn() int64 {
	at, _ := s.owned.due.Next()
	return at
}

// ForgetOwn empties the index: the keys end with all others, or not at all.
func (s *Space) ForgetOwn() {
	if len(s.owned.keys) > 0 {
		s.owned = ownDeadlines{}
	}
}

// check returns an error when the index has a key without that deadline. It is for tests.
func (owned *ownDeadlines) check() error {
	for e, o := range owned.keys {
		if at := o.db.Deadline(e); at == 0 || at != owned.due.Deadline(o) || o.db.Stored([]byte(e.Key())) != e {
			return fmt.Errorf("key %q: the own deadline is %d, the deadline %d", e.Key(), owned.due.Deadline(o), at)
		}
	}
	if n := owned.due.Len(); n != len(owned.keys) {
		return fmt.Errorf("%d keys have a deadline of their own, the index has %d", len(owned.keys), n)
	}
	return owned.due.Check()
}
