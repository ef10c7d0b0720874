package rlock_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// onBoth runs a test on lockredis and on a redis-server, as the default user.
func onBoth(t *testing.T, test func(t *testing.T, admin *redis.Client)) {
	t.Run("lockredis", func(t *testing.T) { test(t, connect(t)) })
	t.Run("redis-server", func(t *testing.T) {
		admin := redis.NewClient(&redis.Options{Addr: redistest.Start(t).Addr})
		t.Cleanup(func() { admin.Close() })
		test(t, admin)
	})
}

// userOf returns a client with a new ACL user of the server.
func userOf(t *testing.T, admin *redis.Client, rules string) *redis.Client {
	t.Helper()
	args := []any{"acl", "setuser", "app"}
	for _, rule := range strings.Fields("reset on >secret " + rules) {
		args = append(args, rule)
	}
	must(t, admin.Do(t.Context(), args...).Err())
	user := redis.NewClient(&redis.Options{
		Addr: admin.Options().Addr, Username: "app", Password: "secret",
	})
	t.Cleanup(func() { user.Close() })
	return user
}

func wantDenied(t *testing.T, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "NOPERM") {
		t.Fatalf("the error is %v, want NOPERM", err)
	}
}

func TestAWaitEndsWhenTheUserMayNotSubscribe(t *testing.T) {
	onBoth(t, aWaitEndsWhenTheUserMayNotSubscribe)
}

func aWaitEndsWhenTheUserMayNotSubscribe(t *testing.T, admin *redis.Client) {
	for _, rules := range []string{"~* +@all", "~* &* +@all -subscribe"} {
		c := newClient(t, userOf(t, admin, rules), rlock.Options{})
		holder := newClient(t, admin, rlock.Options{})
		for _, k := range rlocksuite.Kinds() {
			if k.Label == "spin" || k.Label == "read" { // without a subscription; shared with the holder
				continue
			}
			h := acquire(t, k.Make(holder, k.Label))
			for range 2 { // the second waiter finds the same topic, or a new one
				_, err := k.Make(c, k.Label).Acquire(t.Context())
				wantDenied(t, err)
			}
			release(t, h)
		}
		_, err := holder.CountDownLatch("latch").TrySetCount(t.Context(), 1)
		must(t, err)
		wantDenied(t, c.CountDownLatch("latch").Await(t.Context()))
		must(t, admin.FlushAll(t.Context()).Err())
	}
}

func TestAWaitEndsWhenTheUsersPasswordHasChanged(t *testing.T) {
	onBoth(t, aWaitEndsWhenTheUsersPasswordHasChanged)
}

func aWaitEndsWhenTheUsersPasswordHasChanged(t *testing.T, admin *redis.Client) {
	user := userOf(t, admin, "~* &* +@all")
	c := newClient(t, user, rlock.Options{})
	warm(t, c)
	h := acquire(t, newClient(t, admin, rlock.Options{}).Lock("l"))
	must(t, admin.Do(t.Context(), "acl", "setuser", "app", "resetpass", ">other").Err())
	_, err := c.Lock("l").Acquire(t.Context())
	if err == nil || !strings.Contains(err.Error(), "WRONGPASS") {
		t.Errorf("the error is %v, want WRONGPASS", err)
	}
	release(t, h)
}

func TestAnAcquisitionWhoseScriptFailsHalfwayLeavesNothing(t *testing.T) {
	onBoth(t, anAcquisitionWhoseScriptFailsHalfwayLeavesNothing)
}

func anAcquisitionWhoseScriptFailsHalfwayLeavesNothing(t *testing.T, admin *redis.Client) {
	c := newClient(t, userOf(t, admin, "~* &* +@all -pexpire"), rlock.Options{})
	rw := c.RWLock("rw")
	for _, l := range []*rlock.Lock{c.Lock("lock"), c.SpinLock("spin"), c.FairLock("fair"),
		rw.Read(), rw.Write()} {
		if _, err := l.Acquire(t.Context()); err == nil {
			t.Fatalf("%s: acquired without the right to PEXPIRE", l.Name())
		}
		eventually(t, l.Name()+" is free", func() bool {
			return admin.Exists(t.Context(), l.Name()).Val() == 0
		})
	}
}

