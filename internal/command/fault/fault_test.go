package fault_test

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/engine"
)

func TestALostRequestDoesNotRunAndALostReplysCommandDoes(t *testing.T) {
	s := start(t)
	s.kits(":1\r\n", "FAULT.ADD lose-request COMMAND incr NTH 2")
	s.kits(":2\r\n", "FAULT.ADD lose-reply COMMAND incr NTH 3")
	c := s.dial()
	c.says(":1\r\n", "INCR n")
	c.says("+PONG\r\n", "PING")
	c.send("INCR n")
	c.ended()
	c = s.dial()
	c.says(":2\r\n", "INCR n")
	c.send("INCR n")
	c.ended()
	s.dial().says(":4\r\n", "INCR n")
}

func TestAFailedRequestAnswersWithTheError(t *testing.T) {
	s := start(t)
	s.kits(":1\r\n", "FAULT.ADD fail-request TIMES 2 ERROR 'OOM command not allowed'")
	c := s.dial()
	for range 2 {
		c.says("-OOM command not allowed\r\n", "SET k v")
	}
	c.says("$-1\r\n", "GET k")
	s.kits(":2\r\n", "FAULT.ADD fail-request NTH 2 TIMES 9223372036854775807 ERROR 'ERR again'")
	c.says("$-1\r\n", "GET k")
	for range 2 {
		c.says("-ERR again\r\n", "GET k")
	}
	if hits := s.field(1, "hits"); hits != "2" {
		t.Errorf("%s hits", hits)
	}
}

func TestAHeldRequestRunsWhenItIsReleased(t *testing.T) {
	s := start(t)
	s.kits(":1\r\n", "FAULT.ADD hold-request KEY 'order?' TIMES ALWAYS")
	clients := make([]client, 3)
	for i := range clients {
		clients[i] = s.dial()
		clients[i].says("$-1\r\n", "GET other")
		clients[i].send("APPEND orders " + strings.Repeat("x", i+1))
		s.holds(1, i+1)
	}
	s.kits("$-1\r\n", "GET orders")
	s.kits(":1\r\n", "FAULT.RELEASE 1 1")
	clients[0].hears(":1\r\n")
	s.holds(1, 2)
	s.kits(":2\r\n", "FAULT.RELEASE 1")
	clients[1].hears(":3\r\n")
	clients[2].hears(":6\r\n")
	s.kits(":0\r\n", "FAULT.RELEASE 1")
}

// Many connections share few event loops. Released requests run in the order in which they came.
func TestReleasedRequestsKeepTheirOrder(t *testing.T) {
	s := start(t)
	s.kits(":1\r\n", "FAULT.ADD hold-request COMMAND rpush TIMES ALWAYS")
	var want strings.Builder
	want.WriteString("*60\r\n")
	clients := make([]client, 60)
	for i := range clients {
		word := string(rune('A' + i))
		clients[i] = s.dial()
		clients[i].send("RPUSH list " + word)
		s.holds(1, i+1)
		want.WriteString("$1\r\n" + word + "\r\n")
	}
	s.kits(":1\r\n", "FAULT.REMOVE 1")
	for _, c := range clients {
		if _, err := c.Receive(); err != nil {
			t.Fatal(err)
		}
	}
	s.kits(want.String(), "LRANGE list 0 -1")
}

func TestARequestThatIsHeldForATimeRunsAfterIt(t *testing.T) {
	s := start(t)
	s.kits(":1\r\n", "FAULT.ADD hold-request FOR 20")
	s.kits(":2\r\n", "FAULT.ADD delay-reply COMMAND get FOR 20")
	c := s.dial()
	c.says("+OK\r\n", "SET k v")
	c.says("$1\r\nv\r\n", "GET k")
	if s.field(1, "hits")+s.field(2, "hits") != "11" {
		t.Error(s.list())
	}
}

func TestAHeldRequestRunsThoughItsClientHasLeft(t *testing.T) {
	for _, line := range []string{"FAULT.RELEASE 1", "FAULT.REMOVE 1", "FAULT.CLEAR", "by a client"} {
		s := start(t)
		s.kits(":1\r\n", "FAULT.ADD hold-request COMMAND incr")
		c := s.dial()
		c.send("INCR n")
		c.send("INCR n")
		s.holds(1, 1)
		c.Close()
		s.awaits("the client leaves", func() bool { return s.connections() == 0 })
		s.kits("$-1\r\n", "GET n")
		if line == "by a client" {
			s.reset()
		} else {
			s.kits(":1\r\n", line)
		}
		s.awaits("both requests have run", func() bool { return s.kit("GET n") == "$1\r\n2\r\n" })
	}
}

