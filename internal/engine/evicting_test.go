package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
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

func TestOnlyWhatIsSurelyInUseBesideTheKeysCounts(t *testing.T) {
	e, clock := newClocked(t)
	host := &measuredHost{heap: command.Heap{Size: 9000, Live: 3000}}
	e.env.Server = host
	s, _ := connect(e)
	send(e, s, "CONFIG", "SET", "maxmemory", "4000")
	if host.collections == 0 {
		t.Error("no collection for a new limit")
	}
	expectReply(t, send(e, s, "SET", "k", "v"), "+OK\r\n")
	keys := e.env.Space.CountedBytes()
	check := func(live, sure, beside int64, want string) {
		t.Helper()
		host.found(live, sure)
		clock.Advance(10 * time.Millisecond)
		expectReply(t, send(e, s, "SET", "k", "v"), want)
		if used := e.memory.Used(); used != beside+keys {
			t.Errorf("%d bytes are in use beside the keys, want %d", used-keys, beside)
		}
	}
	check(3000+keys, 0, 3000, "+OK\r\n")
	check(9000, 1000, 3000, "+OK\r\n") // garbage
	check(9001, 3500+keys, 3500, "+OK\r\n")
	check(9000, 5000+keys, 5000, outOfMemory)
	check(3500+keys, 0, 3500, "+OK\r\n")
	host.buffers = 600
	check(4100+keys, 4000+keys, 4100, outOfMemory)
	host.buffers = 0
	check(4500+keys, 0, 3500, "+OK\r\n")
	host.collections++ // the engine has not begun this one
	check(9000, 8000, 3500, "+OK\r\n")
}

