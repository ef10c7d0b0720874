package store

import (
	"math/rand/v2"

	"github.com/lockredis/lockredis/expiry"
)

// DB is one database.
type DB struct {
	id        int
	space     *Space
	keys      keyTable
	deadlines expiry.Index[*Entry]
	fields    expiry.Index[*fieldTimes] // hashes with field deadlines
	slots     *slotIndex                // nil unless Space.IndexSlots was called
	snapshot  *snapshotPart             // of the last Snapshot that has still to visit keys; nil: none
	bytes     int64                     // the sum of settled sizes, see footprint
	counted   uint64                    // keys with a smaller hash are counted, see CountMore
	watched   bool                      // there is a snapshot, or bytes are counted
}

func newDB(s *Space, id int) *DB {
	return &DB{id: id, space: s, keys: newKeyTable()}
}

// ID returns the database's number.
func (db *DB) ID() int { return db.id }

// Space returns the databases that this one belongs to.
func (db *DB) Space() *Space { return db.space }

// Len returns the number of keys. It counts expired keys that are not deleted yet.
func (db *DB) Len() int { return db.keys.n }

// Expires returns the number of keys that have a deadline.
func (db *DB) Expires() int { return db.deadlines.Len() }

// Lookup returns the entry for a command that reads it, nil if there is no live
// key. An expired key is deleted. The call counts as an access and in Stats.Hits or
// Stats.Misses.
func (db *DB) Lookup(key []byte) *Entry {
	e := db.Peek(key)
	if e == nil {
		db.Missed(key)
		return nil
	}
	db.space.Stats.Hits++
	db.access(e)
	return e
}

// Missed counts a miss: a command that reads found no live key. Lookup does so itself.
func (db *DB) Missed(key []byte) {
	db.space.Stats.Misses++
	if db.space.ReportMisses {
		db.space.observer.Missed(db.id, key)
	}
}

// LookupWrite returns the entry for a command that changes it, nil if there is no
// live key. The call counts as an access, but neither as a hit nor as a miss.
func (db *DB) LookupWrite(key []byte) *Entry {
	e := db.Peek(key)
	if e != nil {
		db.changing(e)
		db.access(e)
	}
	return e
}

// Peek returns the entry, nil if there is no live key. The call does not count as
// an access (TTL, TYPE, OBJECT).
func (db *DB) Peek(key []byte) *Entry {
	e := db.keys.find(keyHash(key), key)
	if e == nil || db.expireIfDue(e) || db.space.FieldDeadlines && db.expireFields(e) {
		return nil
	}
	return e
}

// Value returns the value of key, nil if there is none. It has no effect: an expired
// key is not deleted. live is false if the deadline is due.
func (db *DB) Value(key string) (v Value, live bool) {
	name := bytesOf(key)
	e := db.keys.find(keyHash(name), name)
	if e == nil {
		return nil, false
	}
	return e.Value(), !db.due(e)
}

// Set stores v under key. It replaces any value and removes the deadline.
func (db *DB) Set(key []byte, v Value) *Entry {
	e := db.SetKeepDeadline(key, v) // a snapshot has visited the old deadline, too
	db.removeDeadline(e)
	return e
}

// SetKeepDeadline stores v under key. It replaces any value and keeps the deadline.
// An expired key counts as missing: it becomes a new key without a deadline.
func (db *DB) SetKeepDeadline(key []byte, v Value) *Entry {
	e := db.keys.find(keyHash(key), key)
	if e == nil || db.expireIfDue(e) {
		return db.Add(key, v)
	}
	db.changing(e)
	if db.space.Lazyfree.ServerDel {
		db.space.CountDropped(e.Value())
	}
	if e.stream() {
		db.space.observer.Lost(db.id, e.Key())
	}
	db.assign(e, v)
	db.access(e)
	return e
}