func TestOutputIsMutedDelayedOrRepeated(t *testing.T) {
	s := start(t)
	s.kits(":1\r\n", "FAULT.ADD mute COMMAND set KEY muted")
	s.kits(":2\r\n", "FAULT.ADD delay-reply COMMAND set KEY delayed")
	s.kits(":3\r\n", "FAULT.ADD duplicate-reply COMMAND set KEY twice")
	muted, delayed, twice := s.dial(), s.dial(), s.dial()
	muted.send("SET muted 1")
	muted.send("SET also 1")
	delayed.send("SET delayed 1")
	delayed.send("PING")
	s.holds(2, 1)
	s.awaits("the muted connection's commands run", func() bool { return s.kit("EXISTS muted also delayed") == ":3\r\n" })
	twice.says("+OK\r\n", "SET twice 1")
	twice.hears("+OK\r\n")
	twice.says("+PONG\r\n", "PING")
	delayed.silent()
	s.kits(":3\r\n", "FAULT.CLEAR")
	delayed.hears("+OK\r\n")
	delayed.hears("+PONG\r\n")
	muted.silent()
}

func TestMessagesAreDroppedOrDelayed(t *testing.T) {
	s := start(t)
	fast, slow := s.dial(), s.dial()
	slow.says("+OK\r\n", "CLIENT SETNAME slow")
	for _, c := range []client{fast, slow} {
		c.says("*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n", "SUBSCRIBE news")
	}
	s.kits(":1\r\n", "FAULT.ADD drop-message CHANNEL n* TIMES 2")
	s.kits(":2\r\n", "FAULT.ADD delay-message CHANNEL news CLIENT slow")
	message := func(text string) string { return "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$1\r\n" + text + "\r\n" }
	for _, text := range []string{"a", "b", "c"} {
		s.kits(":2\r\n", "PUBLISH news "+text)
	}
	fast.hears(message("b"))
	fast.hears(message("c"))
	slow.silent()
	s.holds(2, 1)
	s.kits(":1\r\n", "FAULT.RELEASE 2")
	slow.hears(message("b"))
	slow.hears(message("c"))
}

func TestAClientIsMeantByItsNameOrItsID(t *testing.T) {
	s := start(t)
	named, numbered, other := s.dial(), s.dial(), s.dial()
	named.says("+OK\r\n", "CLIENT SETNAME orders")
	numbered.send("CLIENT ID")
	id, err := numbered.Receive()
	if err != nil {
		t.Fatal(err)
	}
	s.kits(":1\r\n", "FAULT.ADD fail-request CLIENT orders ERROR 'ERR by name'")
	s.kits(":2\r\n", "FAULT.ADD fail-request CLIENT "+strings.Trim(string(id.Raw), ":\r\n")+" ERROR 'ERR by id'")
	other.says("+PONG\r\n", "PING")
	named.says("-ERR by name\r\n", "PING")
	numbered.says("-ERR by id\r\n", "PING")
}

// A request in MULTI is the command as it is sent, or EXEC. What EXEC runs is no request.
func TestFaultsOfTransactions(t *testing.T) {
	s := start(t)
	c := s.dial()
	s.kits(":1\r\n", "FAULT.ADD fail-request COMMAND incr ERROR 'ERR on purpose'")
	c.says("+OK\r\n", "MULTI")
	c.says("-ERR on purpose\r\n", "INCR n")
	c.says("+QUEUED\r\n", "INCR n")
	c.says("-EXECABORT Transaction discarded because of previous errors.\r\n", "EXEC")
	s.kits("$-1\r\n", "GET n")

	s.kits(":2\r\n", "FAULT.ADD hold-request COMMAND exec")
	c.says("+OK\r\n", "MULTI")
	c.says("+QUEUED\r\n", "INCR n")
	c.send("EXEC")
	s.holds(2, 1)
	s.kits("$-1\r\n", "GET n")
	s.kits(":1\r\n", "FAULT.RELEASE 2")
	c.hears("*1\r\n:1\r\n")

	s.kits(":3\r\n", "FAULT.ADD lose-reply COMMAND exec")
	c.says("+OK\r\n", "MULTI")
	c.says("+QUEUED\r\n", "INCR n")
	c.send("EXEC")
	c.ended()
	s.kits("$1\r\n2\r\n", "GET n")

	c = s.dial()
	s.kits(":4\r\n", "FAULT.ADD lose-request COMMAND incr")
	c.says("+OK\r\n", "MULTI")
	c.says("+QUEUED\r\n", "SET n 7")
	c.send("INCR n")
	c.ended()
	s.kits("$1\r\n2\r\n", "GET n")
}

