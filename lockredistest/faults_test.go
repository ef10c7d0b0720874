package lockredistest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/lockredistest"
)

// overEach runs a test over a connection in memory and over a socket.
func overEach(
	t *testing.T, test func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn),
) {
	for name, dial := range map[string]func(*lockredistest.Server) (net.Conn, error){
		"memory": func(srv *lockredistest.Server) (net.Conn, error) {
			return srv.Dial(context.Background(), "", "")
		},
		"socket": func(srv *lockredistest.Server) (net.Conn, error) {
			return net.Dial("tcp", srv.Addr())
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := lockredistest.RunT(t)
			test(t, srv, func() *wire.Conn {
				nc, err := dial(srv)
				if err != nil {
					t.Fatal(err)
				}
				c := wire.NewConn(nc)
				c.SetTimeout(10 * time.Second)
				t.Cleanup(func() { c.Close() })
				return c
			})
		})
	}
}

// connections waits until n connections are open.
func connections(t *testing.T, srv *lockredistest.Server, n int) {
	t.Helper()
	eventually(t, fmt.Sprint(n, " connections are open"), func() bool {
		return srv.CurrentConnectionCount() == n
	})
}

// says sends a command and compares the reply.
func says(t *testing.T, c *wire.Conn, want string, command ...string) {
	t.Helper()
	v, err := c.Do(command...)
	if err != nil || string(v.Raw) != want {
		t.Fatalf("%q: %q, %v; want %q", command, v.Raw, err, want)
	}
}

// receives receives a reply and compares it.
func receives(t *testing.T, c *wire.Conn, want string) {
	t.Helper()
	if v, err := c.Receive(); err != nil || string(v.Raw) != want {
		t.Fatalf("%q, %v; want %q", v.Raw, err, want)
	}
}

// ended checks that the server has closed a connection.
func ended(t *testing.T, c *wire.Conn) {
	t.Helper()
	v, err := c.Receive()
	var timeout net.Error
	if err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatalf("%q, %v; want the end of the connection", v.Raw, err)
	}
}

// silent checks that nothing comes from a connection for a moment.
func silent(t *testing.T, c *wire.Conn) {
	t.Helper()
	c.SetTimeout(20 * time.Millisecond)
	defer c.SetTimeout(10 * time.Second)
	if v, err := c.Receive(); err == nil {
		t.Fatalf("received %q", v.Raw)
	}
}

func TestALostReplyRunsTheCommandAndClosesTheConnection(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		f := srv.LoseReply(lockredistest.Match{Command: "INCR", Nth: 2})
		c := dial()
		says(t, c, ":1\r\n", "INCR", "n")
		c.Send("PING")
		c.Send("INCR", "n")
		receives(t, c, "+PONG\r\n")
		ended(t, c)
		says(t, dial(), ":3\r\n", "INCR", "n")
		if f.Hits() != 1 {
			t.Error(f.Hits())
		}
	})
}

func TestTheReplyOfATransactionIsLostAsAWhole(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		srv.LoseReply(lockredistest.Match{Command: "exec"})
		c := dial()
		c.SendAll([]string{"MULTI"}, []string{"INCR", "n"}, []string{"EXEC"})
		receives(t, c, "+OK\r\n")
		receives(t, c, "+QUEUED\r\n")
		ended(t, c)
		if n, _ := srv.Get("n"); n != "1" {
			t.Error(n)
		}
	})
}

func TestTheReplyOfABlockingCommandIsLostWhenItIsServed(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		srv.LoseReply(lockredistest.Match{Command: "blpop"})
		c := dial()
		c.Send("BLPOP", "q", "0")
		parked(t, srv, "1")
		srv.Push("q", "lost")
		ended(t, c)
		if srv.Exists("q") {
			t.Error("the element is still there")
		}
	})
}

func TestALostRequestDoesNotRun(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		srv.LoseRequest(lockredistest.Match{Key: "k"})
		c := dial()
		says(t, c, "+OK\r\n", "SET", "other", "v")
		c.Send("SET", "k", "v")
		ended(t, c)
		if srv.Exists("k") {
			t.Error("the command ran")
		}
	})
}

