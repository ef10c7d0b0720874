package store

import (
	"math/rand/v2"
	"unsafe"

	"github.com/lockredis/lockredis/expiry"
)

// Entry is a key with its value. It is valid until the key is deleted or
// overwritten: after another command has run, the key must be looked up again.
//
// Every lock has an Entry. It fills an allocation of 48 bytes exactly, because the
// key is kept without its string header.
type Entry struct {
	val      Value
	key      *byte       // the first byte of the key
	length   uint32      // of the key, in bytes
	access   uint32      // Unix seconds of the last access, for OBJECT IDLETIME
	deadline expiry.Item // 12 bytes
	pos      uint32      // position in DB.keys.entries
}

// newEntry returns an entry with a copy of key.
func newEntry(key []byte, v Value) *Entry {
	name := string(key)
	return &Entry{val: v, key: unsafe.StringData(name), length: uint32(len(name))}
}

// Key returns the key.
func (e *Entry) Key() string { return unsafe.String(e.key, e.length) }

// Value returns the value.
func (e *Entry) Value() Value { return e.val }

// Deadline returns the deadline in Unix milliseconds, 0 if there is none.
func (e *Entry) Deadline() int64 { return e.deadline.At() }

// HasDeadline reports whether the key has a deadline.
func (e *Entry) HasDeadline() bool { return e.deadline.Set() }

// Access returns the time of the last access, in Unix seconds.
func (e *Entry) Access() uint32 { return e.access }

// SetAccess sets the time of the last access, in Unix seconds.
func (e *Entry) SetAccess(seconds uint32) { e.access = seconds }

// DeadlineItem returns the entry's item in DB.deadlines (expiry.Holder).
func (e *Entry) DeadlineItem() *expiry.Item { return &e.deadline }

// DB is one database.
type DB struct {
	id        int
	space     *Space
	keys      keyTable
	deadlines expiry.Index[*Entry]
	slots     *slotIndex    // nil unless Space.IndexSlots was called
	snapshot  *snapshotPart // nil unless a Snapshot has still to visit keys
}

func newDB(s *Space, id int) *DB {
	return &DB{id: id, space: s, keys: newKeyTable()}
}

// ID returns the database's number.
func (db *DB) ID() int { return db.id }

// Space returns the databases that this one belongs to.
func (db *DB) Space() *Space { return db.space }

// Len returns the number of keys. It counts expired keys that are not deleted yet.
func (db *DB) Len() int { return len(db.keys.entries) }

// Expires returns the number of keys that have a deadline.
func (db *DB) Expires() int { return db.deadlines.Len() }

// Lookup returns the entry for a command that reads it, nil if there is no live
// key. An expired key is deleted. The call counts as an access and in Stats.Hits or
// Stats.Misses.
func (db *DB) Lookup(key []byte) *Entry {
	e := db.Peek(key)
	if e == nil {
		db.space.Stats.Misses++
		if db.space.ReportMisses {
			db.space.observer.Missed(db.id, key)
		}
		return nil
	}
	db.space.Stats.Hits++
	e.access = uint32(db.space.now / 1000)
	return e
}

// LookupWrite returns the entry for a command that changes it, nil if there is no
// live key. The call counts as an access, but neither as a hit nor as a miss.
func (db *DB) LookupWrite(key []byte) *Entry {
	e := db.Peek(key)
	if e != nil {
		db.snapshot.changing(e)
		e.access = uint32(db.space.now / 1000)
	}
	return e
}

// Peek returns the entry, nil if there is no live key. The call does not count as
// an access (TTL, TYPE, OBJECT).
func (db *DB) Peek(key []byte) *Entry {
	e := db.keys.find(keyHash(key), key)
	if e == nil || db.expireIfDue(e) {
		return nil
	}
	return e
}

// Holds returns the value of key, nil if there is none. It has no effect: an expired
// key is not deleted. live is false if the deadline is due.
func (db *DB) Holds(key string) (v Value, live bool) {
	name := bytesOf(key)
	e := db.keys.find(keyHash(name), name)
	if e == nil {
		return nil, false
	}
	return e.val, !db.due(e)
}

// Set stores v under key. It replaces any value and removes the deadline.
func (db *DB) Set(key []byte, v Value) *Entry {
	e := db.SetKeepDeadline(key, v) // a snapshot has visited the old deadline, too
	db.deadlines.Remove(e)
	return e
}

