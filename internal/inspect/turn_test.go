package inspect_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/store"
)

// expectReplies sends the command lines and compares the replies.
func expectReplies(t testing.TB, c *wire.Conn, linesAndReplies ...string) {
	t.Helper()
	for i := 0; i < len(linesAndReplies); i += 2 {
		if got, want := ask(t, c, linesAndReplies[i]), linesAndReplies[i+1]; got != want {
			t.Errorf("%s:\n%s\nwant\n%s", linesAndReplies[i], got, want)
		}
	}
}

// message returns the next message of a subscriber: its channel and payload.
func message(t testing.TB, c *wire.Conn) string {
	t.Helper()
	v, err := c.Receive()
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, elem := range v.Elems {
		words = append(words, string(elem.Str))
	}
	return strings.Join(words, " ")
}

func TestTheClockCommandsAnswer(t *testing.T) {
	s := start(t)
	c := s.connect()
	const now = 1_700_000_000_000
	turned := func(at int64) string { return fmt.Sprintf(`{"now": %d, "ended": [], "woken": 0}`, at) }
	const (
		notInt     = "-ERR value is not an integer or out of range"
		positive   = "-ERR value is out of range, must be positive"
		outOfRange = "-ERR value is out of range"
		syntax     = "-ERR syntax error"
		arity      = "-ERR wrong number of arguments for '%s' command"
	)
	expectReplies(t, c,
		"HELLO 3", ask(t, c, "HELLO 3"),
		"CLOCK.NOW", "1700000000000",
		"CLOCK.ADVANCE 0", turned(now),
		"CLOCK.ADVANCE 1500", turned(now+1500),
		"CLOCK.ADVANCE 1 WAKE YES", turned(now+1501),
		"clock.advance 1 wake no", turned(now+1502),
		"CLOCK.NOW", "1700000001502",
		"CLOCK.SET 1", turned(1),
		"CLOCK.NOW", "1",
		"CLOCK.SET 1700000000000 WAKE NO", turned(now),
		"CLOCK.SET 9214646399999", turned(9214646399999),
		"CLOCK.ADVANCE 1", outOfRange,
		"CLOCK.SET 1700000000000", turned(now),
		"CLOCK.ADVANCE -1", positive,
		"CLOCK.ADVANCE 7514646400000", outOfRange,
		"CLOCK.ADVANCE 9223372036854775807", outOfRange,
		"CLOCK.ADVANCE 9223372036854775808", notInt,
		"CLOCK.ADVANCE 1.5", notInt,
		"CLOCK.ADVANCE x", notInt,
		"CLOCK.ADVANCE", fmt.Sprintf(arity, "clock.advance"),
		"CLOCK.ADVANCE 1 WAKE", syntax,
		"CLOCK.ADVANCE 1 WAKE MAYBE", syntax,
		"CLOCK.ADVANCE 1 WAKE NO WAKE", syntax,
		"CLOCK.ADVANCE 1 2", syntax,
		"CLOCK.SET 0", positive,
		"CLOCK.SET -5", positive,
		"CLOCK.SET 9214646400000", outOfRange,
		"CLOCK.SET 9223372036854775807", outOfRange,
		"CLOCK.SET", fmt.Sprintf(arity, "clock.set"),
		"CLOCK.RESET WAKE", syntax,
		"CLOCK.NOW 1", fmt.Sprintf(arity, "clock.now"),
		"CLOCK.NOW", "1700000000000",
		"EVAL \"return redis.pcall('CLOCK.ADVANCE', '1').err\" 0", `"ERR This Redis command is not allowed from script"`,
		"EVAL \"return redis.pcall('CLOCK.NOW').err\" 0", `"ERR This Redis command is not allowed from script"`,
		"MULTI", `"OK"`,
		"CLOCK.ADVANCE 1", "-ERR Command not allowed inside a transaction",
		"DISCARD", `"OK"`,
		"MULTI", `"OK"`,
		"CLOCK.NOW", `"QUEUED"`,
		"EXEC", "[1700000000000]",
		"HELLO 2", ask(t, c, "HELLO 2"),
		"CLOCK.ADVANCE 1", `["now", 1700000000001, "ended", [], "woken", 0]`,
	)
}