func TestAMutedConnectionStaysOpenAndItsCommandsRun(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		f := srv.Mute(lockredistest.Match{Command: "get"})
		c := dial()
		c.Send("GET", "k")
		c.Send("SET", "k", "v")
		eventually(t, "SET has run", func() bool { return srv.Exists("k") })
		f.Clear()
		silent(t, c)
		if open := srv.CurrentConnectionCount(); open != 1 {
			t.Errorf("%d connections", open)
		}
	})
}

func TestADelayedReplyHoldsBackTheRepliesBehindIt(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		f := srv.DelayReply(lockredistest.Match{Command: "incr", Times: 2}, 0)
		c := dial()
		for range 3 {
			c.Send("INCR", "n")
		}
		eventually(t, "all have run", func() bool { n, _ := srv.Get("n"); return n == "3" })
		says(t, dial(), "+PONG\r\n", "PING") // another connection
		silent(t, c)
		if f.Held() != 2 {
			t.Errorf("%d replies are held back", f.Held())
		}
		f.Release()
		for i := range 3 {
			receives(t, c, fmt.Sprintf(":%d\r\n", i+1))
		}
		says(t, c, ":4\r\n", "INCR", "n")
	})
}

func TestADuplicatedReplyIsSentTwice(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		srv.DuplicateReply(lockredistest.Match{Command: "incr"})
		c := dial()
		says(t, c, ":1\r\n", "INCR", "n")
		receives(t, c, ":1\r\n")
		says(t, c, ":2\r\n", "INCR", "n")
	})
}

func TestAHeldRequestRunsWhenItIsReleased(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		f := srv.HoldRequest(lockredistest.Match{Command: "set"}, 0)
		c := dial()
		c.Send("SET", "k", "first")
		c.Send("SET", "k", "second")
		if err := f.Wait(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		silent(t, c)
		if srv.Exists("k") {
			t.Fatal("the command ran")
		}
		f.Release()
		receives(t, c, "+OK\r\n")
		receives(t, c, "+OK\r\n")
		if v, _ := srv.Get("k"); v != "second" || f.Held() != 0 {
			t.Error(v, f.Held())
		}
	})
}

func TestAHeldRequestRunsThoughItsClientHasLeft(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		srv.DB(3).Set("watched", "v")
		f := srv.HoldRequest(lockredistest.Match{Command: "multi"}, 0)
		c := dial()
		says(t, c, "+OK\r\n", "SELECT", "3")
		says(t, c, "+OK\r\n", "WATCH", "watched")
		c.SendAll([]string{"MULTI"}, []string{"INCR", "n"}, []string{"EXEC"}, []string{"INCR", "m"},
			[]string{"BLPOP", "q", "0"}, []string{"INCR", "never"})
		if err := f.Wait(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		c.Close()
		connections(t, srv, 0)
		f.Release()
		db := srv.DB(3)
		if n, _ := db.Get("n"); n != "1" {
			t.Errorf("n is %q", n)
		}
		if m, _ := db.Get("m"); m != "1" || db.Exists("never") {
			t.Errorf("m is %q, keys are %q", m, db.Keys())
		}
		if info, _ := srv.Do("INFO", "clients"); !strings.Contains(info.(string), "blocked_clients:0\r") {
			t.Error(info)
		}
	})
}

func TestAHeldTransactionNoticesAChangeOfAWatchedKey(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		f := srv.HoldRequest(lockredistest.Match{Command: "multi"}, 0)
		c := dial()
		says(t, c, "+OK\r\n", "WATCH", "watched")
		c.SendAll([]string{"MULTI"}, []string{"INCR", "n"}, []string{"EXEC"})
		f.Wait(t.Context(), 1)
		c.Close()
		connections(t, srv, 0)
		srv.Set("watched", "changed")
		f.Release()
		if srv.Exists("n") {
			t.Error("the transaction ran")
		}
	})
}

func TestHeldRequestsAreDeliveredInOrder(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		f := srv.HoldRequest(lockredistest.Match{Command: "rpush", Times: lockredistest.Always}, 0)
		var want []string
		for i := range 20 {
			want = append(want, fmt.Sprint(i))
			c := dial()
			c.Send("RPUSH", "l", fmt.Sprint(i))
			f.Wait(t.Context(), i+1)
			if i%3 == 0 {
				c.Close()
			}
		}
		f.Clear()
		if got, _ := srv.List("l"); !slices.Equal(got, want) {
			t.Error(got)
		}
	})
}

