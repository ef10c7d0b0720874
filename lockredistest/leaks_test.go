package lockredistest_test

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
)

// parked waits until n clients wait in a blocking command.
func parked(t *testing.T, srv *lockredistest.Server, n string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		info, _ := srv.Do("INFO", "clients")
		if strings.Contains(info.(string), "blocked_clients:"+n+"\r\n") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there are not %s blocked clients:\n%s", n, info)
		}
		runtime.Gosched()
	}
}

func TestALeakFailsTheTestAndNamesItsOwner(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client)
		want  string
	}{
		"a lock": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			rdb.Do(t.Context(), "CLIENT", "SETNAME", "orders")
			run(t, rdb, lock, []string{"orders:42"}, 30000, alice, "")
		}, `lock "orders:42" is held by ` + alice +
			`, hold count 1, for another 30s; its client was pipe:1 (orders)`},
		"a lock for ever": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			run(t, rdb, lock, []string{"a"}, 0, alice, "")
			run(t, rdb, lock, []string{"a"}, 0, alice, "")
		}, `lock "a" is held by ` + alice + `, hold count 2, for ever; its client was pipe:1`},
		"a write lock": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			run(t, rdb, lock, []string{"a"}, 0, alice+":write", "write")
		}, `write lock "a" is held by ` + alice},
		"a place in a queue": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			run(t, rdb, enqueue, []string{"a"}, bob, 1e15)
		}, `fair lock "a" is queued for by ` + bob},
		"a waiter": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			nc, _ := srv.Dial(t.Context(), "", "")
			nc.Write([]byte("BLPOP q r 0\r\n"))
			parked(t, srv, "1")
		}, `client pipe:1 waits in BLPOP for "q", "r"`},
		"a subscription": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			rdb.Subscribe(t.Context(), "news").Receive(t.Context())
		}, `client pipe:1 is subscribed to channel "news"`},
		"a pattern": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			rdb.PSubscribe(t.Context(), "new?").Receive(t.Context())
		}, `client pipe:1 is subscribed to pattern "new?"`},
		"a shard channel": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			rdb.SSubscribe(t.Context(), "news").Receive(t.Context())
		}, `client pipe:1 is subscribed to shard channel "news"`},
	} {
		synctestRun(t, name, func(t *testing.T) {
			rec := &recorder{TB: t}
			srv := lockredistest.RunT(rec)
			rdb := redis.NewClient(srv.Options())
			defer rdb.Close()
			c.leave(t, srv, rdb)
			if text := rec.end(); !strings.Contains(text, c.want) {
				t.Fatalf("%s\nwant %s", text, c.want)
			}
		})
	}
}

func TestACleanTestPasses(t *testing.T) {
	rec := &recorder{TB: t}
	srv := lockredistest.RunT(rec)
	rdb := srv.Client()
	run(t, rdb, lock, []string{"a"}, 30000, alice, "")
	rdb.HDel(t.Context(), "a", alice)
	rdb.Eval(t.Context(), "return redis.call('set', KEYS[1], 1, 'px', 20000)",
		[]string{"redisson_unlock_latch:{a}:0123"})
	sub := rdb.Subscribe(t.Context(), "news")
	sub.Receive(t.Context())
	sub.Close() // the server notices a little later
	if text := rec.end(); text != "" {
		t.Fatal(text)
	}
}

func TestASubscriberThatDisconnectedFromTCPIsNoLeak(t *testing.T) {
	rec := &recorder{TB: t}
	srv := lockredistest.RunT(rec)
	rdb := redis.NewClient(&redis.Options{Addr: srv.Addr()})
	sub := rdb.Subscribe(t.Context(), "news")
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	sub.Close()
	rdb.Close()
	if text := rec.end(); text != "" {
		t.Fatal(text)
	}
}

func TestAllowLeaksTurnsTheCheckOff(t *testing.T) {
	rec := &recorder{TB: t}
	srv := lockredistest.RunT(rec, lockredistest.AllowLeaks())
	run(t, srv.Client(), lock, []string{"a"}, 30000, alice, "")
	if text := rec.end(); text != "" {
		t.Fatal(text)
	}
}

func TestLeaksOfAFailedTestAreOnlyLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t, failed: true}
		srv := lockredistest.RunT(rec)
		run(t, srv.Client(), lock, []string{"a"}, 30000, alice, "")
		if text := rec.end(); text != "" || len(rec.logs) != 1 || !strings.Contains(rec.logs[0], alice) {
			t.Fatal(text, rec.logs)
		}
	})
}

func TestALockThatExpiresDuringTheCheckIsALeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec)
		run(t, srv.Client(), lock, []string{"a"}, 5, alice, "")
		if text := rec.end(); !strings.Contains(text, `lock "a" is held by`) {
			t.Fatal(text)
		}
	})
}

func TestALockThatIsReleasedDuringTheCheckIsNoLeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec)
		run(t, srv.Client(), lock, []string{"a"}, 30000, alice, "")
		time.AfterFunc(20*time.Millisecond, func() { srv.Del("a") })
		if text := rec.end(); text != "" {
			t.Fatal(text)
		}
	})
}

func TestAServerOfRunPanicsWhereItWouldEndATest(t *testing.T) {
	srv, err := lockredistest.Run()
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	defer func() {
		if cause := recover(); cause == nil {
			t.Error("no panic")
		}
	}()
	srv.Advance(time.Second)
}

func TestRunReturnsTheErrorOfTheStart(t *testing.T) {
	if _, err := lockredistest.Run(lockredistest.Listen("nonsense")); err == nil {
		t.Fatal("started on nonsense")
	}
}

func TestAScriptThatNeverEndsIsALeakAndDoesNotKeepTheTestFromEnding(t *testing.T) {
	srv, err := lockredistest.Run()
	if err != nil {
		t.Fatal(err)
	}
	nc, err := srv.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.Write([]byte("EVAL \"while true do end\" 0\r\n"))
	for running := false; !running; running = !answersPing(t, srv) {
	}
	if err := srv.Close(); err == nil || !strings.Contains(err.Error(), "a script still ran") {
		t.Fatal(err)
	}
}

// answersPing reports whether a new connection gets a reply to PING within a moment.
func answersPing(t *testing.T, srv *lockredistest.Server) bool {
	t.Helper()
	nc, err := srv.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(100 * time.Millisecond))
	nc.Write([]byte("PING\r\n"))
	_, err = io.ReadFull(nc, make([]byte, len("+PONG\r\n")))
	return err == nil
}