func TestResetTurnsTheClockToTheMachinesTime(t *testing.T) {
	s := start(t)
	c := s.connect()
	ask(t, c, "HELLO 3")
	for _, from := range []string{"1", "1700000000000", "9214646399999"} {
		ask(t, c, "CLOCK.SET "+from)
		before := time.Now().UnixMilli()
		ask(t, c, "CLOCK.RESET")
		after := time.Now().UnixMilli()
		if now, _ := strconv.ParseInt(ask(t, c, "CLOCK.NOW"), 10, 64); now < before || now > after {
			t.Errorf("from %s to %d, not between %d and %d", from, now, before, after)
		}
	}
}

func TestTheLockCommandsExplainThemselves(t *testing.T) {
	s := start(t)
	c := s.connect()
	for line, want := range map[string][]string{
		"CLOCK HELP": {"CLOCK.<command>", "ADVANCE <milliseconds> [WAKE <YES|NO>]", "NOW", "RESET [WAKE <YES|NO>]", "CLOCK HELP"},
		"lock help":  {"LOCK.<command>", "END <name> [<owner>]", "LEAKS [ALL]", "LIST [<pattern>]", "LOCK HELP"},
	} {
		got := ask(t, c, line)
		for _, part := range want {
			if !strings.Contains(got, `"`+part) {
				t.Errorf("%s: %q is missing in %s", line, part, got)
			}
		}
	}
	expectReplies(t, c, "LOCK NONE", "-ERR unknown subcommand 'NONE'. Try LOCK HELP.",
		"CLOCK", "-ERR wrong number of arguments for 'clock' command")
}

// subscribed returns a connection that is subscribed to a channel.
func (s *server) subscribed(command, channel string) *wire.Conn {
	s.t.Helper()
	c := s.connect()
	if _, err := c.Do(command, channel); err != nil {
		s.t.Fatal(err)
	}
	return c
}

func TestATurnWakesTheWaitersOfEachKindOfLock(t *testing.T) {
	permits := func(s *server) {
		s.do(0, "EVAL", `redis.call('set', KEYS[1], 2)
			redis.call('zadd', KEYS[2], ARGV[1], '0123456789abcdef', ARGV[1], 'fedcba9876543210')`,
			"3", "x", "{x}:timeout", "redisson_sc:{x}", strconv.FormatInt(epoch.UnixMilli()+1000, 10))
	}
	for _, row := range []struct {
		kind, channel, payloads string
		hold                    func(*server)
	}{
		{"lock", "redisson_lock__channel:{x}", "0", func(s *server) { s.lock(0, "x", alice, 1000, "") }},
		{"braced", "redisson_lock__channel:{a}x", "0", func(s *server) { s.lock(0, "{a}x", alice, 1000, "") }},
		{"fenced", "redisson_lock__channel:{x}", "0", func(s *server) {
			s.lock(0, "x", alice, 1000, "", "redisson_lock_token:{x}")
		}},
		{"fair", "redisson_lock__channel:{x}:" + bob, "0", func(s *server) {
			s.lock(0, "x", alice, 1000, "", "redisson_lock_queue:{x}")
			s.do(0, "RPUSH", "redisson_lock_queue:{x}", bob, alice)
		}},
		{"fair without a queue", "redisson_lock__channel:{x}", "0", func(s *server) {
			s.lock(0, "x", alice, 1000, "", "redisson_lock_queue:{x}")
		}},
		{"read", "redisson_rwlock:{x}", "0", func(s *server) {
			s.lock(0, "x", alice, 1000, "read")
			s.lock(0, "x", bob, 1000, "read")
		}},
		{"write", "redisson_rwlock:{x}", "1 0", func(s *server) { s.lock(0, "x", alice+":write", 1000, "write") }},
		{"permits", "redisson_sc:{x}", "4", permits},
	} {
		for _, how := range []struct{ subscribe, noun string }{{"SUBSCRIBE", "message"}, {"SSUBSCRIBE", "smessage"}} {
			t.Run(row.kind+" "+how.subscribe, func(t *testing.T) {
				s := start(t)
				waiter := s.subscribed(how.subscribe, row.channel)
				name := "x"
				if row.kind == "braced" {
					name = "{a}x"
				}
				row.hold(s)
				c := s.connect()
				ask(t, c, "HELLO 3")
				ask(t, c, "CLOCK.ADVANCE 999")
				expectReplies(t, c,
					"CLOCK.ADVANCE 1", fmt.Sprintf(`{"now": 1700000001000, "ended": ["%s"], "woken": 1}`, name),
					"CLOCK.ADVANCE 5000", `{"now": 1700000006000, "ended": [], "woken": 0}`)
				end := "PUBLISH "
				if how.subscribe == "SSUBSCRIBE" {
					end = "SPUBLISH "
				}
				ask(t, c, end+row.channel+" end")
				for _, payload := range append(strings.Fields(row.payloads), "end") {
					if got, want := message(t, waiter), how.noun+" "+row.channel+" "+payload; got != want {
						t.Fatalf("%q, want %q", got, want)
					}
				}
			})
		}
	}
}

