package lockredistest_test

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/stall"
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
			`, hold count 1, for another 30s, acquired 0s ago; its client was pipe:1 (orders)`},
		"a lock for ever": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			run(t, rdb, lock, []string{"a"}, 0, alice, "")
			run(t, rdb, lock, []string{"a"}, 0, alice, "")
		}, `lock "a" is held by ` + alice + `, hold count 2, for ever, acquired 0s ago; ` +
			`its client was pipe:1`},
		"a write lock": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			run(t, rdb, lock, []string{"a"}, 0, alice+":write", "write")
		}, `write lock "a" is held by ` + alice},
		"a place in a queue": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			run(t, rdb, enqueue, []string{"a"}, bob, 1e15)
		}, `fair lock "a" is queued for by ` + bob},
		"a permit": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			until := time.Now().UnixMilli() + 5000
			const id = "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff"
			run(t, rdb, takePermits, permitKeys("p"), until, id)
		}, `permit 00112233445566778899aabbccddeeff of the semaphore "p" is held for another 5s, ` +
			`acquired 0s ago; its client was pipe:1`},
		"a permit for ever in a database": {
			func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
				pipe := rdb.TxPipeline()
				pipe.Select(t.Context(), 2)
				takePermits.Eval(t.Context(), pipe, permitKeys("p"), "922337203685477", "a")
				pipe.Exec(t.Context())
			}, `permit a of the semaphore "p" in database 2 is held for ever`},
		"a lock of redsync": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			rdb.SetNX(t.Context(), "mutex", "q83vEjRWeJCrze8SNFZ4kA==", 8*time.Second)
		}, `lock "mutex" is held by q83vEjRWeJCrze8SNFZ4kA==, hold count 1, for another 8s, ` +
			`acquired 0s ago; its client was pipe:1`},
		"a lock of rueidislock": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			rdb.Eval(t.Context(), `return redis.call("SET",KEYS[1],ARGV[1],"NX","PX",ARGV[2])`,
				[]string{"mutex"}, "\xed\xb6pz!\x18\xaa\xca!\xea\x12\x849\xc5z\xfc", 5000)
		}, `lock "mutex" is held by "\xed\xb6pz!\x18\xaa\xca!\xea\x12\x849\xc5z\xfc", hold count 1`},
		"a lock of redislock": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			rdb.Eval(t.Context(), `redis.call('msetnx', KEYS[1], ARGV[1])
				return redis.call('pexpire', KEYS[1], ARGV[2])`,
				[]string{"mutex"}, "q83vEjRWeJCrze8SNFZ4kA some metadata", 8500)
		}, `lock "mutex" is held by q83vEjRWeJCrze8SNFZ4kA some metadata`},
		"a lock of Spring Integration": {
			func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
				rdb.Eval(t.Context(), `local owner = redis.call('GET', KEYS[1])
					if not owner then
						redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
						return true
					end
					return owner == ARGV[1]`,
					[]string{"shop:7"}, "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11", 60000)
			}, `lock "shop:7" is held by 6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11, hold count 1`},
		"a lock with an id that is no UUID": {
			func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
				run(t, rdb, lock, []string{"a", "redisson_lock_queue:{a}"}, 30000, "worker 1:7", "")
			}, `fair lock "a" is held by worker 1:7, hold count 1`},
		"a renamed lock": {func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
			run(t, rdb, lock, []string{"a"}, 30000, alice, "")
			rdb.Rename(t.Context(), "a", "b")
		}, `lock "b" is held by ` + alice + `, hold count 1, for another 30s, acquired 0s ago; ` +
			`its client was pipe:1`},
		"a lock that was renamed twice in a transaction": {
			func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
				run(t, rdb, lock, []string{"a", "redisson_lock_queue:{a}"}, 30000, "worker 1:7", "")
				srv.Set("c", "data")
				pipe := rdb.TxPipeline()
				pipe.RenameNX(t.Context(), "a", "b")
				pipe.Rename(t.Context(), "b", "c")
				pipe.Exec(t.Context())
			}, `fair lock "c" is held by worker 1:7, hold count 1`},
		"a lock that was moved to another database": {
			func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
				run(t, rdb, lock, []string{"a"}, 0, alice+":write", "write")
				rdb.Move(t.Context(), "a", 3)
			}, `write lock "a" in database 3 is held by ` + alice},
		"a lock of redsync that a script renamed": {
			func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
				rdb.SetNX(t.Context(), "mutex", "q83vEjRWeJCrze8SNFZ4kA==", 8*time.Second)
				rdb.Eval(t.Context(), `redis.call('rename', KEYS[1], KEYS[2])`,
					[]string{"mutex", "other"})
			}, `lock "other" is held by q83vEjRWeJCrze8SNFZ4kA==`},
		"renamed leases of permits": {
			func(t *testing.T, srv *lockredistest.Server, rdb *redis.Client) {
				run(t, rdb, takePermits, permitKeys("p"), "922337203685477", "a")
				rdb.Rename(t.Context(), "{p}:timeout", "q")
			}, `permit a of the semaphore "p" is held for ever`},
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

