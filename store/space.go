package store

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Observer is told of the changes to keys that no command asks for, and of new keys. The caller
// knows the changes that it makes itself. The observer's methods are called under the engine
// lock, in the middle of a command: they record the change and return. A key string
// stays valid after the call.
type Observer interface {
	// Expired reports that the key was deleted because its deadline was due.
	Expired(db int, key string)
	// FieldsExpired reports that these fields of a hash were deleted because their deadlines
	// were due. fields is nil unless Space.NameFields is set. gone: the key was deleted with its last
	// field.
	FieldsExpired(db int, key string, fields []string, gone bool)
	// Evicted reports that Space.Evict deleted the key.
	Evicted(db int, key string)
	// Added reports a new key: the "new" event, and a signal for the clients that are
	// parked on the key.
	Added(db int, key string)
	// Renewed is Added for a key that took the place of another key with its name: of one that
	// RENAME or COPY replaced, or of an expired one that was kept (KeepExpired). What the observer
	// knows of that key is over.
	Renewed(db int, key string)
	// Emptying reports that all keys of the database are about to be removed. It
	// is called once, because few keys are watched.
	Emptying(db *DB)
	// Swapped reports that two databases have exchanged their numbers. All their
	// keys have changed, under both numbers. A key that a client waits for may exist
	// now, but it is not new.
	Swapped(a, b *DB)
	// Lost reports that a stream is no longer the value of key: the key was deleted, it
	// expired, or it has another value. Clients that read as consumers of a group wait
	// for that.
	Lost(db int, key string)
	// Sooner reports that Earliest is earlier than before.
	Sooner()
	// Missed reports that a command that reads found no live key. It is called only
	// while Space.ReportMisses is set.
	Missed(db int, key []byte)
}

// Limits are the largest sizes of packed values: hash-max-listpack-entries and the
// other directives of Redis. They may change at run time.
type Limits struct {
	HashEntries, HashValue int // hash-max-listpack-entries, -value (bytes)
	ZSetEntries, ZSetValue int // zset-max-listpack-entries, -value (bytes)
	SetIntEntries          int // set-max-intset-entries
	ListSize               int // list-max-listpack-size: >0 entries, -1…-5: 4 KB…64 KB
	ListDepth              int // list-compress-depth

	// StreamNodeBytes and StreamNodeEntries limit the chunks of streams
	// (stream-node-max-bytes, -entries); 0: no limit.
	StreamNodeBytes, StreamNodeEntries int64
}

// DefaultLimits returns Redis 7.0's defaults.
func DefaultLimits() Limits {
	return Limits{
		HashEntries: 512, HashValue: 64,
		ZSetEntries: 128, ZSetValue: 64,
		SetIntEntries: 512,
		ListSize:      -2,

		StreamNodeBytes: 4096, StreamNodeEntries: 100,
	}
}

// Stats are counters that INFO reports.
type Stats struct {
	Hits, Misses int64 // results of DB.Lookup
	Expired      int64 // keys that were deleted because their deadline was due
	// ExpiredFields counts fields of hashes that were deleted in the same way.
	ExpiredFields int64
	Evicted       int64 // keys that Evict deleted
	LazyFreed     int64 // objects that Redis would have freed in the background, see Lazyfree
}

// ResetStats sets the counters to 0.
func (s *Space) ResetStats() { s.Stats = Stats{} }

// Space is the databases of a server.
type Space struct {
	Limits       Limits
	Stats        Stats
	Lazyfree     Lazyfree
	Frequencies  Frequencies // set by the eviction policy
	ReportMisses bool        // call Observer.Missed
	NameFields   bool        // pass the names of expired fields to Observer.FieldsExpired
	// Due is the latest deadline that is over, in Unix ms: the time of SetNow, or see NothingIsDue.
	Due int64
	// KeepExpired keeps keys with a deadline that is due (CLIENT PAUSE, or a replica). Commands
	// do not find them, but they are not deleted and no event is sent.
	KeepExpired bool
	// OwnDeadlines makes the deadlines that commands set end their keys also while KeepExpired is set. It
	// does not count for commands after NothingIsDue.
	OwnDeadlines bool
	// NoTouch makes look-ups count as no accesses (CLIENT NO-TOUCH of the client whose
	// command runs).
	NoTouch bool
	// FieldDeadlines allows deadlines of fields. It is set before there is a key.
	FieldDeadlines bool

	n         int   // databases
	dbs       []*DB // that have been used, by number, see DB
	owned     ownDeadlines
	footprint footprint
	eviction  eviction
	observer  Observer
	now       int64  // Unix ms, set once per unit
	clock     uint32 // the time that accesses are recorded with: seconds, 24 bits
	earliest  int64  // lower bound of all deadlines; 0: no deadline since NextDeadline
	unseen    string // a key that changed behind a Snapshot's back, for Check; "": none
}

