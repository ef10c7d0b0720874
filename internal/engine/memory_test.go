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
	expectReply(t, send(e, s, "CONFIG", "SET", "maxmemory", fmt.Sprint(command.StartupBytes+limit)), "+OK\r\n")
	if n := e.env.Space.DB(0).Len(); n != 1000 {
		t.Fatalf("CONFIG SET itself left %d keys", n)
	}
	if !e.timer.due(e.env.Space.Now()) {
		t.Fatal("the timer is not armed")
	}
	expectReply(t, send(e, s, "SET", "key", "value"), "+OK\r\n")
	if n := e.env.Space.DB(0).Len(); n == 1001 || n < 900 {
		t.Fatalf("SET left %d keys", n)
	}
	if e.env.Stats.Exceeded.Since == 0 {
		t.Error("maxmemory is exceeded, and INFO does not know since when")
	}
	units := 0
	for more := true; more; units++ {
		e.Do(&Caller{}, func() { more = e.timer.fire() })
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

func TestTheJournalSeesAnEvictionInTheUnitThatNeedsMemory(t *testing.T) {
	e, _, entries := journaled(t)
	s, _ := connect(e)
	send(e, s, "SET", "k", "v")
	send(e, s, "CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory", "1")
	entries()
	send(e, s, "GET", "k")
	got, want := entries(), "[ evicted:0:k get( ) ]"
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

// limited returns an engine with a maxmemory of 1 MB more than nothing takes. Its timer fires in a unit only.
func limited(t *testing.T) (*Engine, *expiry.Manual, *bufferHost, *command.Session) {
	clock := expiry.NewManual(epoch)
	e := newTestEngine(clock)
	t.Cleanup(e.Close)
	host := &bufferHost{}
	e.env.Server = host
	s, _ := connect(e)
	send(e, s, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru",
		"maxmemory", fmt.Sprint(command.StartupBytes+1<<20))
	return e, clock, host, s
}

// bufferHost has connections whose buffers take memory.
type bufferHost struct {
	nohost.Host
	buffers int64
}

func (h *bufferHost) Buffers() int64 { return h.buffers }

func TestBuffersThatTakeMoreThanMaxmemoryEvictAllKeys(t *testing.T) {
	e, clock, host, s := limited(t)
	fillKeys(t, e, 5000)
	host.buffers = 800 << 10
	clock.Advance(10 * time.Millisecond)
	expectReply(t, send(e, s, "SET", "k", "v"), "+OK\r\n")
	if left := e.env.Space.DB(0).Len(); left > 4000 || left < 1000 {
		t.Errorf("%d keys are left", left)
	}
	host.buffers = 2 << 20
	for range 100 {
		clock.Advance(10 * time.Millisecond)
		send(e, s, "GET", "k")
	}
	expectReply(t, send(e, s, "SET", "k", "v"), outOfMemory)
	if left := e.env.Space.DB(0).Len(); left != 0 {
		t.Errorf("%d keys are left", left)
	}
	if peak := e.memory.Peak(); peak < command.StartupBytes+host.buffers {
		t.Errorf("the peak is %d", peak)
	}
}

// Redis's own tests set a limit of 100 KB above what is in use.
func TestAFewHundredKilobytesAreALimit(t *testing.T) {
	for _, kilobytes := range []int64{100, 300, 900} {
		e, clock := newClocked(t)
		s, _ := connect(e)
		limit := e.memory.Used() + kilobytes<<10
		send(e, s, "CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory", fmt.Sprint(limit))
		for i := range 20_000 {
			clock.Advance(time.Microsecond)
			expectReply(t, send(e, s, "SET", fmt.Sprintf("key:%06d", i), "value"), "+OK\r\n")
		}
		if used := e.memory.Used(); used > limit+1000 || used < limit-1000 {
			t.Errorf("%d KB: %d bytes are in use, the limit is %d", kilobytes, used, limit)
		}
	}
}

// purgingHost is a host whose collection takes until the test ends it.
type purgingHost struct {
	nohost.Host
	began, end chan struct{}
}

func (h purgingHost) Purge() {
	h.began <- struct{}{}
	<-h.end
}

func TestAClientThatPurgesWaitsAndAScriptThatPurgesDoesNot(t *testing.T) {
	e, _ := newClocked(t)
	host := purgingHost{began: make(chan struct{}), end: make(chan struct{})}
	e.env.Server = host
	s, p := connect(e)
	other, _ := connect(e)
	expectReply(t, send(e, s, "MEMORY", "PURGE"), "")
	<-host.began
	expectReply(t, send(e, other, "PING"), "+PONG\r\n")
	host.end <- struct{}{}
	expectReply(t, p.await(t), "+OK\r\n")
	if info := send(e, other, "INFO", "commandstats"); !strings.Contains(info, "cmdstat_memory|purge:calls=1,") {
		t.Errorf("the call is not counted: %s", info)
	}
	expectReply(t, send(e, other, "EVAL", "return redis.call('MEMORY', 'PURGE')", "0"), "+OK\r\n")
	<-host.began
	host.end <- struct{}{}
}
