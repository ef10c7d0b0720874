package inspect_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestAMultiLockOverAGroupOfValuesHasHolders(t *testing.T) {
	s := start(t)
	c := s.connect()
	take := func(value, owner string, until time.Duration) {
		t.Helper()
		expect(t, c, "EVAL", `redis.call('hset', KEYS[1], ARGV[1], ARGV[2],
			ARGV[1] .. ':' .. ARGV[2] .. ':expire_time', ARGV[3])
			redis.call('hincrby', KEYS[1], ARGV[1] .. ':' .. ARGV[2] .. ':lock_count', 1)
			return redis.call('pexpire', KEYS[1], 60000)`,
			"1", "group", value, owner, strconv.FormatInt(epoch.Add(until).UnixMilli(), 10))("1")
	}
	take("v1", alice, 30*time.Second)
	s.clock.Set(epoch.Add(time.Second))
	take("v2", alice, 40*time.Second)
	take("v2", alice, 40*time.Second)
	take("v3", bob, 2*time.Second)
	want := []string{"multi group in 0: held by " + bob + " held by " + alice}
	if got := s.rows(c); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Error(got)
	}
	s.clock.Set(epoch.Add(3 * time.Second)) // bob's time is over
	l := s.Inspector.Look().Locks
	if len(l) != 1 || len(l[0].Holders) != 1 {
		t.Fatalf("%+v", l)
	}
	h := l[0].Holders[0]
	if h.Owner != alice || h.Count != 2 || h.Since != epoch.UnixMilli() || h.By.Addr != "pipe:1" ||
		h.Deadline != epoch.Add(40*time.Second).UnixMilli() {
		t.Errorf("%+v", h)
	}
	expect(t, c, "EVAL", "return redis.call('hset', KEYS[1], 'v4', 'data')", "1", "group")("1")
	if got := s.rows(c); len(got) != 0 {
		t.Error("a group with other data is a lock: ", got)
	}
}

func TestAClientInWAITWaitsForNoKey(t *testing.T) {
	s := start(t)
	waiter := s.connect()
	if err := waiter.Send("WAIT", "1", "0"); err != nil {
		t.Fatal(err)
	}
	s.waitForClients(1)
	got := ask(t, s.connect(), "LOCK.LEAKS")
	if !strings.Contains(got, `"client pipe:1 waits in WAIT"]`) {
		t.Error(got)
	}
}

func TestALeakOfAReadWriteLockTellsHowItIsHeld(t *testing.T) {
	s := start(t)
	c := s.connect()
	take(t, c, "a", alice+":write", "0", "write")
	take(t, c, "a", alice, "0", "")
	got := ask(t, c, "LOCK.LEAKS")
	for _, kind := range []string{"read", "write"} {
		if !strings.Contains(got, kind+` lock \"a\" is held by `+alice+", hold count 1, for ever") {
			t.Error(kind, got)
		}
	}
}

func TestTheLocksOfATransactionAreLeaks(t *testing.T) {
	const hex = "f954f95e55a95552a3f3b39a6ae3f13f"
	for id, valid := range map[string]bool{
		hex:               true,
		alice[:36]:        true, // in early versions of Redisson
		hex + "0":         false,
		hex[1:]:           false,
		"g" + hex[1:]:     false,
		hex + ":" + hex:   false,
		"-" + alice[:35]:  false,
		alice[:36] + ":1": false,
	} {
		s := start(t)
		c := s.connect()
		owner := alice + ":" + id
		take(t, c, "plain", owner, "0", "")
		take(t, c, "rw", owner+":write", "0", "write")
		got := ask(t, c, "LOCK.LEAKS")
		for _, lock := range []string{`lock \"plain\"`, `write lock \"rw\"`} {
			if strings.Contains(got, lock+" is held by "+owner+", hold count 1") != valid {
				t.Errorf("%s: %s: %s", id, lock, got)
			}
		}
	}
}

