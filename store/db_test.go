package store

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// naiveKey is a key in the model of a DB: a value and a deadline, 0 for none.
type naiveKey struct {
	value Value
	at    int64
}

// naiveSpace is a plain model of a Space. It is the Observer of the Space too: it
// checks that a key that expired was due, and deletes it from the model.
type naiveSpace struct {
	t       *rapid.T
	s       *Space
	dbs     [2]map[string]naiveKey
	expired []int64    // deadlines, in the order in which the keys expired
	victims []naiveKey // that Evict deleted
	added   map[string]bool
	emptied []int
	swapped []int
	soonest int64 // Earliest at the last call of Sooner, or at the last check
}

func newNaiveSpace(t *rapid.T) *naiveSpace {
	m := &naiveSpace{t: t, dbs: [2]map[string]naiveKey{{}, {}}}
	m.s = NewSpace(2, m)
	m.s.SetNow(10)
	m.s.CountBytes(rapid.Bool().Draw(t, "count bytes"))
	if rapid.Bool().Draw(t, "index slots") {
		m.s.IndexSlots()
	}
	return m
}

func at(db int, key string) string { return fmt.Sprint(db, "/", key) }

func (m *naiveSpace) Added(db int, key string) { m.added[at(db, key)] = true }

func (m *naiveSpace) Renewed(db int, key string) { m.Added(db, key) }

func (m *naiveSpace) Sooner() { m.soonest = m.s.Earliest() }

func (m *naiveSpace) Lost(db int, key string) { m.t.Fatal("there are no streams") }

func (m *naiveSpace) FieldsExpired(int, string, []string, bool) {}

func (m *naiveSpace) Missed(db int, key []byte) {
	m.t.Fatal("Missed is called without ReportMisses")
}

func (m *naiveSpace) Emptying(db *DB) {
	if db.Len() != len(m.dbs[db.ID()]) {
		m.t.Fatal("keys were removed before Emptying was called")
	}
	m.emptied = append(m.emptied, db.ID())
}

func (m *naiveSpace) Swapped(a, b *DB) {
	if m.s.DB(a.ID()) != a || m.s.DB(b.ID()) != b {
		m.t.Fatal("Swapped is called before the numbers are exchanged")
	}
	m.swapped = append(m.swapped, a.ID(), b.ID())
}

func (m *naiveSpace) Expired(db int, key string) {
	k, ok := m.dbs[db][key]
	if !ok || m.s.KeepExpired || !m.due(k) {
		m.t.Fatalf("%s expired at %d: exists %v, KeepExpired %v, deadline %d",
			at(db, key), m.s.Now(), ok, m.s.KeepExpired, k.at)
	}
	delete(m.dbs[db], key)
	m.expired = append(m.expired, k.at)
}

func (m *naiveSpace) Evicted(db int, key string) {
	k, ok := m.dbs[db][key]
	if !ok {
		m.t.Fatalf("%s was evicted; it exists: %v", at(db, key), ok)
	}
	delete(m.dbs[db], key)
	m.victims = append(m.victims, k)
}

func (m *naiveSpace) due(k naiveKey) bool { return k.at != 0 && k.at <= m.s.Now() }

// live returns the key that a command must find.
func (m *naiveSpace) live(db int, key string) (k naiveKey, ok bool) {
	k, ok = m.dbs[db][key]
	return k, ok && !m.due(k)
}