func TestAPanicOfTheObserverLeavesNoLock(t *testing.T) {
	srv := lockredistest.RunT(t)
	c := newClient(t, srv.Client(), rlock.Options{Observer: rlock.Observer{
		Acquired: func(context.Context, rlock.Event) { panic("observer") },
	}})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_ = c.Do(t.Context(), "l", func(context.Context) error { return nil })
	}()
	eventually(t, "the lock is free", func() bool { return !srv.Exists("l") })
}

// documentedRights returns the ACL rules that docs/rlock.md tells for locks whose names
// begin with "orders:".
func documentedRights(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/rlock.md")
	must(t, err)
	m := regexp.MustCompile("(?s)ACL SETUSER app on >secret ([^`]*)```").FindSubmatch(page)
	if m == nil {
		t.Fatal("docs/rlock.md has no ACL SETUSER")
	}
	return strings.ReplaceAll(string(m[1]), "\\\n", " ")
}

func TestTheDocumentedRightsSufficeForEveryKind(t *testing.T) {
	onBoth(t, theDocumentedRightsSufficeForEveryKind)
}

func theDocumentedRightsSufficeForEveryKind(t *testing.T, admin *redis.Client) {
	user := userOf(t, admin, documentedRights(t))
	c := newClient(t, user, rlock.Options{Sync: rlock.SyncOn})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	rw := c.RWLock("orders:rw")
	multi := rlock.Multi(c.Lock("orders:a"), c.Lock("orders:b"))
	fenced := c.FencedLock("orders:fenced")
	locks := map[string]func(context.Context, func(context.Context) error) error{
		"lock": func(ctx context.Context, f func(context.Context) error) error { return c.Do(ctx, "orders:l", f) },
		"fair": func(ctx context.Context, f func(context.Context) error) error {
			return c.FairLock("orders:f").Do(ctx, f)
		},
		"spin": func(ctx context.Context, f func(context.Context) error) error {
			return c.SpinLock("orders:s").Do(ctx, f)
		},
		"read":  func(ctx context.Context, f func(context.Context) error) error { return rw.Read().Do(ctx, f) },
		"write": func(ctx context.Context, f func(context.Context) error) error { return rw.Write().Do(ctx, f) },
		"multi": func(ctx context.Context, f func(context.Context) error) error { return multi.Do(ctx, f) },
		"fenced": func(ctx context.Context, f func(context.Context) error) error {
			return fenced.Do(ctx, func(ctx context.Context, _ int64) error { return f(ctx) })
		},
		"permit": func(ctx context.Context, f func(context.Context) error) error {
			return c.PermitSemaphore("orders:p").Do(ctx, 1, f)
		},
	}
	_, err := c.PermitSemaphore("orders:p").TrySetPermits(ctx, 1)
	must(t, err)
	for name, do := range locks {
		for range 20 { // contended, so that waiters subscribe
			errs := make(chan error, 2)
			for range 2 {
				go func() { errs <- do(ctx, func(context.Context) error { return nil }) }()
			}
			for range 2 {
				if err := <-errs; err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
	}
	h := acquire(t, c.Lock("orders:l"))
	must(t, h.Extend(ctx, time.Minute))
	_, err = c.Lock("orders:l").ForceUnlock(ctx)
	must(t, err)
	sem := c.Semaphore("orders:sem")
	_, err = sem.TrySetPermits(ctx, 2)
	must(t, err)
	must(t, sem.Acquire(ctx, 1))
	must(t, sem.Release(ctx, 1))
	_, err = sem.Drain(ctx)
	must(t, err)
	latch := c.CountDownLatch("orders:latch")
	_, err = latch.TrySetCount(ctx, 1)
	must(t, err)
	go func() { _ = latch.CountDown(ctx) }()
	must(t, latch.Await(ctx))
	limiter := c.RateLimiter("orders:rate")
	must(t, limiter.SetRate(ctx, rlock.RateConfig{Rate: 5, Interval: time.Second}))
	must(t, limiter.Acquire(ctx, 1))
	must(t, limiter.Release(ctx, 1))
	_, err = c.Lock("other").Acquire(ctx)
	wantDenied(t, err)
}