func TestAHeldTransactionOfAClientThatHasLeftRuns(t *testing.T) {
	s := start(t)
	s.kits(":1\r\n", "FAULT.ADD hold-request COMMAND exec")
	c := s.dial()
	c.says("+OK\r\n", "MULTI")
	c.says("+QUEUED\r\n", "INCR n")
	c.send("EXEC")
	s.holds(1, 1)
	c.Close()
	s.awaits("the client leaves", func() bool { return s.connections() == 0 })
	s.kits(":1\r\n", "FAULT.REMOVE 1")
	s.awaits("EXEC runs", func() bool { return s.kit("GET n") == "$1\r\n1\r\n" })
}

func TestScriptsAreMeantByTheirSHAOrTheirSource(t *testing.T) {
	s := start(t)
	c := s.dial()
	const sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db" // of return 1
	c.says("$40\r\n"+sha+"\r\n", "SCRIPT LOAD 'return 1'")
	s.kits(":1\r\n", "FAULT.ADD fail-request SCRIPT "+strings.ToUpper(sha)+" TIMES 2 ERROR 'ERR by sha'")
	s.kits(":2\r\n", "FAULT.ADD fail-request COMMAND evalsha SCRIPT CONTAINS 'turn 1' TIMES ALWAYS ERROR 'ERR by text'")
	c.says(":2\r\n", "EVAL 'return 2' 0")
	c.says("-ERR by sha\r\n", "EVALSHA "+sha+" 0")
	c.says("-ERR by sha\r\n", "EVAL 'return 1' 0")
	c.says(":1\r\n", "EVAL 'return 1' 0")
	c.says("-ERR by text\r\n", "EVALSHA "+strings.ToUpper(sha)+" 0")
	c.says("-NOSCRIPT No matching script. Please use EVAL.\r\n", "EVALSHA "+strings.Repeat("0", 40)+" 0")
}

func TestFaultsOfBlockingCommands(t *testing.T) {
	s := start(t)
	c := s.dial()
	s.kits(":1\r\n", "FAULT.ADD hold-request COMMAND blpop")
	c.send("BLPOP list 0")
	s.holds(1, 1)
	s.kits(":1\r\n", "RPUSH list a")
	s.kits(":1\r\n", "FAULT.RELEASE 1")
	c.hears("*2\r\n$4\r\nlist\r\n$1\r\na\r\n")

	waits := func(n string) {
		s.awaits(n+" clients wait", func() bool { return strings.Contains(s.kit("INFO clients"), "blocked_clients:"+n+"\r\n") })
	}
	s.kits(":2\r\n", "FAULT.ADD hold-request COMMAND blpop")
	c.send("BLPOP list 0")
	s.holds(2, 1)
	s.kits(":1\r\n", "FAULT.RELEASE 2")
	waits("1")
	s.kits(":1\r\n", "RPUSH list b")
	c.hears("*2\r\n$4\r\nlist\r\n$1\r\nb\r\n")

	s.kits(":3\r\n", "FAULT.ADD lose-reply COMMAND blpop")
	c.send("BLPOP list 0")
	waits("1")
	s.kits(":1\r\n", "RPUSH list c")
	c.ended()
	s.kits(":0\r\n", "LLEN list")

	c = s.dial()
	s.kits(":4\r\n", "FAULT.ADD delay-reply COMMAND blpop")
	c.send("BLPOP list 0")
	waits("1")
	s.kits(":1\r\n", "RPUSH list d")
	s.holds(4, 1)
	c.silent()
	s.kits(":1\r\n", "FAULT.RELEASE 4")
	c.hears("*2\r\n$4\r\nlist\r\n$1\r\nd\r\n")

	s.kits(":5\r\n", "FAULT.ADD hold-request COMMAND blpop")
	c.send("BLPOP list 0")
	s.holds(5, 1)
	c.Close()
	s.awaits("the client leaves", func() bool { return s.connections() == 0 })
	s.kits(":1\r\n", "RPUSH list e")
	s.kits(":1\r\n", "FAULT.RELEASE 5")
	s.awaits("the late command takes the element", func() bool { return s.kit("EXISTS list") == ":0\r\n" })
}