func TestAClosedConnectionOfTheServersLosesItsHeldRequest(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		f := srv.HoldRequest(lockredistest.Match{Command: "set"}, 0)
		c := dial()
		c.Send("SET", "k", "v")
		f.Wait(t.Context(), 1)
		if n := srv.Cut(lockredistest.Connections{}); n != 1 {
			t.Fatal(n)
		}
		ended(t, c)
		f.Release()
		if srv.Exists("k") {
			t.Error("the command ran")
		}
	})
}

func TestDelaysLastAsLongAsGivenInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		rdb := srv.Client()
		srv.DelayReply(lockredistest.Match{Command: "get"}, 300*time.Millisecond)
		srv.HoldRequest(lockredistest.Match{Command: "set"}, 200*time.Millisecond)
		for command, want := range map[string]time.Duration{
			"get k": 300 * time.Millisecond, "set k v": 200 * time.Millisecond, "exists k": 0,
		} {
			start := time.Now()
			args := []any{}
			for word := range strings.FieldsSeq(command) {
				args = append(args, word)
			}
			rdb.Do(t.Context(), args...)
			if d := time.Since(start); d != want {
				t.Errorf("%s took %v", command, d)
			}
		}
	})
}

// The client stops waiting, but its request still takes the lock. TCP does the same when it
// sends a lost packet again.
func TestALateRequestRunsAfterItsClientLostPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.AllowLeaks())
		o := srv.Options()
		o.ContextTimeoutEnabled, o.MaxRetries = true, -1
		rdb := redis.NewClient(o)
		defer rdb.Close()
		rdb.Ping(t.Context())
		srv.HoldRequest(lockredistest.Match{Script: "hincrby"}, 210*time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := lock.Eval(ctx, rdb, []string{"orders"}, 30000, alice, "").Err()
		if err == nil {
			t.Fatal("the held request was answered")
		}
		if len(srv.Locks()) != 0 {
			t.Fatal("too early")
		}
		time.Sleep(200 * time.Millisecond)
		if got := locks(srv); !slices.Equal(got, []string{"lock orders"}) {
			t.Fatal(got)
		}
	})
}

func TestAMessageIsDropped(t *testing.T) {
	srv := lockredistest.RunT(t)
	next := listen(t, srv, "*")
	f := srv.DropMessage(lockredistest.MessageMatch{Channel: "new?", Nth: 2, Times: 2})
	for i := range 5 {
		if n := srv.Publish("news", fmt.Sprint(i)); n != 1 {
			t.Errorf("%d receivers", n)
		}
		srv.Publish("other", fmt.Sprint(i))
	}
	for _, want := range []string{"news 0", "other 0", "other 1", "other 2", "news 3"} {
		if got := next(); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	if f.Hits() != 2 {
		t.Error(f.Hits())
	}
}

func TestAMessageIsDelayedForOneSubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		slow, fast := srv.Client().Conn(), listen(t, srv, "news")
		defer slow.Close()
		slow.ClientSetName(t.Context(), "slow")
		srv.DelayMessage(lockredistest.MessageMatch{Client: "slow"}, time.Second)
		nc, _ := srv.Dial(t.Context(), "", "")
		c := wire.NewConn(nc)
		defer c.Close()
		c.Do("CLIENT", "SETNAME", "slow")
		c.Do("SUBSCRIBE", "news")
		start := time.Now()
		srv.Publish("news", "hello")
		if got := fast(); got != "news hello" || time.Since(start) != 0 {
			t.Error(got, time.Since(start))
		}
		c.Receive()
		if d := time.Since(start); d != time.Second {
			t.Error(d)
		}
	})
}