func (m *naiveSpace) liveKeys(db int) (keys []string) {
	for key, k := range m.dbs[db] {
		if !m.due(k) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// drawDB, drawKey and drawAt choose a database, a key and a deadline.
func drawDB(t *rapid.T) int     { return rapid.IntRange(0, 1).Draw(t, "db") }
func drawKey(t *rapid.T) string { return fmt.Sprint("key", rapid.IntRange(0, 40).Draw(t, "key")) }
func drawAt(t *rapid.T) int64   { return rapid.Int64Range(-2, 60).Draw(t, "at") }

func (m *naiveSpace) set(t *rapid.T) {
	db, key, keep := drawDB(t), drawKey(t), rapid.Bool().Draw(t, "keep the deadline")
	old, had := m.live(db, key)
	k, set := naiveKey{value: new(Hash)}, m.s.DB(db).Set
	if keep {
		k.at, set = old.at, m.s.DB(db).SetKeepDeadline
		if !had {
			k.at = 0
		}
	}
	if !had && rapid.Bool().Draw(t, "add") {
		m.s.DB(db).LookupWrite([]byte(key)) // Add follows a look-up, which expires the key
		set = m.s.DB(db).Add
	}
	e := set([]byte(key), k.value)
	m.dbs[db][key] = k
	if got := m.s.DB(db).Deadline(e); e.Key() != key || e.Value() != k.value || got != k.at {
		t.Fatalf("Set returned %q with deadline %d, want %d", e.Key(), got, k.at)
	}
	if m.added[at(db, key)] == had {
		t.Fatalf("added %v; the key existed: %v", m.added, had)
	}
}

// setMany sets so many keys that the table of keys needs several parts.
func (m *naiveSpace) setMany(t *rapid.T) {
	db := drawDB(t)
	for i := range rapid.IntRange(100, 600).Draw(t, "keys") {
		key := fmt.Sprint("many", i)
		m.dbs[db][key] = naiveKey{value: m.s.DB(db).Set([]byte(key), new(Hash)).Value()}
	}
}

func (m *naiveSpace) deleteMany(t *rapid.T) {
	db, from := drawDB(t), rapid.IntRange(0, 100).Draw(t, "from")
	for i := from; i < 600; i++ {
		key := fmt.Sprint("many", i)
		if m.s.DB(db).Delete([]byte(key)) {
			delete(m.dbs[db], key)
		}
	}
}

func (m *naiveSpace) delete(t *rapid.T) {
	db, key := drawDB(t), drawKey(t)
	_, had := m.live(db, key)
	if m.s.DB(db).Delete([]byte(key)) != had {
		t.Fatalf("Delete of %s reports %v", at(db, key), !had)
	}
	if had {
		delete(m.dbs[db], key)
	}
}

// rename does what RENAME and MOVE do, in their order.
func (m *naiveSpace) rename(t *rapid.T) {
	from, to, key, name := drawDB(t), drawDB(t), drawKey(t), drawKey(t)
	e := m.s.DB(from).LookupWrite([]byte(key))
	if e == nil || from == to && key == name {
		return
	}
	m.s.DB(to).Delete([]byte(name))
	moved := m.s.DB(to).Set([]byte(name), e.Value())
	if e.HasDeadline() {
		m.s.DB(to).SetDeadline(moved, m.s.DB(from).Deadline(e))
	}
	m.s.DB(from).Remove(e)
	m.dbs[to][name] = m.dbs[from][key]
	delete(m.dbs[from], key)
}

func (m *naiveSpace) setDeadline(t *rapid.T) {
	db, key, deadline := drawDB(t), drawKey(t), drawAt(t)
	k, ok := m.live(db, key)
	e := m.s.DB(db).LookupWrite([]byte(key))
	if ok != (e != nil) {
		t.Fatalf("LookupWrite of %s returns an entry: %v, want %v", at(db, key), e != nil, ok)
	}
	if ok {
		m.s.DB(db).SetDeadline(e, deadline)
		m.dbs[db][key] = naiveKey{k.value, max(1, deadline)}
	}
}

func (m *naiveSpace) persist(t *rapid.T) {
	db, key := drawDB(t), drawKey(t)
	k, ok := m.live(db, key)
	if e := m.s.DB(db).Peek([]byte(key)); ok {
		if m.s.DB(db).Persist(e) != (k.at != 0) {
			t.Fatalf("Persist reports a deadline: %v", k.at == 0)
		}
		m.dbs[db][key] = naiveKey{value: k.value}
	}
}

func (m *naiveSpace) expireDue(t *rapid.T) {
	most := rapid.IntRange(0, 50).Draw(t, "most")
	var due [2][]int64
	for db := range m.dbs {
		for _, k := range m.dbs[db] {
			if m.due(k) && !m.s.KeepExpired {
				due[db] = append(due[db], k.at)
			}
		}
		slices.Sort(due[db])
	}
	want := slices.Concat(due[0], due[1])
	want = want[:min(most, len(want))]
	if n := m.s.ExpireDue(most); n != len(want) || !slices.Equal(m.expired, want) {
		t.Fatalf("ExpireDue returned %d and expired %v, want %v", n, m.expired, want)
	}
}

func (m *naiveSpace) flush(t *rapid.T) {
	db := drawDB(t)
	if n := m.s.DB(db).Flush(); n != len(m.dbs[db]) {
		t.Fatalf("Flush returned %d, want %d", n, len(m.dbs[db]))
	}
	if called := len(m.emptied) > 0; called != (len(m.dbs[db]) > 0) {
		t.Fatalf("Flush of %d keys called Emptying for %v", len(m.dbs[db]), m.emptied)
	}
	clear(m.dbs[db])
}

func (m *naiveSpace) evict(t *rapid.T) {
	policy := rapid.SampledFrom([]Policy{LRU, LFU, Random, TTL, AllKeys | LRU, AllKeys | LFU,
		AllKeys | Random}).Draw(t, "policy")
	m.s.Frequencies = Frequencies{On: policy&LFU != 0, LogFactor: 10, Rand: rand.New(rand.NewPCG(1, 1))}
	evictable, earliest := 0, int64(0)
	for _, keys := range m.dbs {
		for _, k := range keys {
			if k.at == 0 && policy&AllKeys == 0 {
				continue
			}
			evictable++
			if k.at != 0 && (earliest == 0 || k.at < earliest) {
				earliest = k.at
			}
		}
	}
	m.victims = nil
	ok := m.s.Evict(policy, rapid.IntRange(1, 6).Draw(t, "samples"), rand.New(rand.NewPCG(1, 2)))
	switch {
	case ok != (evictable > 0) || ok != (len(m.victims) == 1):
		t.Fatalf("Evict returned %v with %d keys, victims %v", ok, evictable, m.victims)
	case ok && policy&AllKeys == 0 && m.victims[0].at == 0:
		t.Fatal("a key without a deadline was evicted")
	case ok && policy == TTL && m.victims[0].at != earliest:
		t.Fatalf("the key with deadline %d was evicted, and another has %d", m.victims[0].at, earliest)
	}
}

func (m *naiveSpace) swap(t *rapid.T) {
	m.s.Swap(0, 1)
	m.dbs[0], m.dbs[1] = m.dbs[1], m.dbs[0]
	if !slices.Equal(m.swapped, []int{0, 1}) || len(m.added) > 0 {
		t.Fatalf("Swap called Swapped for %v and Added for %v", m.swapped, m.added)
	}
}

func (m *naiveSpace) random(t *rapid.T) {
	db := drawDB(t)
	e := m.s.DB(db).Random(rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed"))))
	live := m.liveKeys(db)
	if e == nil && len(live) > 0 || e != nil && !slices.Contains(live, e.Key()) {
		t.Fatalf("Random returned %v of %v", e, live)
	}
}

func (m *naiveSpace) walk(t *rapid.T) {
	db := drawDB(t)
	var each, scanned []string
	m.s.DB(db).Each(func(e *Entry) bool { each = append(each, e.Key()); return true })
	for cursor, first := uint64(0), true; first || cursor != 0; first = false {
		cursor = m.s.DB(db).Scan(cursor, 7, func(e *Entry) { scanned = append(scanned, e.Key()) })
	}
	slices.Sort(each)
	slices.Sort(scanned)
	if live := m.liveKeys(db); !slices.Equal(each, live) || !slices.Equal(scanned, live) {
		t.Fatalf("Each visited %v and Scan %v of %v", each, scanned, live)
	}
}

// check compares the Space with the model, without expiring a key.
func (m *naiveSpace) check(t *rapid.T) {
	if rapid.Bool().Draw(t, "settle") {
		m.s.CountedBytes()
	}
	earliest := int64(0)
	for i, keys := range m.dbs {
		db, deadlines := m.s.DB(i), 0
		for key, k := range keys {
			e := db.keys.find(keyHash([]byte(key)), []byte(key))
			if v, live := db.Value(key); v != k.value || live == m.due(k) {
				t.Fatalf("Holds of %s returns %v, live: %v", at(i, key), v, live)
			}
			if e == nil || e.Value() != k.value || db.Deadline(e) != k.at || e.HasDeadline() != (k.at != 0) {
				t.Fatalf("%s has deadline %d in the model, its entry is %+v", at(i, key), k.at, e)
			}
			if k.at != 0 {
				deadlines++
				if earliest == 0 || k.at < earliest {
					earliest = k.at
				}
			}
		}
		if db.ID() != i || db.Len() != len(keys) || db.Expires() != deadlines {
			t.Fatalf("database %d of %d keys, %d with deadlines; want %d of %d, %d",
				db.ID(), db.Len(), db.Expires(), i, len(keys), deadlines)
		}
		checkTable(t, &db.keys)
		if err := db.checkBytes(); err != nil {
			t.Fatal(err)
		}
	}
	if bound := m.s.Earliest(); earliest != 0 && (bound == 0 || bound > earliest) {
		t.Fatalf("Earliest is %d, and a key expires at %d", bound, earliest)
	} else if bound != 0 && (m.soonest == 0 || bound < m.soonest) {
		t.Fatalf("Earliest is %d, and the observer knows of %d", bound, m.soonest)
	} else {
		m.soonest = bound // NextDeadline may have found a later one
	}
}

func TestASpaceBehavesAsMapsOfKeysWithDeadlines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newNaiveSpace(t)
		step := func(do func(*rapid.T)) func(*rapid.T) {
			return func(t *rapid.T) {
				m.expired, m.emptied, m.swapped = nil, nil, nil
				m.added = map[string]bool{}
				do(t)
			}
		}
		expired := int64(0)
		t.Repeat(map[string]func(*rapid.T){
			"set": step(m.set), "set 2": step(m.set), "set 3": step(m.set),
			"set many": step(m.setMany), "delete many": step(m.deleteMany),
			"delete": step(m.delete), "rename": step(m.rename),
			"deadline": step(m.setDeadline), "deadline 2": step(m.setDeadline), "persist": step(m.persist),
			"expire": step(m.expireDue), "flush": step(m.flush), "swap": step(m.swap),
			"count":  step(m.countBytes),
			"random": step(m.random), "evict": step(m.evict), "walk": step(m.walk),
			"time":  step(func(t *rapid.T) { m.s.SetNow(m.s.Now() + rapid.Int64Range(0, 5).Draw(t, "ms")) }),
			"pause": step(func(t *rapid.T) { m.s.KeepExpired = !m.s.KeepExpired }),
			"next": step(func(t *rapid.T) {
				next, ok := m.s.NextDeadline()
				if next != m.s.Earliest() || ok != (next != 0) {
					t.Fatalf("NextDeadline is %d, %v and Earliest %d", next, ok, m.s.Earliest())
				}
			}),
			"": func(t *rapid.T) {
				m.check(t)
				if expired += int64(len(m.expired)); m.s.Stats.Expired != expired {
					t.Fatalf("Stats.Expired is %d, want %d", m.s.Stats.Expired, expired)
				}
				m.expired = nil
			},
		})
	})
}

