package rlock_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/rlock"
)

// eachLock runs f for every kind of lock, each on a new server, with the client "me".
func eachLock(t *testing.T,
	f func(t *testing.T, rdb *redis.Client, me *rlock.Lock, k rlocksuite.Kind)) {
	for _, k := range rlocksuite.Kinds() {
		t.Run(k.Label, func(t *testing.T) {
			rdb := connect(t)
			f(t, rdb, k.Make(newClient(t, rdb, rlock.Options{ID: "me"}), "l"), k)
		})
	}
}

func TestACallSentTwiceTakesEffectOnce(t *testing.T) {
	eachLock(t, func(t *testing.T, rdb *redis.Client, me *rlock.Lock, k rlocksuite.Kind) {
		counted := func(want string) {
			t.Helper()
			if got := rdb.HGet(t.Context(), "l", k.Field).Val(); got != want {
				t.Fatalf("hold count is %q, not %q", got, want)
			}
		}
		twice := func(send func() (any, error), count string) any {
			t.Helper()
			first, err := send()
			must(t, err)
			after := rlocksuite.Contents(t, rdb)
			counted(count)
			second, err := send()
			must(t, err)
			if fmt.Sprint(first) != fmt.Sprint(second) {
				t.Fatalf("first reply %v, second reply %v", first, second)
			}
			rlocksuite.MustHold(t, rdb, after)
			return first
		}
		acquire := func(c *rlock.Claim) func() (any, error) {
			return func() (any, error) { return c.Acquire(time.Minute, true) }
		}
		a, b := me.NewClaim(1, "a"), me.NewClaim(1, "b")
		twice(acquire(a), "1")
		if got := twice(a.Release, ""); got != int64(1) {
			t.Fatal(got)
		}
		if got := twice(me.NewClaim(1, "c").Release, ""); got != int64(-1) {
			t.Fatal(got)
		}
		twice(acquire(b), "1") // the same owner again, before a's release is sent again
		if _, err := a.Release(); err != nil {
			t.Fatal(err)
		}
		counted("1")
		if got := twice(b.Release, ""); got != int64(1) {
			t.Fatal(got)
		}
		if locked, err := me.IsLocked(t.Context()); locked || err != nil {
			t.Fatal(locked, err)
		}
	})
}

func TestALateCopyOfAnAcquireAfterItsReleaseTakesNothing(t *testing.T) {
	eachLock(t, func(t *testing.T, rdb *redis.Client, me *rlock.Lock, k rlocksuite.Kind) {
		c := me.NewClaim(1, "a")
		_, err := c.Acquire(time.Minute, true)
		must(t, err)
		_, err = c.Release()
		must(t, err)
		if _, err := c.Acquire(time.Minute, true); err != nil {
			t.Fatal(err)
		}
		rest := rlocksuite.Contents(t, rdb)
		delete(rest, "redisson_lock_token:{l}")
		if len(rest) > 0 {
			t.Fatalf("the late copy leaves %v", rest)
		}
	})
}

// The server has the lock although the client lost it, because a test's copy of the
// acquire call arrives after ForceUnlock.
func TestReleaseOfALostHoldReleasesWhatTheServerStillHas(t *testing.T) {
	eachLock(t, func(t *testing.T, _ *redis.Client, me *rlock.Lock, _ rlocksuite.Kind) {
		ctx := t.Context()
		outer := acquire(t, me, rlock.Lease(time.Minute))
		inner := acquireIn(t, outer.Context(), me)
		if forced, err := me.ForceUnlock(ctx); !forced || err != nil {
			t.Fatal(forced, err)
		}
		_, err := me.NewClaim(1, "late").Acquire(time.Minute, true)
		must(t, err)
		for _, h := range []*rlock.Hold{inner, outer} {
			mustBe(t, rlock.ErrLockLost, h.Release(ctx))
		}
		eventually(t, "the lock is free", func() bool {
			locked, err := me.IsLocked(ctx)
			return !locked && err == nil
		})
		release(t, acquire(t, me))
	})
}

func TestARenewalOfALockThatIsNotHeldReturnsZero(t *testing.T) {
	eachLock(t, func(t *testing.T, rdb *redis.Client, me *rlock.Lock, _ rlocksuite.Kind) {
		renew := me.NewClaim(1, "").Renew
		if got, err := renew(time.Minute); got != int64(0) || err != nil {
			t.Fatal(got, err)
		}
		acquire(t, me, rlock.Lease(20*time.Second))
		if got, err := renew(time.Minute); got != int64(1) || err != nil {
			t.Fatal(got, err)
		}
		rlocksuite.MustLive(t, rdb, "l", time.Minute)
	})
}

func TestTheNextWaiterIsWokenWhenTheFirstLeavesAFreeFairLock(t *testing.T) {
	rdb := connect(t)
	gone := newClient(t, rdb, rlock.Options{ID: "gone"}).FairLock("l")
	rlocksuite.Enqueue(rdb, "gone:1", time.Minute)
	l := newClient(t, rdb, rlock.Options{}).FairLock("l")
	got := rlocksuite.Queues(t, rdb, t.Context(), l)
	if _, err := gone.NewClaim(1, "u").Release(); err != nil {
		t.Fatal(err)
	}
	release(t, got.Hold(t))
	rlocksuite.MustHold(t, rdb, nil)
}

func TestAnOwnerIsInTheFairQueueOnce(t *testing.T) {
	rdb := connect(t)
	ctx := t.Context()
	acquire(t, newClient(t, rdb, rlock.Options{ID: "a"}).FairLock("l"))
	b := newClient(t, rdb, rlock.Options{ID: "b"}).FairLock("l").NewClaim(1, "b")
	c := newClient(t, rdb, rlock.Options{ID: "c"}).FairLock("l").NewClaim(1, "c")
	for range 2 {
		for _, claim := range []*rlock.Claim{b, c} {
			if _, err := claim.Acquire(time.Minute, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := map[string]string{"l": "map[a:1:1]", rlocksuite.FairQueue: "[b:1 c:1]",
		rlocksuite.FairTimeouts: "[b:1 c:1]"}
	rlocksuite.MustHold(t, rdb, want)
	turn := rdb.ZScore(ctx, rlocksuite.FairTimeouts, "b:1").Val()
	for range 2 {
		if _, err := b.Release(); err != nil {
			t.Fatal(err)
		}
	}
	want = map[string]string{"l": "map[a:1:1]", rlocksuite.FairQueue: "[c:1]",
		rlocksuite.FairTimeouts: "[c:1]"}
	rlocksuite.MustHold(t, rdb, want)
	if got := rdb.ZScore(ctx, rlocksuite.FairTimeouts, "c:1").Val(); got != turn {
		t.Fatalf("c's deadline is %.0f, not %.0f", got, turn)
	}
	if _, err := b.Acquire(time.Minute, true); err != nil { // a late copy does not queue again
		t.Fatal(err)
	}
	rlocksuite.MustHold(t, rdb, want)
}

func TestAWriteRenewalDoesNotShortenTheWritersReadLease(t *testing.T) {
	rdb := connect(t)
	rw := newClient(t, rdb, rlock.Options{}).RWLock("l")
	w := acquire(t, rw.Write(), rlock.Lease(10*time.Second))
	acquireIn(t, w.Context(), rw.Read(), rlock.Lease(time.Minute))
	if got, err := rw.Write().NewClaim(1, "").Renew(10 * time.Second); got != int64(1) ||
		err != nil {
		t.Fatal(got, err)
	}
	rlocksuite.MustLive(t, rdb, "l", time.Minute)
}
