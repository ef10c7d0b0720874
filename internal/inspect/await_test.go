package inspect_test

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/internal/inspect"
)

// awaits sends LOCK.AWAIT on a new connection and returns it when it is parked.
func (s *server) awaits(line string) *wire.Conn {
	s.t.Helper()
	c := s.connect()
	s.parks(c, line)
	return c
}

// parks sends LOCK.AWAIT and returns when the client is parked.
func (s *server) parks(c *wire.Conn, line string) {
	s.t.Helper()
	v, err := c.Do("CLIENT", "ID")
	if err == nil {
		err = c.Send(append([]string{"LOCK.AWAIT"}, strings.Fields(line)...)...)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	id, _ := strconv.ParseInt(string(v.Str), 10, 64)
	parked := func(c inspect.Client) bool { return c.ID == id && c.Wait != nil }
	for deadline := time.Now().Add(20 * time.Second); !slices.ContainsFunc(s.Inspector.Look().Clients, parked); {
		if time.Now().After(deadline) {
			s.t.Fatalf("LOCK.AWAIT %s does not wait", line)
		}
		runtime.Gosched()
	}
}

// expectReply receives the reply to a command that waited.
func expectReply(t testing.TB, c *wire.Conn, want string) {
	t.Helper()
	if v, err := c.Receive(); err != nil || shown(v) != want {
		t.Errorf("%s, %v; want %s", shown(v), err, want)
	}
}

func TestAwaitAnswersWhenTheLockHasTheState(t *testing.T) {
	const queue, timeouts = "redisson_lock_queue:{x}", "redisson_lock_timeout:{x}"
	permit := func(s *server) {
		s.do(0, "EVAL", `redis.call('set', KEYS[1], 0)
			redis.call('zadd', KEYS[2], ARGV[1], '0123456789abcdef')`,
			"3", "x", "{x}:timeout", "redisson_sc:{x}", strconv.FormatInt(epoch.UnixMilli()+1000, 10))
	}
	hold := func(s *server) { s.lock(0, "x", alice, 1000, "") }
	do := func(words ...string) func(*server) { return func(s *server) { s.do(0, words...) } }
	nothing := func(*server) {}
	for i, row := range []struct {
		before func(*server)
		line   string
		then   func(*server)
	}{
		{nothing, "x HELD", hold},
		{nothing, "x HELD", permit},
		{nothing, "x held owner " + alice, hold},
		{nothing, "x HELD TIMEOUT 5000", func(s *server) { ask(s.t, s.connect(), "SET x 6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11 NX PX 5") }},
		{func(s *server) { s.lock(0, "x", alice, 0, "read") }, "x HELD OWNER " + bob,
			func(s *server) { s.lock(0, "x", bob, 0, "read") }},
		{func(s *server) { s.lock(0, "y", alice, 0, "") }, "x HELD", do("RENAME", "y", "x")},
		{func(s *server) { s.lock(1, "x", alice, 0, "") }, "x HELD", do("SWAPDB", "0", "1")},
		{hold, "x FREE", do("DEL", "x")},
		{hold, "x FREE", do("HDEL", "x", alice)},
		{hold, "x FREE", do("FLUSHALL")},
		{hold, "x FREE", do("SET", "x", "data")},
		{hold, "x FREE", do("RENAME", "x", "y")},
		{hold, "x FREE", do("PEXPIRE", "x", "0")},
		{hold, "x FREE", func(s *server) { ask(s.t, s.connect(), "LOCK.END x") }},
		{hold, "x FREE", func(s *server) { ask(s.t, s.connect(), "CLOCK.ADVANCE 1000") }},
		{hold, "x FREE", func(s *server) { s.clock.Set(epoch.Add(time.Second)) }},
		{func(s *server) { hold(s); s.do(0, "DEBUG", "SET-ACTIVE-EXPIRE", "0") }, "x FREE",
			func(s *server) { s.clock.Set(epoch.Add(time.Second)) }},
		{permit, "x FREE", func(s *server) { s.clock.Set(epoch.Add(time.Second)) }},
		{permit, "x FREE", do("ZREM", "{x}:timeout", "0123456789abcdef")},
		{func(s *server) { s.lock(0, "x", alice, 0, "read"); s.lock(0, "x", bob, 0, "read") },
			"x FREE OWNER " + bob, do("HDEL", "x", bob)},
		{hold, "x WAITERS 1", func(s *server) { s.subscribed("SUBSCRIBE", "redisson_lock__channel:{x}") }},
		{hold, "x WAITERS 2", func(s *server) {
			s.subscribed("SSUBSCRIBE", "redisson_lock__channel:{x}")
			s.subscribed("SUBSCRIBE", "redisson_lock__channel:{x}")
		}},
		{nothing, "x WAITERS 1", func(s *server) { s.subscribed("SUBSCRIBE", "redisson_sc:{x}") }},
		{hold, "x WAITERS 2", do("RPUSH", queue, alice, bob)},
		{hold, "x WAITERS 1 OWNER " + bob, do("ZADD", timeouts, "1", bob)},
		{func(s *server) { s.do(0, "RPUSH", queue, alice) }, "x WAITERS 0", do("LPOP", queue)},
	} {
		t.Run(fmt.Sprint(i, " ", row.line), func(t *testing.T) {
			s := startWith(t, map[string]string{"enable-lock-commands": "yes", "enable-debug-command": "yes"})
			row.before(s)
			c := s.awaits(row.line)
			s.lock(0, "other", alice, 0, "")
			s.subscribed("SUBSCRIBE", "news")
			row.then(s)
			expectReply(t, c, `"OK"`)
			expectReplies(t, c, "LOCK.AWAIT "+row.line, `"OK"`)
			s.isConsistent()
		})
	}
}

// isConsistent checks the engine's state. No client waits any more.
func (s *server) isConsistent() {
	s.t.Helper()
	e := s.Engine.(*engine.Engine)
	e.Outside(func() {
		if err := e.Check(); err != nil {
			s.t.Error(err)
		}
		if n := e.Env().Parking.Waiting(); n != 0 || e.Env().PubSub.Changed != nil {
			s.t.Errorf("%d clients wait; someone hears of subscriptions: %v", n, e.Env().PubSub.Changed != nil)
		}
	})
}

func TestAwaitSeesASubscriberLeave(t *testing.T) {
	s := start(t)
	first := s.subscribed("SUBSCRIBE", "redisson_lock__channel:{x}")
	second := s.subscribed("SUBSCRIBE", "redisson_lock__channel:{x}")
	c := s.awaits("x WAITERS 0")
	first.Close()
	if err := second.Send("UNSUBSCRIBE"); err != nil {
		t.Fatal(err)
	}
	expectReply(t, c, `"OK"`)
	s.isConsistent()
}

func TestAwaitEndsAsABlockingCommandDoes(t *testing.T) {
	s := start(t)
	c := s.connect()
	expectReplies(t, c,
		"MULTI", `"OK"`, "LOCK.AWAIT x HELD", `"QUEUED"`, "LOCK.AWAIT x FREE", `"QUEUED"`, "EXEC", `[nil, "OK"]`)
	id := ask(t, c, "CLIENT ID")
	other := s.connect()

	s.parks(c, "x HELD TIMEOUT 1500")
	if list := ask(t, other, "CLIENT LIST ID "+id); !strings.Contains(list, " flags=b ") || !strings.Contains(list, " cmd=lock.await ") {
		t.Error(list)
	}
	if info := ask(t, other, "INFO clients"); !strings.Contains(info, "blocked_clients:1") {
		t.Error(info)
	}
	s.clock.Set(epoch.Add(1499 * time.Millisecond))
	if n := len(s.Inspector.Look().Clients); n != 1 {
		t.Errorf("%d clients wait before the timeout", n)
	}
	s.clock.Set(epoch.Add(1500 * time.Millisecond))
	expectReply(t, c, "nil")

	s.parks(c, "x HELD")
	expectReplies(t, other, "CLIENT UNBLOCK "+id, "1", "CLIENT UNBLOCK "+id, "0")
	expectReply(t, c, "nil")

	s.parks(c, "x HELD TIMEOUT 0")
	expectReplies(t, other, "CLIENT UNBLOCK "+id+" ERROR", "1")
	expectReply(t, c, "-UNBLOCKED client unblocked via CLIENT UNBLOCK")

	expectReplies(t, other, "CLIENT PAUSE 1000 ALL", `"OK"`)
	if err := c.Send("LOCK.AWAIT", "x", "FREE"); err != nil {
		t.Fatal(err)
	}
	s.clock.Set(epoch.Add(2500 * time.Millisecond))
	expectReply(t, c, `"OK"`)

	s.parks(c, "x HELD")
	c.Close()
	for deadline := time.Now().Add(20 * time.Second); len(s.Inspector.Look().Clients) > 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the client waits although it has left")
		}
	}
	s.isConsistent()
}