func TestAKeyThatIsNoLockBecomesNoneByARename(t *testing.T) {
	srv := lockredistest.RunT(t)
	rdb := srv.Client()
	run(t, rdb, lock, []string{"a"}, 30000, alice, "")
	srv.HSet("data", alice, "1")
	rdb.RenameNX(t.Context(), "data", "a") // refused
	rdb.Rename(t.Context(), "a", "a")
	rdb.Rename(t.Context(), "none", "a") // an error
	if got := locks(srv); !slices.Equal(got, []string{"lock a"}) {
		t.Error(got)
	}
	rdb.Rename(t.Context(), "data", "a") // overwrites the lock
	if got := locks(srv); len(got) != 0 {
		t.Error(got)
	}
	srv.HSet("b", alice, "1")
	rdb.Rename(t.Context(), "a", "c")
	if got := locks(srv); len(got) != 0 {
		t.Error(got)
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

func TestALeakThatCloseFoundFailsTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec)
		run(t, srv.Client(), lock, []string{"a"}, 30000, alice, "")
		_ = srv.Close() // as in a test that used miniredis: defer srv.Close()
		if failures := rec.end(); !strings.Contains(failures, alice) {
			t.Errorf("the test ends with %q", failures)
		}
	})
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

func TestALockThatIsReleasedOrRenewedInTimeIsNoLeakBesideASlowerOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec)
		run(t, srv.Client(), lock, []string{"released"}, 100, alice, "")
		run(t, srv.Client(), lock, []string{"renewed"}, 100, alice, "")
		run(t, srv.Client(), lock, []string{"slow"}, 30000, bob, "")
		time.AfterFunc(20*time.Millisecond, func() {
			srv.Del("released")
			srv.Do("PEXPIRE", "renewed", "30000")
		})
		time.AfterFunc(200*time.Millisecond, func() { srv.Do("DEL", "renewed", "slow") })
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
	redistest.SkipUnlessWhole(t) // Close lets the script run for 5 s
	for _, row := range []struct {
		name   string
		fault  func(*lockredistest.Server)
		allow  bool
		reason string
	}{
		{"without a fault", func(*lockredistest.Server) {}, false, "a script still ran"},
		{"with a fault", func(srv *lockredistest.Server) { srv.DelayReply(lockredistest.Match{Command: "GET"}, time.Hour) }, false, "a script still ran"},
		{"with a fault and leaks allowed", func(srv *lockredistest.Server) { srv.DelayReply(lockredistest.Match{Command: "GET"}, time.Hour) }, true, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			opts := []lockredistest.Option{}
			if row.allow {
				opts = append(opts, lockredistest.AllowLeaks())
			}
			srv, err := lockredistest.Run(opts...)
			if err != nil {
				t.Fatal(err)
			}
			nc, err := srv.Dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			row.fault(srv)
			nc.Write([]byte("EVAL \"while true do end\" 0\r\n"))
			for running := false; !running; running = !answersPing(t, srv) {
			}
			switch err := srv.Close(); {
			case row.reason == "" && err != nil, row.reason != "" && (err == nil || !strings.Contains(err.Error(), row.reason)):
				t.Fatal(err)
			}
		})
	}
}

// answersPing reports whether a new connection gets a reply to PING within a moment, or
// this process stalled in that moment.
func answersPing(t *testing.T, srv *lockredistest.Server) bool {
	t.Helper()
	nc, err := srv.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	clock := stall.Start()
	defer clock.Stop()
	nc.SetDeadline(time.Now().Add(100 * time.Millisecond))
	nc.Write([]byte("PING\r\n"))
	_, err = io.ReadFull(nc, make([]byte, len("+PONG\r\n")))
	return err == nil || clock.Longest(time.Time{}) > 50*time.Millisecond
}

func TestASubscriptionOfAClientIsALeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec)
		rdb := srv.Client()
		sub := rdb.Subscribe(t.Context(), "news")
		sub.Receive(t.Context())
		go rdb.BLPop(t.Context(), 0, "q") // ends with its client
		parked(t, srv, "1")
		if text := rec.end(); !strings.HasSuffix(text, `client pipe:1 is subscribed to channel "news"`) {
			t.Error(text)
		}
		sub.Close()
	})
}

func TestASubscriptionToTheChannelOfAFreeLockIsNoLeak(t *testing.T) {
	rec := &recorder{TB: t}
	srv := lockredistest.RunT(rec)
	sub := srv.Client().Subscribe(t.Context(), "redisson_lock__channel:{a}")
	sub.Receive(t.Context())
	if text := rec.end(); text != "" {
		t.Error(text)
	}
	sub.Close()
}

func TestAWaiterThatAcquiresWhatTheTestReleasedLastIsALeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec)
		rdb := srv.Client()
		sub := rdb.Subscribe(t.Context(), "redisson_lock__channel:{a}")
		sub.Receive(t.Context())
		time.AfterFunc(20*time.Millisecond, func() { // the test released the lock before
			run(t, rdb, lock, []string{"a"}, 30000, bob, "")
			sub.Close()
		})
		if text := rec.end(); !strings.Contains(text, `lock "a" is held by `+bob) {
			t.Error(text)
		}
	})
}

func TestASubscriberOfTheKitIsNoLeak(t *testing.T) {
	rec := &recorder{TB: t}
	srv := lockredistest.RunT(rec)
	srv.NewSubscriber().Subscribe("news")
	if text := rec.end(); text != "" {
		t.Error(text)
	}
}

func TestDataIsNoLeak(t *testing.T) {
	rec := &recorder{TB: t}
	srv := lockredistest.RunT(rec, lockredistest.DataKeys("session:*", "mine*"))
	rdb := srv.Client()
	ctx := t.Context()
	const token = "q83vEjRWeJCrze8SNFZ4kA=="
	srv.Do("SET", "by the test", token, "NX", "PX", "10000")
	rdb.Set(ctx, "without NX", token, time.Minute)
	rdb.SetNX(ctx, "id without a TTL", token, 0)
	rdb.SetNX(ctx, "another process", "worker-7:4711", time.Minute)
	rdb.SetNX(ctx, "address", "127.0.0.1:6379", time.Minute)
	rdb.SetNX(ctx, "status", "Processing-Order-Payment-42", time.Minute)
	rdb.SetNX(ctx, "slug", "Order-42-is-Processed", time.Minute)
	rdb.SetNX(ctx, "done:42", "1", time.Minute)
	rdb.SetNX(ctx, "a word", "ProcessingOrderPaymentNow", time.Minute)
	rdb.SetNX(ctx, "some words", "waiting for the payment to come", time.Minute)
	rdb.SetNX(ctx, "session:1", "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11", time.Minute)
	rdb.Set(ctx, "was there", "x", 0)
	rdb.SetNX(ctx, "was there", token, time.Minute)
	rdb.SetNX(ctx, "changed", token, time.Minute)
	rdb.Set(ctx, "changed", "other", time.Minute)
	rdb.SetNX(ctx, "released", token, time.Minute)
	rdb.Del(ctx, "released")
	rdb.Set(ctx, "released", token, time.Minute)
	rdb.Eval(ctx, "return redis.call('set', KEYS[1], ARGV[1], 'px', 10000)", []string{"cached"}, token)
	rdb.ZAdd(ctx, "{p}:timeout", redis.Z{Score: 9e14, Member: "00112233445566778899aabbccddeeff"})
	rdb.Set(ctx, "p", 3, 0)
	run(t, rdb, takePermits, []string{"q", "{q}:timeout", "other"}, "922337203685477", "a")
	run(t, rdb, takePermits, permitKeys("over"), time.Now().UnixMilli()-1, "a")
	run(t, rdb, takePermits, permitKeys("mine"), "922337203685477", "a")
	run(t, rdb, lock, []string{"clicks"}, 30000, "user:42", "")
	run(t, rdb, lock, []string{"mine:2"}, 30000, alice, "")
	run(t, rdb, lock, []string{"hits", "redisson_lock_queue:{hits}"}, 30000, "user:x", "")
	if text := rec.end(); text != "" {
		t.Error(text)
	}
}