func TestAnyBytesMayBeALocksName(t *testing.T) {
	s := start(t)
	c := s.connect()
	names := []string{"", "\x00", "\xff\xfe", "a\r\nb", "{", "}", "{}", "}{", "*", "[a-", "\\", "☃",
		strings.Repeat("x", 1<<20), "redisson_lock_queue:{a}", "redisson_lock_queue:", "p:timeout"}
	for _, name := range names {
		take(t, c, name, alice, "30000", "")
	}
	if got := s.rows(c); len(got) != len(names) {
		t.Errorf("%d locks of %d: %.2000q", len(got), len(names), got)
	}
	if got := len(s.Inspector.Look().Locks); got != len(names) {
		t.Errorf("%d locks of %d", got, len(names))
	}
	for pattern, want := range map[string]int{
		"*": len(names), "": 1, "\xff*": 1, "\\*": 1, "[a-": 0, "\x00": 1, "a\r\n?": 1, "x*": 1,
		"[^\x00-\x7f]*": 2, strings.Repeat("x", 1<<20): 1, strings.Repeat("*x", 1000) + "*": 1,
		strings.Repeat("*y", 1000): 0,
	} {
		v, err := c.Do("LOCK.LIST", pattern)
		if err != nil || len(v.Elems) != want {
			t.Errorf("%.20q: %d locks, want %d; %v", pattern, len(v.Elems), want, err)
		}
	}
	if v, err := c.Do("LOCK.LEAKS"); err != nil || len(v.Elems) != len(names) {
		t.Error(len(v.Elems), err)
	}
}

func TestLocksInAllDatabases(t *testing.T) {
	s := start(t)
	c := s.connect()
	for db := range 16 {
		ask(t, c, fmt.Sprint("SELECT ", db))
		take(t, c, "a", alice, "30000", "")
	}
	for db, row := range s.rows(c) {
		if want := fmt.Sprintf("lock a in %d: held by %s", db, alice); row != want {
			t.Errorf("%s, want %s", row, want)
		}
	}
	ask(t, c, "SWAPDB 3 4")
	ask(t, c, "RENAME a b") // in 15
	ask(t, c, "SELECT 3")
	ask(t, c, "FLUSHDB")
	if got := s.rows(c); len(got) != 15 || got[14] != "lock b in 15: held by "+alice {
		t.Error(got)
	}
	ask(t, c, "FLUSHALL ASYNC")
	if got := s.rows(c); len(got) != 0 {
		t.Error(got)
	}
}

// The timer is off, so that the keys are due when the command runs.
func TestALockMayExpireDuringTheCall(t *testing.T) {
	s := startWith(t, map[string]string{
		"enable-lock-commands": "yes", "enable-debug-command": "yes", "notify-keyspace-events": "Ex",
	})
	c := s.connect()
	ask(t, c, "DEBUG SET-ACTIVE-EXPIRE 0")
	for i := range 100 {
		take(t, c, fmt.Sprint("due:", i), alice, "1000", "")
		take(t, c, fmt.Sprint("live:", i), alice, "9000", "")
		queue := fmt.Sprintf("redisson_lock_queue:{fair:%d}", i)
		timeouts := fmt.Sprintf("redisson_lock_timeout:{fair:%d}", i)
		expect(t, c, "RPUSH", queue, bob)("1") // not by a script, so only the list shows it
		expect(t, c, "ZADD", timeouts, "9e14", bob)("1")
		expect(t, c, "PEXPIRE", timeouts, "1000")("1")
	}
	s.clock.Set(epoch.Add(2 * time.Second))
	fair, live := 0, 0
	for _, row := range s.rows(c) {
		switch {
		case strings.HasPrefix(row, "fair fair:"):
			fair++
		case strings.HasPrefix(row, "lock live:"):
			live++
		default:
			t.Error(row)
		}
	}
	if fair != 100 || live != 100 {
		t.Errorf("%d fair locks and %d plain locks", fair, live)
	}
}