func TestADatabaseScanReturnsEveryKeyThatStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewSpace(1, ignore{})
		db, missing := s.DB(0), map[string]bool{}
		for i := range rapid.IntRange(0, 60).Draw(t, "keys") {
			key := fmt.Sprint("key", i)
			e := db.Set([]byte(key), new(Hash))
			switch rapid.IntRange(0, 2).Draw(t, "fate") {
			case 0:
				missing[key] = true
			case 1:
				db.SetDeadline(e, rapid.Int64Range(1, 9).Draw(t, "deadline"))
			}
		}
		stays := len(missing)
		for cursor, now := uint64(0), int64(0); ; now++ {
			s.SetNow(now)
			s.KeepExpired = rapid.Bool().Draw(t, "keep expired")
			cursor = db.Scan(cursor, rapid.IntRange(1, 9).Draw(t, "count"), func(e *Entry) {
				if at := db.Deadline(e); at != 0 && at <= now {
					t.Fatalf("the scan returned %s, which expired at %d", e.Key(), at)
				}
				delete(missing, e.Key())
			})
			if cursor == 0 {
				break
			}
			for range rapid.IntRange(0, 5).Draw(t, "changes") {
				i := rapid.IntRange(0, 80).Draw(t, "other")
				if e := db.Peek(fmt.Append(nil, "key", i)); e != nil && e.HasDeadline() {
					db.Remove(e)
				} else if i > 60 {
					db.SetDeadline(db.Set(fmt.Append(nil, "key", i), new(Hash)), 9)
				}
			}
		}
		if len(missing) > 0 {
			t.Fatalf("the scan missed %d of %d keys", len(missing), stays)
		}
	})
}