func TestAwaitRefusesWrongArguments(t *testing.T) {
	s := start(t)
	const (
		syntax   = "-ERR syntax error"
		notInt   = "-ERR value is not an integer or out of range"
		positive = "-ERR value is out of range, must be positive"
	)
	expectReplies(t, s.connect(),
		"LOCK.AWAIT x", "-ERR wrong number of arguments for 'lock.await' command",
		"LOCK.AWAIT x TAKEN", syntax,
		"LOCK.AWAIT x WAITERS", syntax,
		"LOCK.AWAIT x WAITERS one", notInt,
		"LOCK.AWAIT x WAITERS -1", positive,
		"LOCK.AWAIT x WAITERS 9223372036854775808", notInt,
		"LOCK.AWAIT x HELD OWNER", syntax,
		"LOCK.AWAIT x HELD 1", syntax,
		"LOCK.AWAIT x HELD TIMEOUT", syntax,
		"LOCK.AWAIT x HELD TIMEOUT -1", "-ERR timeout is negative",
		"LOCK.AWAIT x HELD TIMEOUT x", "-ERR timeout is not an integer or out of range",
		"LOCK.AWAIT x HELD OWNER a TIMEOUT 1 MORE", syntax,
		"LOCK.AWAIT x FREE TIMEOUT 9223372036854775807 OWNER a", `"OK"`,
		"LOCK.AWAIT x WAITERS 0", `"OK"`,
		"EVAL \"return redis.pcall('LOCK.AWAIT', 'x', 'FREE').err\" 0", `"ERR This Redis command is not allowed from script"`,
	)
}

