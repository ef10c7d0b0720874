package store

// Observer hears of what happens to keys. It is called under the engine's
// lock, in the middle of a command: it notes and returns. Keys are valid after
// the call.
type Observer interface {
	// Touched says that the key's value or deadline changed, or that it came
	// or went (WATCH).
	Touched(db int, key string)
	// Expired says that the key was deleted because its deadline had come.
	Expired(db int, key string)
	// Added says that a key came into being: the "new" event, and what a client
	// parked on a list or sorted set waits for.
	Added(db int, key string, t Type)
	// Emptying says that all keys of the database are about to go. It stands for
	// a call of Touched for each: there are far more keys than watched ones.
	Emptying(db *DB)
	// Swapped says that two databases have taken each other's number: all their
	// keys are touched under both, and those who wait for one may find it there
	// now, but it is not new.
	Swapped(a, b *DB)
	// Missed says that a command that reads met no live key (only called while
	// Space.ReportMisses is set).
	Missed(db int, key []byte)
}

// Limits are the sizes up to which values stay packed: Redis's
// hash-max-listpack-* and so on, changeable at run time.
type Limits struct {
	HashEntries, HashValue int // hash-max-listpack-entries, -value (bytes)
	ZSetEntries, ZSetValue int // zset-max-listpack-entries, -value (bytes)
	SetIntEntries          int // set-max-intset-entries
	ListSize               int // list-max-listpack-size: >0 entries, -1…-5: 4 KB…64 KB
}

// DefaultLimits returns Redis 7.0's defaults.
func DefaultLimits() Limits {
	return Limits{
		HashEntries: 512, HashValue: 64,
		ZSetEntries: 128, ZSetValue: 64,
		SetIntEntries: 512,
		ListSize:      -2,
	}
}

// Stats are the counters that INFO reports.
type Stats struct {
	Hits, Misses int64 // look-ups for reading that found a key or did not
	Expired      int64 // keys deleted because of their deadline
}

// Space is a server's databases.
type Space struct {
	Limits       Limits
	Stats        Stats
	ReportMisses bool // call Observer.Missed
	// KeepExpired leaves keys in place whose deadline has come (CLIENT PAUSE):
	// nobody finds them, but they are not deleted and no event is sent.
	KeepExpired bool

	dbs      []*DB
	observer Observer
	now      int64 // Unix ms, set once per unit
	earliest int64 // no deadline is earlier; 0: there was none since NextDeadline
}

// NewSpace returns n empty databases that report to o, which must not be nil.
func NewSpace(n int, o Observer) *Space {
	s := &Space{Limits: DefaultLimits(), observer: o}
	for i := range n {
		s.dbs = append(s.dbs, newDB(s, i))
	}
	return s
}

// SetNow sets the time that deadlines are compared with, in Unix milliseconds.
// It stands still until it is set again.
func (s *Space) SetNow(ms int64) { s.now = ms }

// Now returns the time set by SetNow.
func (s *Space) Now() int64 { return s.now }

// Len returns the number of databases.
func (s *Space) Len() int { return len(s.dbs) }

// DB returns database i, which must exist. After Swap the same number names
// other data, so a client keeps the number, not the pointer, across units.
func (s *Space) DB(i int) *DB { return s.dbs[i] }

// Swap exchanges the contents of two databases (SWAPDB), whatever their size.
func (s *Space) Swap(a, b int) {
	if a == b {
		return
	}
	s.dbs[a], s.dbs[b] = s.dbs[b], s.dbs[a]
	s.dbs[a].id, s.dbs[b].id = a, b
	s.observer.Swapped(s.dbs[a], s.dbs[b])
}

// Earliest returns a lower bound of all deadlines, 0 when there is none. It
// costs nothing, and may be too early after deadlines were taken away; then
// NextDeadline finds the true one.
func (s *Space) Earliest() int64 { return s.earliest }

// NextDeadline returns the earliest deadline of all databases and corrects
// Earliest.
func (s *Space) NextDeadline() (at int64, ok bool) {
	defer func() { s.earliest = at }()
	for _, db := range s.dbs {
		if t, has := db.deadlines.Next(); has && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// ExpireDue deletes at most max keys whose deadline has come, the earliest
// first within each database, and returns how many.
func (s *Space) ExpireDue(max int) (n int) {
	if s.KeepExpired {
		return 0
	}
	for _, db := range s.dbs {
		for n < max {
			at, ok := db.deadlines.Next()
			if !ok || at > s.now {
				break
			}
			db.expire(db.deadlines.Peek())
			n++
		}
	}
	return n
}