// eventLog is an Observer that records new and expired keys.
type eventLog struct {
	ignore
	events []string
}

func (l *eventLog) Expired(_ int, key string) { l.events = append(l.events, "expired "+key) }
func (l *eventLog) Added(_ int, key string)   { l.events = append(l.events, "added "+key) }
func (l *eventLog) Renewed(_ int, key string) { l.events = append(l.events, "renewed "+key) }

// paused returns a database with n keys that have expired and are kept.
func paused(n int) (*DB, *eventLog) {
	log := new(eventLog)
	s := NewSpace(1, log)
	db := s.DB(0)
	for i := range n {
		db.SetDeadline(db.Set(lockKey(i), new(Hash)), 5)
	}
	log.events = nil
	s.SetNow(9)
	s.KeepExpired = true
	return db, log
}

func TestKeptExpiredKeysAreInvisible(t *testing.T) {
	db, log := paused(3)
	seen := 0
	count := func(*Entry) { seen++ }
	db.Each(func(e *Entry) bool { count(e); return true })
	if next := db.Scan(0, 10, count); next != 0 || seen != 0 {
		t.Fatalf("%d keys were visited, the next cursor is %d", seen, next)
	}
	if db.Peek(lockKey(0)) != nil || db.Lookup(lockKey(1)) != nil || db.Delete(lockKey(2)) {
		t.Fatal("an expired key was found")
	}
	if n := db.space.ExpireDue(9); n != 0 || db.Len() != 3 || len(log.events) != 0 {
		t.Fatalf("%d keys expired, %d are left, events %v", n, db.Len(), log.events)
	}
	db.space.KeepExpired = false
	if n := db.space.ExpireDue(9); n != 3 || len(log.events) != 3 {
		t.Fatalf("%d keys expired after the pause, events %v", n, log.events)
	}
}

