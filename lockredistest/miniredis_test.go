package lockredistest_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
)

// This file tries what docs/from-miniredis.md says of differences.

// ginkgo has the methods of Ginkgo's GinkgoT that the package needs. It is no testing.TB.
type ginkgo struct{ t *testing.T }

func (g ginkgo) Helper()                           { g.t.Helper() }
func (g ginkgo) Cleanup(f func())                  { g.t.Cleanup(f) }
func (g ginkgo) Error(args ...any)                 { g.t.Error(args...) }
func (g ginkgo) Errorf(format string, args ...any) { g.t.Errorf(format, args...) }
func (g ginkgo) Fatal(args ...any)                 { g.t.Fatal(args...) }
func (g ginkgo) Failed() bool                      { return g.t.Failed() }
func (g ginkgo) Log(args ...any)                   { g.t.Log(args...) }

func TestATestNeedsNoTestingTB(t *testing.T) {
	srv := lockredistest.RunT(ginkgo{t})
	srv.Set("k", "v")
	srv.CheckGet(ginkgo{t}, "k", "v")
}

func TestKeysOfAnEmptyDatabaseAreNotNil(t *testing.T) {
	if keys := lockredistest.RunT(t).Keys(); !reflect.DeepEqual(keys, []string{}) {
		t.Errorf("%#v", keys)
	}
}

func TestAHugeOrNegativeTTLIsKept(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	const ms = time.Millisecond
	for ttl, want := range map[time.Duration]time.Duration{
		math.MaxInt64: math.MaxInt64, math.MaxInt64 - 1: math.MaxInt64,
		math.MaxInt64 / ms * ms: math.MaxInt64 / ms * ms,
		1:                       ms, ms: ms, ms + 1: 2 * ms, 0: 0, -1: 0, math.MinInt64: 0,
	} {
		srv.Set("k", "v")
		srv.SetTTL("k", ttl)
		srv.CheckGet(t, "k", "v")
		if got := srv.TTL("k"); got != want {
			t.Errorf("TTL is %v after %v, want %v", got, ttl, want)
		}
	}
	rdb := srv.Client()
	rdb.SetNX(t.Context(), "mutex", "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11", 0)
	run(t, rdb, takePermits, permitKeys("p"), "92233720368547", "00112233445566778899aabbccddeeff")
	srv.Do("PEXPIRE", "mutex", "9000000000000000")
	if got := srv.TTL("mutex"); got != math.MaxInt64 {
		t.Errorf("TTL of 285,000 years is %v", got)
	}
	if locks := srv.Locks(); len(locks) != 1 || locks[0].TTL != math.MaxInt64 {
		t.Errorf("locks %+v", locks)
	}
	if permits := srv.Permits(); len(permits) != 1 || permits[0].TTL != math.MaxInt64 {
		t.Errorf("permits %+v", permits)
	}
	srv.Advance(200 * 365 * 24 * time.Hour)
	if !srv.Exists("mutex") {
		t.Error("the lock is gone after 200 years")
	}
}

func TestErrorsHaveMiniredissNames(t *testing.T) {
	srv := lockredistest.RunT(t)
	srv.Push("list", "x")
	srv.Set("text", "x")
	srv.Set("most", "9223372036854775807")
	for _, c := range []struct {
		args []string
		want error
	}{
		{[]string{"GET", "list"}, lockredistest.ErrWrongType},
		{[]string{"PFADD", "text", "x"}, lockredistest.ErrNotValidHllValue},
		{[]string{"INCR", "text"}, lockredistest.ErrIntValueError},
		{[]string{"INCR", "most"}, lockredistest.ErrIntValueOverflowError},
		{[]string{"INCRBYFLOAT", "text", "1"}, lockredistest.ErrFloatValueError},
		{[]string{"LSET", "none", "0", "x"}, lockredistest.ErrKeyNotFound},
	} {
		if _, err := srv.Do(c.args...); !errors.Is(err, c.want) {
			t.Errorf("%v: %v, want %v", c.args, err, c.want)
		}
	}
}

// Small hashes keep the order in which their fields were set.
func TestAHashHasItsOrderOfInsertion(t *testing.T) {
	srv := lockredistest.RunT(t)
	srv.HSet("h", "b", "1", "c", "2", "a", "3")
	reply, err := srv.Client().HKeys(t.Context(), "h").Result()
	if want := []string{"b", "c", "a"}; err != nil || !slices.Equal(reply, want) {
		t.Errorf("%v, %v, want %v", reply, err, want)
	}
	if keys, _ := srv.HKeys("h"); !slices.Equal(keys, []string{"a", "b", "c"}) {
		t.Errorf("the kit's HKeys are %v", keys)
	}
}

func TestAdvanceEndsTheTimeoutOfABlockingCommand(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock())
	rdb := srv.Client()
	for name, wait := range map[string]func() error{
		"BLPOP": func() error { return rdb.BLPop(t.Context(), time.Minute, "q").Err() },
		"WAIT": func() error {
			if n, err := rdb.Wait(t.Context(), 1, time.Minute).Result(); n != 0 || err != nil {
				return errors.New("WAIT did not reply with 0")
			}
			return redis.Nil
		},
	} {
		done := make(chan error, 1)
		go func() { done <- wait() }()
		parked(t, srv, "1")
		select {
		case err := <-done:
			t.Errorf("%s ended before its timeout: %v", name, err)
		default:
		}
		srv.Advance(time.Minute)
		if err := <-done; err != redis.Nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWaitEndsByItselfInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		n, err := lockredistest.RunT(t).Client().Wait(t.Context(), 1, time.Second).Result()
		if took := time.Since(start); n != 0 || err != nil || took < time.Second {
			t.Errorf("%d, %v after %v", n, err, took)
		}
	})
}

func TestAConnectionThatIsOpenNeedsNoNewPassword(t *testing.T) {
	srv := lockredistest.RunT(t)
	rdb := srv.Client()
	if err := rdb.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	srv.RequireAuth("secret")
	if err := rdb.Ping(t.Context()).Err(); err != nil {
		t.Error("the open connection: ", err)
	}
	opts := srv.Options()
	opts.Password = ""
	fresh := redis.NewClient(opts)
	defer fresh.Close()
	if err := fresh.Ping(t.Context()).Err(); err == nil {
		t.Error("a new connection needs no password")
	}
}