func TestAHangingServerAnswersAllWhenItContinues(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		sub, c := dial(), dial()
		sub.Do("SUBSCRIBE", "news")
		f := srv.Hang()
		later := dial()
		c.Send("SET", "k", "v")
		later.Send("GET", "k")
		f.Wait(t.Context(), 2)
		srv.Publish("news", "hello")
		for _, quiet := range []*wire.Conn{c, later, sub} {
			silent(t, quiet)
		}
		f.Clear()
		receives(t, c, "+OK\r\n")
		receives(t, sub, "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n")
		if _, err := later.Receive(); err != nil {
			t.Error(err)
		}
	})
}

func TestMatchFieldsMustAllFit(t *testing.T) {
	srv := lockredistest.RunT(t)
	rdb := srv.Client().Conn()
	defer rdb.Close()
	ctx := t.Context()
	rdb.ClientSetName(ctx, "orders")
	script := redis.NewScript("return redis.call('set', KEYS[1], 'v') -- marked")
	script.Load(ctx, rdb)
	rdb.FunctionLoad(ctx, "#!lua name=lib\nredis.register_function('f', function() return 1 end) -- called")
	for _, c := range []struct {
		match lockredistest.Match
		hits  int
	}{
		{lockredistest.Match{}, 7},
		{lockredistest.Match{Command: "Set"}, 1},
		{lockredistest.Match{Command: "client"}, 1},
		{lockredistest.Match{Command: "CLIENT ID"}, 1},
		{lockredistest.Match{Command: "nonsense"}, 1},
		{lockredistest.Match{Key: "k"}, 3},
		{lockredistest.Match{Key: "v"}, 0},
		{lockredistest.Match{Client: "orders"}, 7},
		{lockredistest.Match{Client: "others"}, 0},
		{lockredistest.Match{Script: "marked"}, 1},
		{lockredistest.Match{Script: "called"}, 1},
		{lockredistest.Match{Command: "fcall", Key: "k", Script: "register_function"}, 1},
		{lockredistest.Match{Script: "unknown"}, 0},
		{lockredistest.Match{Command: "evalsha", Key: "k", Client: "orders", Script: "marked"}, 1},
		{lockredistest.Match{Command: "evalsha", Key: "other"}, 1},
		{lockredistest.Match{If: func(r lockredistest.Request) bool {
			return r.Command == "set" && r.DB == 0 && slices.Equal(r.Args, []string{"set", "k", "v"})
		}}, 1},
	} {
		c.match.Times = lockredistest.Always
		f := srv.DelayReply(c.match, time.Nanosecond)
		rdb.Set(ctx, "k", "v", 0)
		rdb.ClientID(ctx)
		rdb.Do(ctx, "nonsense")
		rdb.EvalSha(ctx, script.Hash(), []string{"k"})
		rdb.EvalSha(ctx, strings.Repeat("0", 40), []string{"other"})
		rdb.FCall(ctx, "f", []string{"k"})
		rdb.FCall(ctx, "nosuch", nil)
		if f.Hits() != c.hits {
			t.Errorf("%+v: %d hits, want %d", c.match, f.Hits(), c.hits)
		}
		f.Clear()
	}
}

func TestTheFaultThatWasSetFirstHits(t *testing.T) {
	srv := lockredistest.RunT(t)
	rdb := srv.Client()
	first := srv.FailRequest(lockredistest.Match{Command: "get", Nth: 2}, "ERR first")
	second := srv.FailRequest(lockredistest.Match{Command: "get", Times: 2}, "ERR second")
	reply := srv.DelayReply(lockredistest.Match{Command: "get"}, time.Nanosecond)
	for i, want := range []string{"ERR second", "ERR first", "ERR second", "redis: nil"} {
		if err := rdb.Get(t.Context(), "k").Err(); err.Error() != want {
			t.Errorf("%d: %v, want %s", i, err, want)
		}
	}
	if first.Hits() != 1 || second.Hits() != 2 || reply.Hits() != 1 {
		t.Error(first.Hits(), second.Hits(), reply.Hits())
	}
}

func TestClearFaultsEndsAll(t *testing.T) {
	srv := lockredistest.RunT(t)
	rdb := srv.Client()
	srv.Hang()
	srv.SetError("ERR no")
	srv.FailRequest(lockredistest.Match{Times: lockredistest.Always}, "ERR not now")
	srv.ClearFaults()
	srv.ClearFaults()
	if err := rdb.Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}