// SetKeepDeadline stores v under key. It replaces any value and keeps the deadline.
// An expired key counts as missing: it becomes a new key without a deadline.
func (db *DB) SetKeepDeadline(key []byte, v Value) *Entry {
	hash := keyHash(key)
	e := db.keys.find(hash, key)
	if e != nil && db.expireIfDue(e) {
		if db.space.KeepExpired {
			db.drop(e) // kept while expired: the new key replaces it
		}
		e = nil
	}
	added := e == nil
	if added {
		e = newEntry(key, v)
		db.keys.add(hash, e)
		db.snapshot.adding(e)
		if db.slots != nil {
			db.slots.add(e)
		}
	} else {
		db.snapshot.changing(e)
		if _, stream := e.val.(*Stream); stream {
			db.space.observer.Lost(db.id, e.Key())
		}
	}
	e.val = v
	e.access = uint32(db.space.now / 1000)
	db.space.observer.Touched(db.id, e.Key())
	if added {
		db.space.observer.Added(db.id, e.Key())
	}
	return e
}

// SetValue replaces the value of an entry (a conversion, or a write in place). It
// keeps the deadline and reports nothing to the Observer.
func (db *DB) SetValue(e *Entry, v Value) {
	db.snapshot.changing(e)
	e.val = v
}

// Changing must be called before the value of e is changed in place, unless e is from
// LookupWrite: a snapshot may have to visit the value first.
func (db *DB) Changing(e *Entry) { db.snapshot.changing(e) }

// Renewed reports e as a key that was added, though it took another key's place
// (RENAME, COPY). Set reports only keys that did not exist.
func (db *DB) Renewed(e *Entry) { db.space.observer.Added(db.id, e.Key()) }

// Touched reports to the Observer that the entry's value was changed in place.
func (db *DB) Touched(e *Entry) {
	db.snapshot.changed(e)
	db.space.observer.Touched(db.id, e.Key())
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

// Remove removes the entry and its deadline.
func (db *DB) Remove(e *Entry) {
	db.drop(e)
	db.space.observer.Touched(db.id, e.Key())
}

// drop is Remove without a report to the Observer that the key was touched.
func (db *DB) drop(e *Entry) {
	db.snapshot.changing(e)
	db.deadlines.Remove(e)
	if db.slots != nil {
		db.slots.remove(e)
	}
	db.keys.remove(e)
	if _, stream := e.val.(*Stream); stream {
		db.space.observer.Lost(db.id, e.Key())
	}
}

// SetDeadline gives the key the deadline at, in Unix milliseconds. If at is past,
// the next look-up deletes the key. A time before 1 counts as 1, because 0 means
// that there is no deadline.
func (db *DB) SetDeadline(e *Entry, at int64) {
	at = max(at, 1)
	db.snapshot.changing(e)
	db.deadlines.Add(e, at)
	if db.space.earliest == 0 || at < db.space.earliest {
		db.space.earliest = at
	}
	db.space.observer.Touched(db.id, e.Key())
}

// Persist removes the deadline and reports whether there was one.
func (db *DB) Persist(e *Entry) bool {
	db.snapshot.changing(e)
	if !db.deadlines.Remove(e) {
		return false
	}
	db.space.observer.Touched(db.id, e.Key())
	return true
}

// Flush deletes all keys and returns how many there were. It replaces the table of
// keys, so that the time does not depend on their number.
func (db *DB) Flush() (deleted int) {
	if deleted = db.Len(); deleted == 0 {
		return 0
	}
	db.space.observer.Emptying(db)
	db.snapshot.flushing(db)
	db.keys, db.deadlines = newKeyTable(), expiry.Index[*Entry]{}
	if db.slots != nil {
		db.slots = newSlotIndex()
	}
	return deleted
}

// Random returns a random live entry, nil if there is none.
func (db *DB) Random(rnd *rand.Rand) *Entry {
	const maxTries = 100
	for tries := 0; len(db.keys.entries) > 0; tries++ {
		i := rnd.IntN(len(db.keys.entries))
		if e := db.keys.entries[i]; !db.expireIfDue(e) {
			return e
		}
		if db.space.KeepExpired && tries == maxTries {
			return db.firstLive(i)
		}
	}
	return nil
}

// firstLive returns the first live entry from position i on, and after the end from
// the first position on. It ends even if every key is expired and kept.
func (db *DB) firstLive(i int) *Entry {
	entries := db.keys.entries
	for _, part := range [][]*Entry{entries[i:], entries[:i]} {
		for _, e := range part {
			if !db.due(e) {
				return e
			}
		}
	}
	return nil
}

// Each calls do for every live entry until it returns false. do must not
// change the database.
func (db *DB) Each(do func(*Entry) bool) {
	for _, e := range db.keys.entries {
		if !db.due(e) && !do(e) {
			return
		}
	}
}

// EachStored is Each for all entries: also for expired keys that are not deleted yet.
func (db *DB) EachStored(do func(*Entry) bool) {
	for _, e := range db.keys.entries {
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
	return e.deadline.Set() && e.deadline.At() <= db.space.now
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

func (db *DB) expire(e *Entry) {
	db.drop(e)
	db.space.Stats.Expired++
	db.space.observer.Touched(db.id, e.Key())
	db.space.observer.Expired(db.id, e.Key())
}
