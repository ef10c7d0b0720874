package store

import (
	"math/rand/v2"
	"unsafe"

	"github.com/lockredis/lockredis/expiry"
)

// Entry is a key with its value. It is valid until the key is deleted or
// overwritten; holders look it up again after running another command.
//
// Every lock has one: it fills an allocation of 48 bytes exactly, which is why
// the key is not a string.
type Entry struct {
	val      Value
	key      *byte       // the first byte of the key
	length   uint32      // of the key
	access   uint32      // Unix seconds of the last access, for OBJECT IDLETIME
	deadline expiry.Item // 12 bytes
	place    uint32      // in DB.keys.entries
}

func newEntry(key []byte, v Value) *Entry {
	name := string(key)
	return &Entry{val: v, key: unsafe.StringData(name), length: uint32(len(name))}
}

// Key returns the key.
func (e *Entry) Key() string { return unsafe.String(e.key, e.length) }

// Value returns the value.
func (e *Entry) Value() Value { return e.val }

// Deadline returns when the key expires in Unix milliseconds, 0 for never.
func (e *Entry) Deadline() int64 { return e.deadline.At() }

// HasDeadline reports whether the key expires at all.
func (e *Entry) HasDeadline() bool { return e.deadline.Set() }

// Access returns when the key was last accessed, in Unix seconds.
func (e *Entry) Access() uint32 { return e.access }

// SetAccess sets the time of the last access, in Unix seconds.
func (e *Entry) SetAccess(seconds uint32) { e.access = seconds }

// DeadlineItem makes Entry an expiry.Holder.
func (e *Entry) DeadlineItem() *expiry.Item { return &e.deadline }

// DB is one database.
type DB struct {
	id        int
	space     *Space
	keys      keyTable
	deadlines expiry.Index[*Entry]
}

func newDB(s *Space, id int) *DB {
	return &DB{id: id, space: s, keys: newKeyTable()}
}

// ID returns the database's number.
func (db *DB) ID() int { return db.id }

// Space returns the databases that this one belongs to.
func (db *DB) Space() *Space { return db.space }

// Len returns the number of keys, expired ones that nobody has met included.
func (db *DB) Len() int { return len(db.keys.entries) }

// Expires returns the number of keys that have a deadline.
func (db *DB) Expires() int { return db.deadlines.Len() }

// Lookup returns the entry for a command that reads it: it counts as an access
// and in the hit statistics. It is nil when the key is missing or expired (it
// is then deleted).
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

// LookupWrite returns the entry for a command that changes it: an access, but
// not in the hit statistics.
func (db *DB) LookupWrite(key []byte) *Entry {
	e := db.Peek(key)
	if e != nil {
		e.access = uint32(db.space.now / 1000)
	}
	return e
}

// Peek returns the entry without counting as an access (TTL, TYPE, OBJECT …).
func (db *DB) Peek(key []byte) *Entry {
	e := db.keys.find(keyHash(key), key)
	if e == nil || db.expireIfDue(e) {
		return nil
	}
	return e
}

// Holds returns what there is under key without any effect: nil when there is
// none. live is false when its deadline has come.
func (db *DB) Holds(key string) (v Value, live bool) {
	name := bytesOf(key)
	e := db.keys.find(keyHash(name), name)
	if e == nil {
		return nil, false
	}
	return e.val, !db.due(e)
}

// Set stores v under key, replacing any value, and drops the deadline.
func (db *DB) Set(key []byte, v Value) *Entry {
	e := db.SetKeepDeadline(key, v)
	db.deadlines.Remove(e)
	return e
}

// SetKeepDeadline stores v under key, replacing any value, and leaves the
// deadline as it is. A key that has expired counts as missing: it comes into
// being anew, without a deadline.
func (db *DB) SetKeepDeadline(key []byte, v Value) *Entry {
	hash := keyHash(key)
	e := db.keys.find(hash, key)
	if e != nil && db.expireIfDue(e) {
		if db.space.KeepExpired {
			db.drop(e) // it may not expire now, but gives way
		}
		e = nil
	}
	added := e == nil
	if added {
		e = newEntry(key, v)
		db.keys.add(hash, e)
	}
	e.val = v
	e.access = uint32(db.space.now / 1000)
	db.space.observer.Touched(db.id, e.Key())
	if added {
		db.space.observer.Added(db.id, e.Key(), v.Type())
	}
	return e
}

// SetValue replaces the value of an entry in place: a conversion or an
// in-place write. It keeps the deadline and reports nothing.
func (db *DB) SetValue(e *Entry, v Value) { e.val = v }

// Touched reports that the entry's value was changed in place.
func (db *DB) Touched(e *Entry) { db.space.observer.Touched(db.id, e.Key()) }

// Delete removes the key and reports whether it was there and not expired.
func (db *DB) Delete(key []byte) bool {
	e := db.Peek(key)
	if e == nil {
		return false
	}
	db.Remove(e)
	return true
}

// Remove takes the entry out.
func (db *DB) Remove(e *Entry) {
	db.drop(e)
	db.space.observer.Touched(db.id, e.Key())
}

func (db *DB) drop(e *Entry) {
	db.deadlines.Remove(e)
	db.keys.remove(e)
}

// SetDeadline makes the key expire at a time in Unix milliseconds, which may
// be past: the key is then gone at the next look. Since 0 says that there is
// no deadline, times before 1 count as 1.
func (db *DB) SetDeadline(e *Entry, at int64) {
	at = max(at, 1)
	db.deadlines.Add(e, at)
	if db.space.earliest == 0 || at < db.space.earliest {
		db.space.earliest = at
	}
	db.space.observer.Touched(db.id, e.Key())
}

// Persist takes the deadline away and reports whether there was one.
func (db *DB) Persist(e *Entry) bool {
	if !db.deadlines.Remove(e) {
		return false
	}
	db.space.observer.Touched(db.id, e.Key())
	return true
}

// Flush deletes all keys, whatever their number, and returns how many there
// were.
func (db *DB) Flush() (gone int) {
	if gone = db.Len(); gone == 0 {
		return 0
	}
	db.space.observer.Emptying(db)
	db.keys, db.deadlines = newKeyTable(), expiry.Index[*Entry]{}
	return gone
}

// Random returns a random live entry, nil when there is none.
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

// firstLive returns the first live entry from place i on, round to i again: a
// pick that ends even while expired keys are kept.
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

// Scan visits about count entries from cursor on (0: a new scan) and returns
// the next cursor, 0 when the scan is complete. A key that is there at each
// call of a scan is returned, though it be deleted and set again in between
// (see hashIndex.scan). do must not change the database.
func (db *DB) Scan(cursor uint64, count int, do func(*Entry)) uint64 {
	met := make([]*Entry, 0, min(count, db.Len())) // what expires leaves the table
	next := db.keys.index.scan(cursor, count, func(e *Entry) { met = append(met, e) })
	for _, e := range met {
		if !db.expireIfDue(e) {
			do(e)
		}
	}
	return next
}

// due reports whether the key's deadline has come.
func (db *DB) due(e *Entry) bool {
	return e.deadline.Set() && e.deadline.At() <= db.space.now
}

// expireIfDue reports whether the key's deadline has come; it is then deleted
// unless expired keys are kept.
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