func TestWaitReturnsItsContextsError(t *testing.T) {
	srv := lockredistest.RunT(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := srv.Hang().Wait(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAFaultThatHoldsSomethingBackDoesNotKeepTheTestFromEnding(t *testing.T) {
	rec := &recorder{TB: t}
	srv := lockredistest.RunT(rec)
	f := srv.HoldRequest(lockredistest.Match{Command: "set", Times: 2}, time.Hour)
	g := srv.DelayReply(lockredistest.Match{Command: "get"}, time.Hour)
	for _, line := range []string{"SET k v\r\n", "GET k\r\n", "SET k v\r\n"} {
		nc, err := srv.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		nc.Write([]byte(line))
		defer nc.Close()
	}
	f.Wait(t.Context(), 2)
	g.Wait(t.Context(), 1)
	if text := rec.end(); text != "" {
		t.Error(text)
	}
}

func TestServersDoNotShareFaults(t *testing.T) {
	var servers []*lockredistest.Server
	for range 10 {
		servers = append(servers, lockredistest.RunT(t))
	}
	f := servers[3].FailRequest(lockredistest.Match{Times: lockredistest.Always}, "ERR three")
	servers[4].SetError("ERR four")
	for i, srv := range servers {
		err := srv.Client().Ping(t.Context()).Err()
		if (i == 3 || i == 4) != (err != nil) {
			t.Error(i, err)
		}
		if n := srv.CommandCounts()["ping"]; n < 1 {
			t.Error(i, n)
		}
	}
	if f.Hits() == 0 {
		t.Error("no hit")
	}
}

func TestSetErrorFailsAllOrNamedCommands(t *testing.T) {
	srv := lockredistest.RunT(t)
	rdb := srv.Client()
	outcome := func() string {
		get, set := rdb.Get(t.Context(), "k").Err(), rdb.Set(t.Context(), "k", "v", 0).Err()
		return fmt.Sprint(get, ", ", set)
	}
	srv.Set("k", "v")
	for _, c := range []struct {
		text     string
		commands []string
		want     string
	}{
		{"ERR one", []string{"get", "del"}, "ERR one, <nil>"},
		{"ERR other", []string{"GET"}, "ERR other, <nil>"},
		{"", []string{"set"}, "ERR other, <nil>"},
		{"", []string{"get"}, "<nil>, <nil>"},
		{"OOM all", nil, "OOM all, OOM all"},
		{"OOM more", nil, "OOM more, OOM more"},
		{"", nil, "<nil>, <nil>"},
	} {
		if srv.SetError(c.text, c.commands...); outcome() != c.want {
			t.Errorf("after SetError(%q, %q): %s, want %s", c.text, c.commands, outcome(), c.want)
		}
		if v, err := srv.Get("k"); v != "v" || err != nil {
			t.Error("Get of the test:", v, err)
		}
	}
}

func TestCutClosesSelectedConnections(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		plain, named, sub := dial(), dial(), dial()
		plain.Do("PING")
		named.Do("CLIENT", "SETNAME", "n")
		sub.Do("SUBSCRIBE", "c")
		for _, c := range []struct {
			which lockredistest.Connections
			conn  *wire.Conn
		}{
			{lockredistest.Connections{Client: "n"}, named},
			{lockredistest.Connections{Subscribed: true}, sub},
			{lockredistest.Connections{}, plain},
		} {
			if n := srv.Cut(c.which); n != 1 {
				t.Errorf("%+v: %d connections", c.which, n)
			}
			ended(t, c.conn)
		}
	})
}

func TestASilencedConnectionStaysOpenAndItsCommandsRun(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		named, sub, other := dial(), dial(), dial()
		named.Do("CLIENT", "SETNAME", "n")
		sub.Do("SUBSCRIBE", "c")
		other.Do("PING")
		for _, which := range []lockredistest.Connections{{Client: "n"}, {Subscribed: true}} {
			if n := srv.Silence(which); n != 1 {
				t.Errorf("%+v: %d connections", which, n)
			}
		}
		named.Send("SET", "k", "v")
		srv.Publish("c", "hello")
		silent(t, named)
		silent(t, sub)
		says(t, other, "$1\r\nv\r\n", "GET", "k")
		says(t, dial(), "+PONG\r\n", "PING")
		if n := srv.CurrentConnectionCount(); n != 4 {
			t.Errorf("%d connections are open", n)
		}
	})
}