// Redisson's unlock, in short: KEYS[1] is the lock, a hash of owners.
const unlock = "if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end; " +
	"redis.call('del', KEYS[1]); redis.call('publish', KEYS[2], 0); return 1"

func TestALeaseEndsBeforeTheCommandOfItsHolder(t *testing.T) {
	s := start(t)
	s.kits("+OK\r\n", "CONFIG SET notify-keyspace-events KEA")
	c, events := s.dial(), s.dial()
	events.says("*3\r\n$9\r\nsubscribe\r\n$22\r\n__keyevent@0__:expired\r\n:1\r\n", "SUBSCRIBE __keyevent@0__:expired")
	s.kits(":1\r\n", "FAULT.ADD end-lease SCRIPT CONTAINS hexists KEY orders")
	run := func(want string) {
		c.t.Helper()
		if err := c.Send("EVAL", unlock, "2", "orders", "channel", "owner"); err != nil {
			t.Fatal(err)
		}
		c.hears(want)
	}
	run("$-1\r\n") // no lock: there is no lease to end
	c.says(":1\r\n", "HSET orders owner 1")
	run(":1\r\n") // a lock without a lease has none to end, either
	c.says(":1\r\n", "HSET orders owner 1")
	c.says(":1\r\n", "PEXPIRE orders 100000")
	run("$-1\r\n")
	events.hears("*3\r\n$7\r\nmessage\r\n$22\r\n__keyevent@0__:expired\r\n$6\r\norders\r\n")
	s.kits(":0\r\n", "EXISTS orders")
	if info := s.kit("INFO stats"); !strings.Contains(info, "expired_keys:1\r\n") {
		t.Error("INFO does not count the key as expired")
	}
	if s.field(1, "hits") != "1" {
		t.Error(s.list())
	}
}

// While a script runs, other clients are refused. Their requests end no lease under the script.
func TestALeaseDoesNotEndInTheMiddleOfAScript(t *testing.T) {
	s := start(t)
	s.kits("+OK\r\n", "CONFIG SET busy-reply-threshold 1")
	s.kits("+OK\r\n", "SET lock owner PX 100000")
	s.kits(":1\r\n", "FAULT.ADD end-lease COMMAND get")
	script, c := s.dial(), s.dial()
	if err := script.Send("EVAL", "while redis.call('EXISTS', KEYS[1]) == 1 do end return 'the lease has ended'", "1", "lock"); err != nil {
		t.Fatal(err)
	}
	s.awaits("the script is busy", func() bool {
		got, err := c.Do("PING")
		return err != nil || strings.HasPrefix(string(got.Raw), "-BUSY")
	})
	for range 10 {
		if got, err := c.Do("GET", "lock"); err != nil || !strings.HasPrefix(string(got.Raw), "-BUSY") {
			t.Fatalf("GET: %q, %v", got.Raw, err)
		}
	}
	c.says("+OK\r\n", "SCRIPT KILL")
	if got, err := script.Receive(); err != nil || !strings.HasPrefix(string(got.Raw), "-ERR Error running script") && !strings.Contains(string(got.Raw), "killed") {
		t.Errorf("the script: %q, %v", got.Raw, err)
	}
	c.says("$-1\r\n", "GET lock")
}

func TestALeaseThatEndsInATransactionAbortsItIfTheKeyIsWatched(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.says("+OK\r\n", "SET lock owner PX 100000")
	c.says("+OK\r\n", "WATCH lock")
	c.says("+OK\r\n", "MULTI")
	s.kits(":1\r\n", "FAULT.ADD end-lease COMMAND del")
	c.says("+QUEUED\r\n", "DEL lock")
	s.kits(":0\r\n", "EXISTS lock")
	c.says("*-1\r\n", "EXEC")
}