func TestRandomEndsWhileExpiredKeysAreKept(t *testing.T) {
	db, _ := paused(1000)
	rnd := rand.New(rand.NewPCG(1, 2))
	if e := db.Random(rnd); e != nil {
		t.Fatalf("Random returned %s, which has expired", e.Key())
	}
	db.Set([]byte("live"), new(Hash))
	for range 50 {
		if e := db.Random(rnd); e == nil || e.Key() != "live" {
			t.Fatalf("Random returned %v, want the only live key", e)
		}
	}
}

func TestAWriteToAKeptExpiredKeyMakesANewKey(t *testing.T) {
	db, log := paused(1)
	db.SetKeepDeadline(lockKey(0), new(Hash))
	if e := db.Peek(lockKey(0)); e == nil || e.HasDeadline() || db.Len() != 1 || db.Expires() != 0 {
		t.Fatalf("Peek returns %v of %d keys, %d with deadlines", e, db.Len(), db.Expires())
	}
	if want := []string{"renewed " + string(lockKey(0))}; !slices.Equal(log.events, want) {
		t.Fatalf("events %v, want %v", log.events, want)
	}
}

func TestAKeyExpiresNowOnlyIfItHasADeadline(t *testing.T) {
	log := new(eventLog)
	db := NewSpace(1, log).DB(0)
	db.space.SetNow(5)
	leased, kept := lockKey(0), lockKey(1)
	for range 2 {
		db.SetDeadline(db.Set(leased, NewText([]byte("v"))), 9)
		db.Set(kept, NewText([]byte("v")))
		log.events = nil
		if db.ExpireNow(kept) || db.ExpireNow(lockKey(2)) {
			t.Error("a key without a deadline expires")
		}
		if !db.ExpireNow(leased) || db.ExpireNow(leased) || db.Peek(leased) != nil || db.Peek(kept) == nil {
			t.Errorf("the wrong keys are left: %d", db.Len())
		}
		if n := db.space.Stats.Expired; n != 1 || !slices.Equal(log.events, []string{"expired " + string(leased)}) {
			t.Errorf("%d have expired, events %v", n, log.events)
		}
		if err := db.space.Check(); err != nil {
			t.Error(err)
		}
		db.space.Stats.Expired = 0
	}
	db.SetDeadline(db.Set(leased, NewText([]byte("v"))), 9)
	db.space.KeepExpired = true
	log.events = nil
	if !db.ExpireNow(leased) || db.Peek(leased) != nil || len(log.events) != 0 {
		t.Errorf("during a pause a key is visible, or gone: events %v", log.events)
	}
	db.space.KeepExpired = false
	if n := db.space.ExpireDue(9); n != 1 {
		t.Errorf("%d keys expire after the pause", n)
	}
}