// Add stores v under a key that a look-up has just not found. So it is Set without a look-up.
func (db *DB) Add(key []byte, v Value) *Entry {
	hash := keyHash(key)
	wasKept := false
	if db.space.KeepExpired { // the key may be there, expired: the new key replaces it
		if e := db.keys.find(hash, key); e != nil {
			db.RemoveLazily(e, false)
			wasKept = true
		}
	}
	e := newEntry(key, v)
	db.keys.add(hash, e)
	if db.watched {
		db.snapshot.adding(e)
		db.sizeAdded(e)
	}
	if db.slots != nil {
		db.slots.add(e)
	}
	if db.space.FieldDeadlines {
		db.adoptFields(e)
	}
	if wasKept {
		db.Renewed(e)
		return e
	}
	e.setAccessed(db.space.firstAccess())
	db.space.observer.Added(db.id, e.Key())
	return e
}

// SetValue replaces the value of an entry (a conversion, or a write in place). It
// keeps the deadline and reports nothing to the Observer.
func (db *DB) SetValue(e *Entry, v Value) {
	db.changing(e)
	db.assign(e, v)
}

// assign makes v the value of e.
func (db *DB) assign(e *Entry, v Value) {
	if !db.space.FieldDeadlines {
		e.setValue(v)
		return
	}
	if e.Value() != v {
		db.leaveFields(e)
	}
	e.setValue(v)
	db.adoptFields(e)
}

// Changing must be called before the value of e is changed in place, unless e is from
// LookupWrite: a snapshot may have to visit the value first.
func (db *DB) Changing(e *Entry) { db.changing(e) }

// Renewed reports e as a key that was added, though it took another key's place
// (RENAME, COPY). Set reports only keys that commands did not find.
func (db *DB) Renewed(e *Entry) {
	e.setAccessed(db.space.firstAccess())
	db.space.observer.Renewed(db.id, e.Key())
}

// Changed is called after e has changed. It notes for Check if Changing was not called before.
func (db *DB) Changed(e *Entry) {
	if db.snapshot != nil {
		db.snapshot.changed(e)
	}
}

// Delete removes the key and reports whether there was a live one.
func (db *DB) Delete(key []byte) bool {
	e := db.Peek(key)
	if e == nil {
		return false
	}
	db.Remove(e)
	return true
}

// Remove removes the entry and its deadline. The entry has no value afterwards.
func (db *DB) Remove(e *Entry) { db.RemoveLazily(e, db.space.Lazyfree.ServerDel) }

// RemoveLazily is Remove for a command that has its own rule of what is deleted lazily. The
// value of a key that is renamed is not deleted: lazily is false.
func (db *DB) RemoveLazily(e *Entry, lazily bool) {
	if lazily {
		db.space.CountLazyFreed(1, freeEffort(e.Value()))
	}
	if db.watched {
		db.snapshot.changing(e)
		db.sizeRemoved(e)
	}
	db.removeDeadline(e)
	if db.space.FieldDeadlines {
		db.leaveFields(e)
	}
	if db.slots != nil {
		db.slots.remove(e)
	}
	db.keys.remove(e)
	if e.stream() {
		db.space.observer.Lost(db.id, e.Key())
	}
	e.setValue(nil) // an observer may keep the key, which is a part of e
}

// SetDeadline gives the key the deadline at, in Unix milliseconds. If at is past,
// the next look-up deletes the key. A time before 1 counts as 1, because 0 means
// that there is no deadline.
func (db *DB) SetDeadline(e *Entry, at int64) {
	at = max(at, 1)
	db.changing(e)
	db.deadlines.Add(e, at)
	db.space.sooner(at)
	switch s := db.space; {
	case s.OwnDeadlines:
		db.own(e, at)
	case s.owned.keys != nil:
		s.owned.remove(e)
	}
}

// Deadline returns the deadline of a key of the database in Unix milliseconds, 0 if there
// is none.
func (db *DB) Deadline(e *Entry) int64 { return db.deadlines.Deadline(e) }

// Persist removes the deadline and reports whether there was one.
func (db *DB) Persist(e *Entry) bool {
	db.changing(e)
	return db.removeDeadline(e)
}