func TestRestartKeepsKeysAndDropsConnectionsAndScripts(t *testing.T) {
	overEach(t, func(t *testing.T, srv *lockredistest.Server, dial func() *wire.Conn) {
		addr := srv.Addr()
		c := dial()
		says(t, c, "+OK\r\n", "SET", "k", "v")
		says(t, c, "$40\r\ne0e1f9fabfc9d4800c877a703b823ac0578ff8db\r\n", "SCRIPT", "LOAD", "return 1")
		if err := srv.Restart(); err != nil {
			t.Fatal(err)
		}
		ended(t, c)
		c = dial()
		says(t, c, "$1\r\nv\r\n", "GET", "k")
		says(t, c, "*1\r\n:0\r\n", "SCRIPT", "EXISTS", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db")
		if srv.Addr() != addr {
			t.Errorf("%s, before %s", srv.Addr(), addr)
		}
		if err := srv.RestartEmpty(); err != nil {
			t.Fatal(err)
		}
		ended(t, c)
		says(t, dial(), "$-1\r\n", "GET", "k")
	})
}

func TestAStoppedServerRefusesConnections(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock())
	opts := srv.Options()
	opts.DialerRetries = 1 // as often as it tries to send again
	rdb := redis.NewClient(opts)
	defer rdb.Close()
	addr := srv.Addr()
	rdb.Set(t.Context(), "k", "v", time.Minute)
	f := srv.HoldRequest(lockredistest.Match{Command: "set"}, 0)
	nc, _ := srv.Dial(t.Context(), "", "")
	nc.Write([]byte("SET late v\r\n"))
	f.Wait(t.Context(), 1)
	nc.Close()
	connections(t, srv, 1)
	srv.Stop()
	srv.Stop()
	f.Clear()
	if _, err := srv.Dial(t.Context(), "", ""); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
	if err := rdb.Ping(t.Context()).Err(); err == nil {
		t.Error("a client gets replies from a stopped server")
	}
	srv.Advance(time.Second)
	if err := srv.Restart(); err != nil {
		t.Fatal(err)
	}
	if ttl := rdb.TTL(t.Context(), "k").Val(); ttl != 59*time.Second {
		t.Error(ttl)
	}
	if srv.Exists("late") {
		t.Error("a request that was held up outlived the server")
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Write([]byte("PING\r\n"))
	if _, err := io.ReadFull(c, make([]byte, len("+PONG\r\n"))); err != nil {
		t.Error(err)
	}
}

func TestRestartReportsThatAClientHasShutTheServerDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		srv.Client().ShutdownNoSave(t.Context())
		for name, restart := range map[string]func() error{"Restart": srv.Restart, "RestartEmpty": srv.RestartEmpty} {
			if err := restart(); !errors.Is(err, lockredis.ErrServerClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestRestartReportsThatItsPortIsTaken(t *testing.T) {
	srv := lockredistest.RunT(t)
	addr := srv.Addr()
	srv.Stop()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skip(err)
	}
	defer ln.Close()
	if err := srv.Restart(); err == nil || !strings.Contains(err.Error(), addr) {
		t.Error(err)
	}
	if err := srv.Client().Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}

func TestAClosedServerDoesNotRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec)
		run(t, srv.Client(), lock, []string{"a"}, 30000, alice, "")
		if err := srv.Close(); err == nil || !strings.Contains(err.Error(), alice) {
			t.Error(err)
		}
		if err := srv.Restart(); !errors.Is(err, lockredis.ErrServerClosed) {
			t.Error(err)
		}
		if err := srv.Close(); err != nil {
			t.Errorf("the second Close: %v", err)
		}
	})
}

func TestAClientInMemoryConnectsAgainByItself(t *testing.T) {
	srv := lockredistest.RunT(t)
	rdb := srv.Client()
	for range 3 {
		if err := rdb.Ping(t.Context()).Err(); err != nil {
			t.Error(err)
		}
		srv.Cut(lockredistest.Connections{})
	}
}