// limited returns an engine with a maxmemory of 1 MB. Its timer fires in a unit only.
func limited(t *testing.T) (*Engine, *expiry.Manual, *measuredHost, *command.Session) {
	clock := expiry.NewManual(epoch)
	e := newTestEngine(clock)
	t.Cleanup(e.Close)
	host := &measuredHost{}
	e.env.Server = host
	s, _ := connect(e)
	send(e, s, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory", "1mb")
	return e, clock, host, s
}

func TestAnOldFigureOfWhatIsBesideTheKeysEvictsNothing(t *testing.T) {
	for name, still := range map[string]bool{"gone": false, "in use": true} {
		t.Run(name, func(t *testing.T) {
			e, clock, host, s := limited(t)
			set := func(key string) (left int) {
				t.Helper()
				clock.Advance(10 * time.Millisecond)
				expectReply(t, send(e, s, "SET", key, strings.Repeat("x", 100<<10)), "+OK\r\n")
				return e.env.Space.DB(0).Len()
			}
			set("a")
			host.found(800<<10, 800<<10)
			set("b")
			host.found(900<<10, 900<<10)
			set("b")
			clock.Advance(2 * time.Second)
			before := host.collections
			for _, key := range []string{"c", "d", "e", "f"} {
				set(key)
			}
			if left := set("g"); left != 7 || host.collections == before {
				t.Errorf("%d keys are left before there was a collection, %d were asked for",
					left, host.collections-before)
			}
			live := e.env.Space.CountedBytes()
			if still {
				live += 700 << 10
			}
			host.found(live, live)
			if left, want := set("h"), map[bool]int{false: 8, true: 3}[still]; left != want {
				t.Errorf("%d keys are left, want %d", left, want)
			}
			clock.Advance(2 * time.Second)
			host.buffers = 2 << 20
			clock.Advance(10 * time.Millisecond)
			expectReply(t, send(e, s, "SET", "i", "v"), outOfMemory)
			if left := e.env.Space.DB(0).Len(); left != 0 {
				t.Errorf("%d keys are left, although buffers take more than maxmemory", left)
			}
		})
	}
}

func TestKeysThatAreGoneAreNotInUseUnderANewLimit(t *testing.T) {
	e, _ := newClocked(t)
	e.env.Server = &measuredHost{heap: command.Heap{Size: 90 << 20, Live: 80 << 20}}
	s, _ := connect(e)
	send(e, s, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory", "50mb")
	expectReply(t, send(e, s, "SET", "k", "v"), "+OK\r\n")
}

func TestARefusedCommandAsksForACollectionThatMayFindMemory(t *testing.T) {
	e, clock := newClocked(t)
	host := &measuredHost{heap: command.Heap{Size: 4200, Live: 3000}}
	e.env.Server = host
	s, _ := connect(e)
	send(e, s, "CONFIG", "SET", "maxmemory", "4000")
	host.found(4200, 4200)
	clock.Advance(10 * time.Millisecond)
	expectReply(t, send(e, s, "SET", "k", "v"), outOfMemory)
	before := host.collections
	expectReply(t, send(e, s, "SET", "k", "v"), outOfMemory)
	expectReply(t, send(e, s, "SET", "k", "v"), outOfMemory)
	if n := host.collections - before; n != 0 {
		t.Errorf("%d collections at once after one that was asked for", n)
	}
	clock.Advance(200 * time.Millisecond)
	expectReply(t, send(e, s, "SET", "k", "v"), outOfMemory)
	if n := host.collections - before; n != 1 {
		t.Errorf("%d collections for a refused command", n)
	}
}

type measuredHost struct {
	nohost.Host
	heap        command.Heap
	buffers     int64
	collections int64
}

func (h *measuredHost) Heap() command.Heap { return h.heap }
func (h *measuredHost) Buffers() int64     { return h.buffers }

func (h *measuredHost) Collect() (number int64) {
	h.collections++
	return h.collections
}

// found ends the last collection.
func (h *measuredHost) found(live, sure int64) {
	h.heap.Live = live
	h.heap.Collected = command.Collection{Number: h.collections, Live: live, Sure: sure}
}

func TestKeysAreEvictedForWhatTwoCollectionsHaveFound(t *testing.T) {
	for second, want := range map[int64]int{1 << 20: 0, 0: 1000} {
		e, clock, host, s := limited(t)
		fillKeys(t, e, 1000)
		keys := e.env.Space.CountedBytes()
		found := func(beside int64) (left int) {
			host.found(beside+keys, beside+keys)
			clock.Advance(10 * time.Millisecond)
			send(e, s, "GET", "none")
			return e.env.Space.DB(0).Len()
		}
		before := host.collections
		if left := found(1 << 20); left != 1000 || host.collections == before {
			t.Errorf("%d keys are left, %d collections were asked for", left, host.collections-before)
		}
		if due := e.memory.due(); due != e.env.Space.Now()+proofPause {
			t.Errorf("the timer looks again at %d, not at %d", due, e.env.Space.Now()+proofPause)
		}
		if left := found(second); left != want {
			t.Errorf("%d keys are left when %d bytes are found beside them, want %d", left, second, want)
		}
	}
}

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
	const beside = 10_000
	var limit int64
	collected := func(live int64) (left int) {
		t.Helper()
		host.heap.Size = max(live, 2*limit) // so that a collection is asked for
		host.found(live, live)
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
	limit = all / 4
	expectReply(t, send(e, s, "CONFIG", "SET", "maxmemory", "0"), "+OK\r\n")
	host.heap.Live = beside
	expectReply(t, send(e, s, "CONFIG", "SET", "maxmemory", fmt.Sprint(limit)), "+OK\r\n")
	few := collected(all + beside)
	if left := collected(all + beside + 1); left != few || few < 600 { // it began before the evictions
		t.Errorf("%d keys are left, then %d", few, left)
	}
	used := e.env.Space.CountedBytes()
	if used > limit || used < limit-beside-2000 {
		t.Errorf("keys of %d bytes are left, the limit is %d", used, limit)
	}
	collected(used + limit)
	collected(used + limit + 2)
	if few = collected(used + limit + 1); few != 0 {
		t.Errorf("%d keys are left, although as much as maxmemory is in use beside them", few)
	}
}