// Flush deletes all keys and returns how many there were. It replaces the table of
// keys, so that the time does not depend on their number.
func (db *DB) Flush() (deleted int) {
	if deleted = db.Len(); deleted == 0 {
		return 0
	}
	db.space.observer.Emptying(db)
	db.snapshot.flushing(db)
	db.space.settle()
	db.bytes = 0
	db.space.owned.flushed(db)
	db.keys, db.deadlines = newKeyTable(), expiry.Index[*Entry]{}
	db.fields = expiry.Index[*fieldTimes]{}
	if db.slots != nil {
		db.slots = newSlotIndex()
	}
	return deleted
}

// Random returns a random live entry, nil if there is none.
func (db *DB) Random(rnd *rand.Rand) *Entry {
	const maxTries = 100
	for tries := 0; db.keys.n > 0; tries++ {
		if e := db.keys.index.random(rnd); !db.expireIfDue(e) && !db.expireFields(e) {
			return e
		}
		if db.space.KeepExpired && tries == maxTries {
			return db.firstLive(rnd.IntN(len(db.keys.index.dense)))
		}
	}
	return nil
}

// firstLive returns the first live entry from part i of the index on. It ends even if
// every key is expired and kept.
func (db *DB) firstLive(i int) *Entry {
	for e := range db.keys.index.from(i) {
		if !db.due(e) {
			return e
		}
	}
	return nil
}

// Each calls do for every live entry until it returns false. do must not
// change the database.
func (db *DB) Each(do func(*Entry) bool) {
	for e := range db.keys.index.all() {
		if !db.due(e) && !do(e) {
			return
		}
	}
}

// EachStored is Each for all entries: also for expired keys that are not deleted yet.
func (db *DB) EachStored(do func(*Entry) bool) {
	for e := range db.keys.index.all() {
		if !do(e) {
			return
		}
	}
}

// Stored is Peek without an effect: it also returns an expired key that is not deleted
// yet.
func (db *DB) Stored(key []byte) *Entry { return db.keys.find(keyHash(key), key) }

// Scan visits about count entries from cursor on (0: a new scan) and returns the
// next cursor, 0 if the scan is complete. A key that exists at each call of a scan
// is visited, even if it is deleted and set again between calls (see
// hashIndex.scan). do must not change the database.
func (db *DB) Scan(cursor uint64, count int, do func(*Entry)) uint64 {
	found := make([]*Entry, 0, min(count, db.Len())) // expiry changes the table
	next := db.keys.index.scan(cursor, count, func(e *Entry) { found = append(found, e) })
	for _, e := range found {
		if !db.expireIfDue(e) {
			do(e)
		}
	}
	return next
}

// due reports whether the key has a deadline at or before the Space's time.
func (db *DB) due(e *Entry) bool {
	return e.deadline.Set() && db.deadlines.Deadline(e) <= db.space.Due
}

// expireIfDue reports whether the key's deadline is due. It deletes such a key,
// unless KeepExpired is set.
func (db *DB) expireIfDue(e *Entry) bool {
	if !db.due(e) {
		return false
	}
	if !db.space.KeepExpired {
		db.expire(e)
	}
	return true
}

// ExpireNow ends the time to live of the key, as if its deadline were due. It returns false if there is
// no such key, or if it has no deadline.
func (db *DB) ExpireNow(key []byte) bool {
	e := db.Peek(key)
	if e == nil || !e.deadline.Set() {
		return false
	}
	db.Expire(e)
	return true
}

// Expire expires an entry, as if it had a deadline that is due.
func (db *DB) Expire(e *Entry) {
	db.SetDeadline(e, db.space.now)
	db.expireIfDue(e)
}

func (db *DB) expire(e *Entry) {
	db.RemoveLazily(e, db.space.Lazyfree.Expire)
	db.space.Stats.Expired++
	db.space.observer.Expired(db.id, e.Key())
}
