package lockredistest_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
)

// listen subscribes to patterns and returns a function that receives the next message, as
// "channel payload".
func listen(t *testing.T, srv *lockredistest.Server, channels ...string) func() string {
	t.Helper()
	sub := srv.Client().PSubscribe(t.Context(), channels...)
	t.Cleanup(func() { sub.Close() })
	for range channels {
		if _, err := sub.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return func() string {
		t.Helper()
		m, err := sub.ReceiveTimeout(t.Context(), 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return m.(*redis.Message).Channel + " " + m.(*redis.Message).Payload
	}
}

func TestAdvanceExpiresKeysAndSendsEventsInOrder(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock(),
		lockredistest.Directive("notify-keyspace-events", "Ex"))
	next := listen(t, srv, "__keyevent@*__:expired")
	for i := range 5 {
		srv.DB(i%2).Set(fmt.Sprint("k", i), "v")
		srv.DB(i%2).SetTTL(fmt.Sprint("k", i), time.Duration(5-i)*time.Second)
	}
	srv.Advance(999 * time.Millisecond)
	if !srv.Exists("k4") {
		t.Fatal("expired too early")
	}
	srv.Advance(time.Hour)
	for _, want := range []string{
		"0__:expired k4", "1__:expired k3", "0__:expired k2", "1__:expired k1", "0__:expired k0",
	} {
		if got := next(); got != "__keyevent@"+want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	if len(srv.Keys()) != 0 {
		t.Fatal(srv.Keys())
	}
}

func TestOnlyAdvanceMovesAManualClock(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock())
	start := srv.Now()
	srv.Advance(1500 * time.Microsecond)
	if d := srv.Now().Sub(start); d != 1500*time.Microsecond {
		t.Fatalf("moved by %v", d)
	}
	reply, err := srv.Do("TIME")
	if want := fmt.Sprint(srv.Now().Unix()); err != nil || reply.([]any)[0] != want {
		t.Fatalf("%v, want %s", reply, want)
	}
}

// Each step must end before the next begins: the SET behind a BLPOP that timed out makes a key
// that expires within the same Advance.
func TestAdvanceRunsTheCommandsBehindABlockingCommand(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock())
	nc, err := srv.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	const clients = 20
	nc.Write([]byte(strings.Repeat("BLPOP q 1\r\nSET k v PX 500\r\nINCR n\r\n", clients)))
	parked(t, srv, "1")
	srv.Advance(clients*time.Second + 499*time.Millisecond)
	if n, _ := srv.Get("n"); n != fmt.Sprint(clients) || !srv.Exists("k") {
		t.Fatalf("n is %s, keys are %v", n, srv.Keys())
	}
	srv.Advance(time.Millisecond)
	if srv.Exists("k") {
		t.Fatal("k outlived its lease")
	}
}

func TestAdvanceEndsAPauseAndRunsTheHeldCommands(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock())
	srv.Do("CLIENT", "PAUSE", "1000")
	for range 3 {
		nc, err := srv.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.Write([]byte("INCR n\r\nINCR n\r\n"))
	}
	parked(t, srv, "3")
	srv.Advance(time.Second)
	if n, _ := srv.Get("n"); n != "6" {
		t.Fatalf("n is %s", n)
	}
}