func TestAnAwaitOfOneLockDoesNotWakeAClientThatPops(t *testing.T) {
	s := start(t)
	popper := s.connect()
	if err := popper.Send("BLPOP", "x", "0"); err != nil {
		t.Fatal(err)
	}
	s.waitForClients(1)
	c := s.awaits("x HELD")
	s.lock(0, "x", alice, 0, "")
	expectReply(t, c, `"OK"`)
	if left := s.Inspector.Look().Clients; len(left) != 1 || left[0].Wait == nil {
		t.Errorf("%+v", left)
	}
}

// startReal starts a server on the machine's clock.
func startReal(t testing.TB) *server {
	t.Helper()
	srv := lockredis.New(lockredis.Config{NoSocket: true, Directives: map[string]string{"enable-lock-commands": "yes"}})
	inside := backdoor.Open(srv)
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return &server{t: t, Inside: inside, srv: srv}
}

func TestCloseEndsTheWaitsForLocksAndClocks(t *testing.T) {
	s := startReal(t)
	c := s.awaits("x HELD TIMEOUT 3600000")
	s.awaits("x WAITERS 3")
	if err := s.srv.Close(); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Receive(); err == nil {
		t.Error(shown(v))
	}
}

// One client acquires the lock when it is free, the other one ends the lease when it is held. A change
// that wakes no waiter stops both.
func TestAwaitMissesNoChange(t *testing.T) {
	s := startReal(t)
	const rounds = 300
	holder, ender := s.connect(), s.connect()
	failed := make(chan error, 1)
	go func() {
		for range rounds {
			for _, line := range [][]string{{"LOCK.AWAIT", "x", "HELD"}, {"LOCK.END", "x"}} {
				if _, err := ender.Do(line...); err != nil {
					failed <- err
					return
				}
			}
		}
		failed <- nil
	}()
	for range rounds {
		take(t, holder, "x", alice, "60000", "")
		expectReplies(t, holder, "LOCK.AWAIT x FREE", `"OK"`)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	s.isConsistent()
}