func TestWithoutWakeATurnIsAsSilentAsRedis(t *testing.T) {
	s := start(t)
	waiter := s.subscribed("SUBSCRIBE", "redisson_lock__channel:{x}")
	c := s.connect()
	ask(t, c, "HELLO 3")
	s.lock(0, "x", alice, 1000, "")
	expectReplies(t, c, "CLOCK.ADVANCE 1000 WAKE NO", `{"now": 1700000001000, "ended": ["x"], "woken": 0}`)
	s.lock(0, "x", alice, 1000, "")
	s.clock.Set(epoch.Add(3 * time.Second)) // the lease ends by itself
	expectReplies(t, c, "CLOCK.ADVANCE 1000", `{"now": 1700000004000, "ended": [], "woken": 0}`,
		"PUBLISH redisson_lock__channel:{x} end", "1")
	if got := message(t, waiter); got != "message redisson_lock__channel:{x} end" {
		t.Errorf("%q", got)
	}
}

func TestATurnEndsEverythingInOrder(t *testing.T) {
	s := startWith(t, map[string]string{"enable-lock-commands": "yes", "notify-keyspace-events": "Ex"})
	events := s.subscribed("PSUBSCRIBE", "__key*")
	popper, pauser, c := s.connect(), s.connect(), s.connect()
	ask(t, c, "HELLO 3")
	s.lock(0, "late", alice, 3000, "")
	s.lock(1, "early", alice, 1000, "")
	s.do(0, "SET", "data", "1", "PX", "2000")
	if err := popper.Send("BLPOP", "list", "2.5"); err != nil {
		t.Fatal(err)
	}
	if err := popper.Send("SET", "woken", "1", "PX", "400"); err != nil { // at 2.5 s, until 2.9 s
		t.Fatal(err)
	}
	s.waitForClients(2)
	ask(t, pauser, "CLIENT PAUSE 1500 WRITE")
	expectReplies(t, c, "CLOCK.ADVANCE 10000", `{"now": 1700000010000, "ended": ["early", "late"], "woken": 0}`)
	for _, want := range []string{"1__:expired early", "0__:expired data", "0__:expired woken", "0__:expired late"} {
		if got := message(t, events); !strings.HasSuffix(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	for _, want := range []string{"nil", `"OK"`} {
		if v, err := popper.Receive(); err != nil || shown(v) != want {
			t.Errorf("%s, %v; want %s", shown(v), err, want)
		}
	}
}

func TestAClockThatIsSetBackMakesLeasesLonger(t *testing.T) {
	s := start(t)
	c := s.connect()
	ask(t, c, "HELLO 3")
	s.lock(0, "x", alice, 1000, "")
	expectReplies(t, c,
		"CLOCK.SET 1699999999000", `{"now": 1699999999000, "ended": [], "woken": 0}`,
		"PTTL x", "2000",
		"CLOCK.SET 1700000000999", `{"now": 1700000000999, "ended": [], "woken": 0}`,
		"PTTL x", "1",
		"CLOCK.SET 1", `{"now": 1, "ended": [], "woken": 0}`,
		"PTTL x", "1700000000999",
		"CLOCK.SET 1700000001000", `{"now": 1700000001000, "ended": ["x"], "woken": 0}`,
		"EXISTS x", "0")
}

func TestAYearWithManyLeasesIsShort(t *testing.T) {
	redistest.SkipWhenQuick(t)
	s := start(t)
	const leases, year = 100_000, 365 * 24 * time.Hour
	c := s.connect()
	ask(t, c, "HELLO 3")
	v, err := c.Do("EVAL", `for i = 1, ARGV[1] do
		redis.call('hset', 'l' .. i, ARGV[2], 1); redis.call('pexpire', 'l' .. i, i * ARGV[3]) end`,
		"0", strconv.Itoa(leases), alice, strconv.Itoa(int(year.Milliseconds())/leases))
	if err != nil || v.IsError() {
		t.Fatal(v, err)
	}
	began := time.Now()
	v, err = c.Do("CLOCK.ADVANCE", strconv.FormatInt(year.Milliseconds(), 10))
	if err != nil || len(v.Elems) != 6 || len(v.Elems[3].Elems) != leases || string(v.Elems[3].Elems[41].Str) != "l42" {
		t.Fatal(len(v.Elems), err)
	}
	t.Log(time.Since(began))
}

// now returns the server's time in Unix ms.
func now(t *testing.T, c *wire.Conn) int64 {
	t.Helper()
	at, err := strconv.ParseInt(ask(t, c, "CLOCK.NOW"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestARunningClockGoesOnFromWhereItWasPut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startReal(t)
		c := s.connect()
		ask(t, c, "HELLO 3")
		began := time.Now().UnixMilli()
		expect := func(want int64) {
			t.Helper()
			if got := now(t, c) - began; got != want {
				t.Errorf("%d ms since the start, want %d", got, want)
			}
		}
		s.lock(0, "x", alice, 10_000, "")
		ask(t, c, "CLOCK.ADVANCE 4000")
		expect(4000)
		time.Sleep(time.Second)
		expect(5000)
		expectReplies(t, c, "PTTL x", "5000")
		waiter := s.awaits("x FREE") // the lease ends by itself, at its own time
		time.Sleep(4999 * time.Millisecond)
		expectReplies(t, c, "EXISTS x", "1")
		time.Sleep(time.Millisecond)
		expectReply(t, waiter, `"OK"`)

		ask(t, c, "CLOCK.SET "+strconv.FormatInt(began-60_000, 10))
		expect(-60_000)
		waiter = s.awaits("x HELD TIMEOUT 2000")
		time.Sleep(2 * time.Second)
		expectReply(t, waiter, "nil")
		expect(-58_000)
		s.lock(0, "y", alice, 60_000, "")
		ends := strconv.FormatInt(began+8000, 10)
		expectReplies(t, c, "CLOCK.RESET", `{"now": `+ends+`, "ended": ["y"], "woken": 0}`)
		expect(8000)
		ask(t, c, "CLOCK.ADVANCE 31536000000")
		expectReplies(t, c, "CLOCK.RESET", `{"now": `+ends+`, "ended": [], "woken": 0}`)
		time.Sleep(time.Hour)
		expect(3_608_000)
		s.isConsistent()
	})
}

func TestServersOfOneProcessHaveClocksOfTheirOwn(t *testing.T) {
	const servers = 10
	var clients [servers]*wire.Conn
	for i := range clients {
		s := startReal(t)
		clients[i] = s.connect()
		s.lock(0, "x", alice, 3_600_000, "")
	}
	const hour = 3_600_000
	before := time.Now().UnixMilli()
	for i, c := range clients {
		ask(t, c, "CLOCK.ADVANCE "+strconv.Itoa(i*10*hour))
	}
	for i, c := range clients {
		if at := now(t, c) - int64(i*10*hour); at < before || at > before+10*hour {
			t.Errorf("server %d is %d ms off", i, at-before)
		}
		if got, want := ask(t, c, "EXISTS x"), map[bool]string{true: "1", false: "0"}[i == 0]; got != want {
			t.Errorf("server %d: %s, want %s", i, got, want)
		}
	}
}

func TestTurnsOfSeveralClientsFollowEachOther(t *testing.T) {
	s := start(t)
	const clients = 20
	var turning [clients]*wire.Conn
	for i := range turning {
		turning[i] = s.connect()
		s.lock(0, fmt.Sprint("l", i), alice, (i+1)*100, "")
	}
	for _, c := range turning {
		if err := c.Send("CLOCK.ADVANCE", "100"); err != nil {
			t.Fatal(err)
		}
	}
	ended := 0
	for _, c := range turning {
		v, err := c.Receive()
		if err != nil || len(v.Elems) != 6 {
			t.Fatal(shown(v), err)
		}
		ended += len(v.Elems[3].Elems)
	}
	if at := s.clock.Now().Sub(epoch); at != clients*100*time.Millisecond || ended != clients {
		t.Errorf("after %v %d leases have ended", at, ended)
	}
}

func TestATurnMovesNoStatisticOfTime(t *testing.T) {
	s := start(t)
	c := s.connect()
	ask(t, c, "CONFIG SET slowlog-log-slower-than 1000000")
	ask(t, c, "CLOCK.ADVANCE 31536000000")
	ask(t, c, "CLOCK.SET 1700000000000")
	expectReplies(t, c, "SLOWLOG LEN", "0")
}

// A client that left its turn, or that CLIENT UNBLOCK has ended, turns no further. So does Close: the
// turn has a deadline in each millisecond of 200 years.
func TestATurnEndsWithItsClient(t *testing.T) {
	for name, end := range map[string]func(s *server, c *wire.Conn, id string){
		"UNBLOCK": func(s *server, c *wire.Conn, id string) {
			expectReplies(s.t, s.connect(), "CLIENT UNBLOCK "+id, "1")
			expectReply(s.t, c, "nil")
		},
		"UNBLOCK ERROR": func(s *server, c *wire.Conn, id string) {
			expectReplies(s.t, s.connect(), "CLIENT UNBLOCK "+id+" ERROR", "1")
			expectReply(s.t, c, "-UNBLOCKED client unblocked via CLIENT UNBLOCK")
		},
		"disconnect": func(_ *server, c *wire.Conn, _ string) { c.Close() },
		"CLIENT KILL": func(s *server, _ *wire.Conn, id string) {
			expectReplies(s.t, s.connect(), "CLIENT KILL ID "+id, "1")
		},
		"Close": func(s *server, _ *wire.Conn, _ string) { s.srv.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s := startTicking(t)
			c := s.connect()
			id := ask(t, c, "CLIENT ID")
			if err := c.Send("CLOCK.SET", "8000000000000"); err != nil {
				t.Fatal(err)
			}
			s.waitForClients(1)
			end(s, c, id)
			if name == "Close" {
				return
			}
			expectReplies(t, s.connect(), "CLOCK.ADVANCE 0", ask(t, s.connect(), "CLOCK.ADVANCE 0"))
		})
	}
}

// startTicking starts a server with a key that ends in each millisecond.
func startTicking(t *testing.T) *server {
	t.Helper()
	var e *engine.Engine
	tick := func() {
		db := e.Env().Space.DB(0)
		db.SetDeadline(db.Set([]byte("tick"), store.ParseString([]byte("x"))), e.Env().Space.Now()+1)
	}
	s := startPrepared(t, map[string]string{"enable-lock-commands": "yes"}, func(inside backdoor.Inside) {
		e = inside.Engine.(*engine.Engine)
		e.ReadJournal(func(*journal.Entry) { tick() }, journal.KeyExpired)
	})
	e.Outside(tick)
	return s
}
