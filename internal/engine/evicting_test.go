package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/nohost"
)

// steppingClock advances by a millisecond each time it is read.
type steppingClock struct{ *expiry.Manual }

func (c steppingClock) Now() time.Time {
	c.Advance(time.Millisecond)
	return c.Manual.Now()
}

// fillKeys sets n string keys of the same size.
func fillKeys(t *testing.T, e *Engine, n int) {
	t.Helper()
	s, _ := connect(e)
	for i := range n {
		expectReply(t, send(e, s, "SET", fmt.Sprintf("key:%06d", i), "value"), "+OK\r\n")
	}
}

func TestAUnitEvictsForALimitedTimeAndTheTimerGoesOn(t *testing.T) {
	e := newTestEngine(steppingClock{expiry.NewManual(epoch)})
	t.Cleanup(e.Close)
	fillKeys(t, e, 1000)
	s, _ := connect(e)
	expectReply(t, send(e, s, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory", "1gb"),
		"+OK\r\n")
	limit := e.env.Space.CountedBytes() / 2
	expectReply(t, send(e, s, "CONFIG", "SET", "maxmemory", fmt.Sprint(limit)), "+OK\r\n")
	if n := e.env.Space.DB(0).Len(); n != 1000 {
		t.Fatalf("CONFIG SET itself left %d keys", n)
	}
	if !e.timer.due(e.env.Space.Now()) {
		t.Fatal("the timer is not armed")
	}
	expectReply(t, send(e, s, "SET", "key", "value"), "+OK\r\n")
	if n := e.env.Space.DB(0).Len(); n > 1000-evictBetween+1 || n < 1000-3*evictBetween {
		t.Fatalf("SET left %d keys", n)
	}
	if e.env.Stats.Exceeded.Since == 0 {
		t.Error("maxmemory is exceeded, and INFO does not know since when")
	}
	units := 0
	for more := true; more; units++ {
		e.Do(&Caller{}, func() { more = e.fireTimer() })
	}
	used, left := e.env.Space.CountedBytes(), e.env.Space.DB(0).Len()
	if used > limit || used < limit-1000 || units < 10 || left < 400 {
		t.Errorf("%d units left %d keys of %d bytes, the limit is %d", units, left, used, limit)
	}
	if x := e.env.Stats.Exceeded; x.Since != 0 || x.Total == 0 {
		t.Errorf("the limit was exceeded since %d and for %d µs", x.Since, x.Total)
	}
	if e.timer.due(e.env.Space.Now()) {
		t.Error("the timer is armed, and nothing is to be done")
	}
}

func TestTenacityLimitsTheTimeOfAnEviction(t *testing.T) {
	for tenacity, want := range map[int]time.Duration{
		0: 0, 1: 50 * time.Microsecond, 10: 500 * time.Microsecond, 11: 575 * time.Microsecond,
	} {
		if got := evictionTime(tenacity); got != want {
			t.Errorf("tenacity %d: %v, want %v", tenacity, got, want)
		}
	}
	if most := evictionTime(99); most < time.Minute || most > 3*time.Minute {
		t.Errorf("tenacity 99: %v", most)
	}
	if evictionTime(100) < time.Hour {
		t.Error("tenacity 100 has a limit")
	}
}

func TestTheJournalSeesAnEvictionInTheUnitThatNeedsMemory(t *testing.T) {
	e, _, entries := journaled(t)
	s, _ := connect(e)
	send(e, s, "SET", "k", "v")
	send(e, s, "CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory", "1")
	entries()
	send(e, s, "GET", "k")
	got, want := entries(), "[ touched:0:k evicted:0:k get( ) ]"
	if !strings.HasPrefix(got, want) {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestKeysOfTransactionsAndScriptsAreCounted(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	send(e, s, "CONFIG", "SET", "maxmemory", "1gb")
	for _, list := range [][]string{
		{"MULTI"}, {"HSET", "h", "f", "v"}, {"RENAME", "h", "h2"}, {"RPUSH", "l", "a", "b"}, {"EXEC"},
		{"EVAL", "redis.call('rpush', 'l', 'c') redis.call('lpop', 'l') redis.call('xadd', 'x', '1-1', 'f', 'v')", "0"},
		{"SWAPDB", "0", "1"}, {"SET", "k", "v", "PX", "10"}, {"COPY", "k", "k2"}, {"APPEND", "k", "more"},
		{"SELECT", "1"}, {"DEL", "h2"}, {"MOVE", "l", "0"},
	} {
		send(e, s, list...)
		if e.env.Space.CountedBytes() == 0 && len(list) > 2 && s.Multi == nil {
			t.Errorf("%q: no bytes are counted", list)
		}
		if err := e.env.Space.Check(); err != nil {
			t.Fatalf("%q: %v", list, err)
		}
	}
	send(e, s, "FLUSHALL")
	if n := e.env.Space.CountedBytes(); n != 0 {
		t.Errorf("%d bytes are counted without keys", n)
	}
}

const outOfMemory = "-OOM command not allowed when used memory > 'maxmemory'.\r\n"

func TestTheRestOfTheMemoryIsTheLeastOfTheLastCollections(t *testing.T) {
	e, clock := newClocked(t)
	host := &measuredHost{size: 4200, live: 3000}
	e.env.Server = host
	s, _ := connect(e)
	send(e, s, "CONFIG", "SET", "maxmemory", "4000")
	if host.collections != 1 {
		t.Errorf("%d collections for a new limit", host.collections)
	}
	expectReply(t, send(e, s, "SET", "k", "v"), "+OK\r\n")
	if used, keys := e.memory.Used(), e.env.Space.CountedBytes(); used != 3000+keys {
		t.Errorf("%d bytes are in use, the keys have %d", used, keys)
	}
	set := func(live int64, want string) {
		t.Helper()
		host.live = live
		clock.Advance(time.Second)
		expectReply(t, send(e, s, "SET", "k", "v"), want)
	}
	set(2999, "+OK\r\n")
	for n := range int64(restCollections - 1) {
		set(4001+n, "+OK\r\n")
	}
	set(5000, outOfMemory)
	set(3001, "+OK\r\n")
}

func TestKeysThatAreGoneAreNotInUseUnderANewLimit(t *testing.T) {
	e, _ := newClocked(t)
	e.env.Server = &measuredHost{size: 90 << 20, live: 80 << 20}
	s, _ := connect(e)
	send(e, s, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory", "50mb")
	expectReply(t, send(e, s, "SET", "k", "v"), "+OK\r\n")
}

func TestARefusedCommandAsksForACollectionThatMayFindMemory(t *testing.T) {
	e, clock := newClocked(t)
	host := &measuredHost{size: 4200, live: 3000}
	e.env.Server = host
	s, _ := connect(e)
	send(e, s, "CONFIG", "SET", "maxmemory", "4000")
	for n := range int64(restCollections) {
		host.live = 4001 + n
		clock.Advance(time.Second)
		send(e, s, "SET", "k", "v")
	}
	before := host.collections
	expectReply(t, send(e, s, "SET", "k", "v"), outOfMemory)
	expectReply(t, send(e, s, "SET", "k", "v"), outOfMemory)
	if n := host.collections - before; n != 0 {
		t.Errorf("%d collections at once after one that was asked for", n)
	}
	clock.Advance(time.Second)
	expectReply(t, send(e, s, "SET", "k", "v"), outOfMemory)
	if n := host.collections - before; n != 1 {
		t.Errorf("%d collections for a refused command", n)
	}
}

type measuredHost struct {
	nohost.Host
	size, live  int64
	collections int
}

func (h *measuredHost) Heap() (size, live int64) { return h.size, h.live }
func (h *measuredHost) Collect()                 { h.collections++ }

func TestMillionsOfKeysAreCountedInBatches(t *testing.T) {
	e := newTestEngine(expiry.NewManual(epoch))
	t.Cleanup(e.Close)
	const n = 3 * countBatch
	fillKeys(t, e, n)
	s, _ := connect(e)
	countAll := func() {
		for more := true; more; {
			e.Do(&Caller{}, func() { more = e.fireTimer() })
		}
	}
	expectReply(t, send(e, s, "CONFIG", "SET", "maxmemory", "1gb"), "+OK\r\n")
	first := e.env.Space.CountedBytes()
	if !e.timer.due(e.env.Space.Now()) {
		t.Fatal("the timer is not armed")
	}
	expectReply(t, send(e, s, "SET", "key:000000", "value"), "+OK\r\n")
	countAll()
	all := e.env.Space.CountedBytes()
	if all < 2*first || all%n != 0 || first == 0 || first%(all/n) != 0 {
		t.Fatalf("%d bytes, and %d of %d keys after some units of the timer", first, all, n)
	}
	expectReply(t, send(e, s, "CONFIG", "SET", "maxmemory", "0"), "+OK\r\n")
	expectReply(t, send(e, s, "CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory",
		fmt.Sprint(first)), "+OK\r\n")
	countAll()
	if used, left := e.env.Space.CountedBytes(), e.env.Space.DB(0).Len(); used > first || left < countBatch-200 {
		t.Errorf("%d keys of %d bytes are left, the limit is %d", left, used, first)
	}
	expectReply(t, send(e, s, "CONFIG", "SET", "maxmemory", "0"), "+OK\r\n")
	if e.timer.due(e.env.Space.Now()) || e.env.Space.CountedBytes() != 0 {
		t.Error("without maxmemory the timer is armed, or bytes are counted")
	}
}

func TestKeysThatAreEvictedDuringACollectionAreNotInUseBesideTheKeys(t *testing.T) {
	clock := expiry.NewManual(epoch)
	e := newTestEngine(clock) // the timer fires below only
	t.Cleanup(e.Close)
	host := &measuredHost{}
	e.env.Server = host
	fillKeys(t, e, 4000)
	s, _ := connect(e)
	const beside = 20_000
	collected := func(live int64) (left int) {
		t.Helper()
		host.live, host.size = live, live
		clock.Advance(10 * time.Millisecond)
		send(e, s, "GET", "none") // evicts keys and adds none
		for e.timer.due(e.env.Space.Now()) {
			e.Do(&Caller{}, func() { e.fireTimer() })
		}
		return e.env.Space.DB(0).Len()
	}
	expectReply(t, send(e, s, "CONFIG", "SET", "maxmemory-policy", "allkeys-random",
		"maxmemory-eviction-tenacity", "100", "maxmemory", "1gb"), "+OK\r\n")
	all := e.env.Space.CountedBytes()
	limit := all / 4
	expectReply(t, send(e, s, "CONFIG", "SET", "maxmemory", "0"), "+OK\r\n")
	host.live = beside
	expectReply(t, send(e, s, "CONFIG", "SET", "maxmemory", fmt.Sprint(limit)), "+OK\r\n")
	few := collected(beside)
	if left := collected(all + beside); left != few || few < 600 { // it began before the evictions
		t.Errorf("%d keys are left, then %d", few, left)
	}
	used := e.env.Space.CountedBytes()
	if used > limit || used < limit-beside-2000 {
		t.Errorf("keys of %d bytes are left, the limit is %d", used, limit)
	}
	for n := range int64(2 * restCollections) {
		few = collected(used + limit + n)
	}
	if few != 0 {
		t.Errorf("%d keys are left, although as much as maxmemory is in use beside them", few)
	}
}