func TestAStoppedServerAnswersAllWhenItGoesOn(t *testing.T) {
	for _, end := range []string{"FAULT.RELEASE 1", "FAULT.REMOVE 1", "FAULT.CLEAR", "CONTROL RESET", "the time"} {
		t.Run(end, func(t *testing.T) {
			s := start(t)
			c, waiter, sub := s.dial(), s.dial(), s.dial()
			sub.says("*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n", "SUBSCRIBE news")
			c.says("+OK\r\n", "SET k v")
			waiter.send("BLPOP list 0")
			s.awaits("a client waits", func() bool { return strings.Contains(s.kit("INFO clients"), "blocked_clients:1\r\n") })
			length := "100000000"
			if end == "the time" {
				length = "50"
			}
			s.kits(":1\r\n", "FAULT.ADD stop COMMAND get NTH 2 FOR "+length)
			c.says("$1\r\nv\r\n", "GET k")
			c.send("GET k")
			if end != "the time" {
				s.holds(1, 1)
				later := s.dial()
				later.send("SET k later")
				left := s.dial()
				left.send("INCR n")
				s.holds(1, 3)
				left.Close()
				s.awaits("the client leaves", func() bool { return s.connections() == 4 })
				s.kits(":1\r\n", "RPUSH list a")
				s.kits(":1\r\n", "PUBLISH news hello")
				s.kits("$1\r\nv\r\n", "GET k")
				for _, quiet := range []client{c, waiter, sub, later} {
					quiet.silent()
				}
				switch end {
				case "CONTROL RESET":
					if err := s.reset(); err != nil {
						t.Error(err)
					}
				case "FAULT.RELEASE 1":
					s.kits(":3\r\n", end)
				default:
					s.kits(":1\r\n", end)
				}
				later.hears("+OK\r\n")
				waiter.hears("*2\r\n$4\r\nlist\r\n$1\r\na\r\n")
				sub.hears("*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n")
				s.awaits("a request of a client that left runs", func() bool { return s.kit("GET n") == "$1\r\n1\r\n" })
			}
			c.hears("$1\r\nv\r\n")
			c.says("+PONG\r\n", "PING")
		})
	}
}

// After a stop the other rules see the requests that it delayed, once.
func TestAStopDelaysWhatOtherFaultsHit(t *testing.T) {
	s := start(t)
	s.kits(":1\r\n", "FAULT.ADD stop COMMAND ping FOR 100000000")
	s.kits(":2\r\n", "FAULT.ADD fail-request COMMAND get ERROR 'ERR on purpose'")
	s.kits(":3\r\n", "FAULT.ADD hold-request COMMAND set")
	s.kits(":4\r\n", "FAULT.ADD duplicate-reply COMMAND ping")
	ping, get, set := s.dial(), s.dial(), s.dial()
	set.send("SET k v")
	s.holds(3, 1)
	ping.send("PING")
	s.holds(1, 1)
	get.send("GET k")
	s.holds(1, 2)
	s.kits(":1\r\n", "FAULT.RELEASE 3")
	s.holds(1, 3)
	s.kits("$-1\r\n", "GET k")
	s.kits(":3\r\n", "FAULT.RELEASE 1")
	ping.hears("+PONG\r\n")
	ping.hears("+PONG\r\n")
	get.hears("-ERR on purpose\r\n")
	set.hears("+OK\r\n")
	for id, hits := range map[int]string{1: "1", 2: "1", 3: "1", 4: "1"} {
		if got := s.field(id, "hits"); got != hits {
			t.Errorf("fault %d has hit %s times, want %s", id, got, hits)
		}
	}
}

// CLIENT PAUSE postpones what a fault has let go, and the end of the pause runs it.
func TestAPauseAfterAFaultPostponesTheRequestUntilItEnds(t *testing.T) {
	for _, kind := range []string{"hold-request COMMAND set", "stop COMMAND set FOR 100000000", "delay-reply COMMAND set"} {
		s := start(t)
		admin, c := s.dial(), s.dial()
		admin.says("+PONG\r\n", "PING")
		s.kits(":1\r\n", "FAULT.ADD "+kind)
		if strings.HasPrefix(kind, "delay") {
			admin.says("+OK\r\n", "CLIENT PAUSE 100000000 WRITE")
			c.send("SET k v")
			c.silent()
			s.kits("$-1\r\n", "GET k")
		} else {
			c.send("SET k v")
			s.holds(1, 1)
			s.inside.Engine.(*engine.Engine).Outside(func() {
				s.inside.Engine.(*engine.Engine).Env().Pausing.Pause(1<<60, true)
			})
		}
		s.kit("FAULT.RELEASE 1")
		c.silent()
		s.kits("$-1\r\n", "GET k")
		admin.says("+OK\r\n", "CLIENT UNPAUSE")
		if strings.HasPrefix(kind, "delay") {
			s.holds(1, 1)
			s.kits(":1\r\n", "FAULT.CLEAR")
		}
		c.hears("+OK\r\n")
		s.kits("$1\r\nv\r\n", "GET k")
	}
}