func TestADeadlineBeforeTheEpochIsPast(t *testing.T) {
	for _, at := range []int64{0, -1, -1 << 62} {
		s := NewSpace(1, ignore{})
		s.SetNow(1e12)
		s.DB(0).SetDeadline(s.DB(0).Set([]byte("k"), new(Hash)), at)
		if s.Earliest() == 0 || s.DB(0).Peek([]byte("k")) != nil {
			t.Fatalf("Peek finds a key with deadline %d", at)
		}
	}
}

func TestALockTakesAtMost152BytesOfHeap(t *testing.T) {
	const n, most = 100000, 152
	before := heapBytes()
	db := locks(n)
	each := float64(heapBytes()-before) / n
	runtime.KeepAlive(db)
	t.Logf("%.1f bytes per lock", each)
	if each > most {
		t.Fatalf("a lock takes %.1f bytes of heap, want at most %d", each, most)
	}
}

func TestReleasedLocksLeaveNoMemoryBehind(t *testing.T) {
	const n = 50000
	db := NewSpace(1, ignore{}).DB(0)
	before := heapBytes()
	for i := range n {
		putLock(db, i, int64(i+1))
	}
	db.space.SetNow(n)
	if got := db.space.ExpireDue(2 * n); got != n {
		t.Fatalf("%d locks expired, want %d", got, n)
	}
	if left := heapBytes() - before; left > 20000 {
		t.Fatalf("%d bytes of heap are left", left)
	}
	runtime.KeepAlive(db)
}

func TestALookUpAllocatesNothing(t *testing.T) {
	db, key, other := locks(1000), lockKey(7), lockKey(5000)
	if n := testing.AllocsPerRun(100, func() { db.Lookup(key); db.Lookup(other) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func TestKeysOfAnyLengthAreKept(t *testing.T) {
	db := NewSpace(1, ignore{}).DB(0)
	lengths := []int{1000, 1 << 20}
	for n := range 2 * mostNear {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		key := bytes.Repeat([]byte{'k'}, n)
		e := db.Set(key, new(Hash))
		if e.Key() != strings.Repeat("k", n) || db.Peek(key) != e {
			t.Fatalf("a key of %d bytes is not found", n)
		}
		if n > 0 {
			key[0] = 'x'
			if db.Peek(key) != nil {
				t.Fatal("the database uses the caller's bytes as the key")
			}
		}
	}
}

func TestAKeptKeyDoesNotKeepTheValue(t *testing.T) {
	db := NewSpace(1, ignore{}).DB(0)
	before := heapBytes()
	kept := make([]string, 10)
	for i := range kept {
		e := db.Set(lockKey(i), NewZeros(1<<20))
		kept[i] = e.Key()
		db.Remove(e)
	}
	if left := heapBytes() - before; left > 1<<19 {
		t.Fatalf("%d bytes of heap are left after the removal of the keys", left)
	}
	runtime.KeepAlive(kept)
}

func TestAnEntryHasTheValueThatItWasGiven(t *testing.T) {
	db := NewSpace(1, ignore{}).DB(0)
	for _, v := range []Value{new(String), new(Hash), new(List), new(Set), new(ZSet), new(Stream)} {
		e := db.Set([]byte("key"), v)
		db.SetDeadline(e, 1000)
		e.setAccessed(accessClock)
		if e.Value() != v || e.Value().Type() != v.Type() {
			t.Fatalf("the value is a %s, want a %s", e.Value().Type(), v.Type())
		}
	}
}

// TestDatabasesThatAreNotUsedCostNothing has as many databases as the directive allows, and uses the
// last one.
func TestDatabasesThatAreNotUsedCostNothing(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := NewSpace(math.MaxInt32, ignore{})
	s.DB(math.MaxInt32-1).Set([]byte("k"), NewInt(1))
	s.Swap(math.MaxInt32-1, 1)
	used := 0
	for _, db := range s.Opened() {
		used += db.Len()
	}
	runtime.ReadMemStats(&after)
	if s.Len() != math.MaxInt32 || used != 1 || s.DB(1).Len() != 1 {
		t.Errorf("%d databases, %d keys, %d in database 1", s.Len(), used, s.DB(1).Len())
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("the databases take %d bytes", took)
	}
}