func TestAdvanceWakesTheWaitersOfAnExpiredLock(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	rdb := srv.Client()
	next := listen(t, srv, "redisson*")
	run(t, rdb, lock, []string{"plain"}, 1000, alice, "")
	run(t, rdb, lock, []string{"{br}aced"}, 2000, alice, "")
	run(t, rdb, lock, []string{"reading"}, 3000, alice, "read")
	run(t, rdb, lock, []string{"writing"}, 4000, alice+":write", "write")
	run(t, rdb, lock, []string{"unfair"}, 5000, alice, "")
	run(t, rdb, lock, []string{"fair"}, 6000, alice, "")
	now := time.Now().UnixMilli()                        // the clients' time
	run(t, rdb, enqueue, []string{"fair"}, alice, now-1) // lost its place
	run(t, rdb, enqueue, []string{"fair"}, bob, now+300000)
	srv.HSet("data", alice, "1")
	srv.SetTTL("data", time.Second)
	srv.Advance(10 * time.Second)
	srv.Publish("redisson", "end")
	for _, want := range []string{
		"redisson_lock__channel:{plain} 0",
		"redisson_lock__channel:{br}aced 0",
		"redisson_rwlock:{reading} 0",
		"redisson_rwlock:{writing} 1",
		"redisson_rwlock:{writing} 0",
		"redisson_lock__channel:{unfair} 0",
		"redisson_lock__channel:{fair}:" + bob + " 0",
		"redisson end",
	} {
		if got := next(); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

func TestAdvanceWakesTheNextOwnerOfAFairLockAtAnyTimeOfTheClock(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	rdb := srv.Client()
	srv.Advance(24 * time.Hour)
	next := listen(t, srv, "redisson*")
	run(t, rdb, lock, []string{"fair"}, 1000, alice, "")
	run(t, rdb, enqueue, []string{"fair"}, bob, time.Now().UnixMilli()+300000)
	srv.Advance(time.Second)
	if got, want := next(), "redisson_lock__channel:{fair}:"+bob+" 0"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
}

func TestAPlainLockMayHaveTheNameOfAnEarlierFairLock(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	rdb := srv.Client()
	next := listen(t, srv, "redisson*")
	for _, keys := range [][]string{{"l", "redisson_lock_queue:{l}"}, {"l"}} {
		run(t, rdb, lock, keys, 1000, alice, "")
		kind := srv.Locks()[0].Kind
		srv.Advance(time.Second)
		if got, want := next(), "redisson_lock__channel:{l} 0"; got != want {
			t.Fatalf("%s lock: %s, want %s", kind, got, want)
		}
		if fair := len(keys) > 1; fair != (kind == lockredistest.Fair) {
			t.Errorf("with the keys %q it is a %s lock", keys, kind)
		}
	}
}

func TestAdvanceAnnouncesNoReleaseOfARenewedLock(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	next := listen(t, srv, "redisson*")
	run(t, srv.Client(), lock, []string{"a"}, 1000, alice, "")
	srv.Advance(999 * time.Millisecond)
	srv.SetTTL("a", time.Second)
	srv.Advance(999 * time.Millisecond)
	srv.Publish("redisson", "end")
	if got := next(); got != "redisson end" {
		t.Fatal(got)
	}
}

func TestAdvanceNeedsAManualClockAndGoesForward(t *testing.T) {
	for want, advance := range map[string]func(t *recorder){
		"ManualClock()": func(t *recorder) { lockredistest.RunT(t).Advance(time.Second) },
		"backwards": func(t *recorder) {
			lockredistest.RunT(t, lockredistest.ManualClock()).Advance(-1)
		},
	} {
		rec := &recorder{TB: t}
		rec.stops(t, func() { advance(rec) })
		if text := rec.end(); !strings.Contains(text, want) {
			t.Errorf("%s, want %s", text, want)
		}
	}
}

func TestAdvanceArrivesThoughTheServerExpiresNothing(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock())
	if _, err := srv.Do("DEBUG", "PAUSE-CRON", "1"); err != nil {
		t.Fatal(err)
	}
	if err := srv.Set("k", "v"); err != nil {
		t.Fatal(err)
	}
	srv.SetTTL("k", time.Second)
	before := srv.Now()
	srv.Advance(time.Minute)
	if passed := srv.Now().Sub(before); passed != time.Minute || srv.Exists("k") {
		t.Errorf("%v have passed", passed)
	}
}

// The limit of time is far above what a slow machine needs. When each deadline looks at all locks, it takes minutes.
func TestAdvanceOverManyLocksTakesLinearTime(t *testing.T) {
	const locks = 20_000
	srv := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	acquire := "for i = 1, tonumber(ARGV[1]) do redis.call('hset', 'lock' .. i, ARGV[2], 1) " +
		"redis.call('pexpire', 'lock' .. i, 10000 + 3 * i) end"
	if _, err := srv.Do("EVAL", acquire, "0", strconv.Itoa(locks), "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17"); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	srv.Advance(time.Hour)
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("%d leases end in %v", locks, took)
	}
	if n, err := srv.Do("DBSIZE"); err != nil || n != int64(0) {
		t.Errorf("%v keys are left, error %v", n, err)
	}
}