func TestLockKeysAreLeaksWhateverTheyHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec, lockredistest.LockKeys("lock:*", "*:mutex"),
			lockredistest.DataKeys("lock:none"), lockredistest.ManualClock())
		srv.Set("lock:1", "taken")
		srv.DB(3).Set("a:mutex", "1")
		srv.Set("lock:none", "1")
		srv.Set("other", "1")
		rdb := srv.Client()
		run(t, rdb, lock, []string{"lock:2"}, 0, alice, "")
		rdb.SetNX(t.Context(), "lock:3", "1", time.Minute)
		rdb.Set(t.Context(), "lock:4", "me", 0)
		rdb.HSet(t.Context(), "lock:5", "by", "me")
		const want = `lockredistest: left behind (AllowLeaks turns this check off):
	key "a:mutex" in database 3, held by "1", exists and LockKeys("*:mutex") says it is a lock
	key "lock:1", held by "taken", exists and LockKeys("lock:*") says it is a lock
	key "lock:5" exists and LockKeys("lock:*") says it is a lock
	lock "lock:2" is held by ` + alice + `, hold count 1, for ever, acquired 0s ago; its client was pipe:1
	lock "lock:3" is held by 1, hold count 1, for another 1m0s, acquired 0s ago; its client was pipe:1
	lock "lock:4" is held by me, hold count 1, for ever, acquired 0s ago; its client was pipe:1`
		if text := rec.end(); text != want {
			t.Errorf("%s\nwant %s", text, want)
		}
	})
}

// The limits are on text and allocations, not on time. A check that describes each lock in each look
// needs more than 200 allocations for a lock.
func TestManyLeaksAreCounted(t *testing.T) {
	redistest.SkipWhenQuick(t) // it waits for each leak
	const n = 20_000
	for name, c := range map[string]struct{ script, want string }{
		"locks": {`redis.call('hincrby', key, ARGV[1], 1)`,
			`lock "lock:0" is held by ` + alice + `, hold count 1, for ever`},
		"tokens": {`redis.call('set', key, 'q83vEjRWeJCrze8SNFZ4kA==', 'NX')`,
			`lock "lock:0" is held by q83vEj`},
		"keys of LockKeys": {`redis.call('rpush', key, ARGV[1])`, `key "lock:0" exists and LockKeys("lock:*")`},
	} {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec, lockredistest.LockKeys("lock:*", "lock:1*"))
		all := fmt.Sprintf("for i = 0, %d do local key = 'lock:' .. i; %s end", n-1, c.script)
		if _, err := srv.Do("EVAL", all, "0", alice); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text := rec.end()
		runtime.ReadMemStats(&after)
		if mallocs := (after.Mallocs - before.Mallocs) / n; mallocs > 40 {
			t.Errorf("%s: the check needs %d allocations for each of them", name, mallocs)
		}
		lines := strings.Split(text, "\n\t")
		if len(lines) != 22 || !strings.HasPrefix(lines[1], c.want) || lines[21] != "and 19980 more" {
			t.Errorf("%s: %d lines: %.2000s", name, len(lines), text)
		}
	}
}

func TestTwentyLeaksAreAllDescribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec)
		for i := range 20 {
			run(t, srv.Client(), lock, []string{fmt.Sprint("lock:", i)}, 0, alice, "")
		}
		if text := rec.end(); strings.Count(text, "is held by") != 20 || strings.Contains(text, "more") {
			t.Error(text)
		}
	})
}

// With many locks the check looks only twice, at the beginning and at the end of the grace period.
func TestManyLocksThatAreReleasedLateAreNoLeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec)
		const all = "for i = 1, 2000 do redis.call(ARGV[1], 'lock:' .. i, unpack(ARGV, 2)) end"
		rdb := srv.Client()
		if err := rdb.Eval(t.Context(), all, nil, "hincrby", alice, 1).Err(); err != nil && err != redis.Nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(300 * time.Millisecond)
			srv.Do("EVAL", all, "0", "del")
		}()
		if text := rec.end(); text != "" {
			t.Errorf("%.500s", text)
		}
		synctest.Wait()
	})
}