// NewSpace returns n empty databases that report changes to o, which is not nil.
func NewSpace(n int, o Observer) *Space {
	return &Space{Limits: DefaultLimits(), observer: o, n: n}
}

// Observe makes o the observer and returns the observer before it.
func (s *Space) Observe(o Observer) (before Observer) {
	before, s.observer = s.observer, o
	return before
}

// SetNow sets the time that deadlines are compared with, in Unix milliseconds. The
// time stands still until the next call.
func (s *Space) SetNow(ms int64) {
	s.now, s.Due = ms, ms
	s.clock = uint32(ms/1000) & accessClock
}

// Now returns the time set by SetNow.
func (s *Space) Now() int64 { return s.now }

// NothingIsDue has all keys and fields live, whatever their deadlines, until SetNow is called: for the
// commands of a primary, which says itself when a key ends.
func (s *Space) NothingIsDue() { s.Due = math.MinInt64 }

func (s *Space) nothingIsDue() bool { return s.Due == math.MinInt64 }

// Len returns the number of databases.
func (s *Space) Len() int { return s.n }

// DB returns database i, which must exist. After Swap the number stands for other
// data, so a client keeps the number across units, not the pointer. The first call for a number
// makes the database: most of them are never used.
func (s *Space) DB(i int) *DB {
	if i < len(s.dbs) && s.dbs[i].id == i { // all databases before it are used, too
		return s.dbs[i]
	}
	at, ok := s.position(i)
	if !ok {
		s.open(at, i)
	}
	return s.dbs[at]
}

// position returns where database i is in s.dbs. ok is false if it has not been used: it belongs there.
func (s *Space) position(i int) (at int, ok bool) {
	return slices.BinarySearchFunc(s.dbs, i, func(db *DB, i int) int { return cmp.Compare(db.id, i) })
}

// open makes database i and puts it at a position of s.dbs.
func (s *Space) open(at, i int) {
	if i < 0 || i >= s.n {
		panic(fmt.Sprintf("store: database %d of %d", i, s.n))
	}
	db := newDB(s, i)
	if s.footprint.on {
		db.watched, db.counted = true, allHashes
	}
	if at < len(s.dbs) {
		s.dbs = slices.Clip(s.dbs) // so that a walk of Opened continues in the old slice
	}
	s.dbs = slices.Insert(s.dbs, at, db)
}

// Opened returns the databases that have been used, with their numbers, in order. All others are
// empty. A database that is first used during the walk may be missing.
func (s *Space) Opened() iter.Seq2[int, *DB] {
	return func(yield func(int, *DB) bool) {
		for _, db := range s.dbs {
			if !yield(db.id, db) {
				return
			}
		}
	}
}

// Swap exchanges the contents of two databases (SWAPDB), in constant time.
func (s *Space) Swap(a, b int) {
	if a == b {
		return
	}
	was, other := s.DB(a), s.DB(b)
	i, _ := s.position(a)
	j, _ := s.position(b)
	s.dbs[i], s.dbs[j] = other, was
	other.id, was.id = a, b
	s.observer.Swapped(other, was)
}

// Earliest returns a lower bound of all deadlines, 0 if there is no deadline. It
// costs nothing. It may be too early after a deadline was removed: NextDeadline
// finds the true earliest deadline.
func (s *Space) Earliest() int64 { return s.earliest }

// sooner follows a new deadline.
func (s *Space) sooner(at int64) {
	if s.earliest == 0 || at < s.earliest {
		s.earliest = at
		s.observer.Sooner()
	}
}

// NextDeadline returns the earliest deadline of all databases and updates Earliest.
// ok is false if there is no deadline.
func (s *Space) NextDeadline() (at int64, ok bool) {
	defer func() { s.earliest = at }()
	for _, db := range s.Opened() {
		if t, has := db.deadlines.Next(); has && (!ok || t < at) {
			at, ok = t, true
		}
		if t, has := db.fields.Next(); has && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// EachDue visits the keys with a deadline at or before a time in Unix ms, in the order of databases
// and in no order within one. It has no effect. do must not change the databases.
func (s *Space) EachDue(until int64, do func(db int, key string, at int64)) {
	for n, db := range s.Opened() {
		db.deadlines.EachDue(until, func(e *Entry, at int64) { do(n, e.Key(), at) })
	}
}

// ExpireDue deletes at most max keys and fields with a deadline that is due, and returns
// how many. Within a database the earliest deadline comes first. While KeepExpired is
// set, it deletes only keys with a deadline of their own (OwnDeadlines).
func (s *Space) ExpireDue(max int) (n int) {
	if s.KeepExpired {
		return s.expireOwn(max)
	}
	for _, db := range s.Opened() {
		for n < max {
			at, ok := db.deadlines.Next()
			if !ok || at > s.Due {
				break
			}
			db.expire(db.deadlines.Peek())
			n++
		}
		n += db.expireDueFields(max - n)
	}
	return n
}
