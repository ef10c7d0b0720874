package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// warm loads the scripts into the server, opens a connection of the client and lets the
// client measure how fast the server is.
func warm(t testing.TB, c *rlock.Client) {
	t.Helper()
	for range 2 {
		release(t, acquire(t, c.Lock("warm")))
	}
}

// waitedFor waits until the lock's channel has a subscriber, or has none.
func waitedFor(t testing.TB, srv *lockredistest.Server, name string, want bool) {
	t.Helper()
	channel := "redisson_lock__channel:{" + name + "}"
	eventually(t, "subscriptions to "+channel, func() bool {
		return (srv.PubSubNumSub(channel)[channel] > 0) == want
	})
}

func TestAnAcquireWithLostRepliesCountsOnce(t *testing.T) {
	virtually(t, func(t *testing.T) {
		ctx := context.Background()
		srv := holding(t)
		c := newClient(t, srv.Client(), rlock.Options{ID: "me"})
		warm(t, c)
		l := c.Lock("l")
		lost := loseReplies(srv, 0, 3)
		h := acquire(t, l)
		if lost.Hits() != 3 {
			t.Fatalf("%d replies are lost", lost.Hits())
		}
		if got, err := l.HoldCount(ctx, h.Owner()); err != nil || got != 1 {
			t.Fatalf("hold count %d, %v", got, err)
		}
	})
}

func TestAReleaseWithLostRepliesCountsOnce(t *testing.T) {
	virtually(t, func(t *testing.T) {
		ctx := context.Background()
		srv := lockredistest.RunT(t)
		c := newClient(t, srv.Client(), rlock.Options{ID: "me"})
		warm(t, c)
		h := acquire(t, c.Lock("l"))
		lost := loseReplies(srv, 0, 3)
		must(t, h.Release(ctx))
		if lost.Hits() != 3 {
			t.Fatalf("%d replies are lost", lost.Hits())
		}
		mustBe(t, rlock.ErrNotHeld, h.Release(ctx))
		must(t, c.Close(ctx))
		left := srv.Keys()
		if len(left) != 1 { // the latch: an earlier send may still reach the server
			t.Fatalf("left over: %v", left)
		}
		for _, latch := range left {
			if ttl := srv.TTL(latch); ttl <= 4*time.Minute || ttl > 5*time.Minute {
				t.Fatalf("%s lives for %v", latch, ttl)
			}
		}
	})
}

func TestAnAcquireWithoutAReplyLeavesNothing(t *testing.T) {
	type bed struct {
		srv *lockredistest.Server
		l   *rlock.Lock
	}
	gone := func(b bed) func() bool { return func() bool { return !b.srv.Exists("l") } }
	for what, f := range map[string]func(*testing.T, bed){
		"when all replies are lost": func(t *testing.T, b bed) {
			lost := loseReplies(b.srv, 0, lockredistest.Always)
			if _, err := b.l.Acquire(t.Context()); err == nil {
				t.Fatal("acquired without an answer")
			}
			if lost.Hits() == 0 {
				t.Fatal("no script ran")
			}
			lost.Clear()
			eventually(t, "the lock is undone", gone(b))
		},
		"when its context ends on a connection that hangs": func(t *testing.T, b bed) {
			hang := b.srv.Hang()
			defer hang.Clear()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			_, err := b.l.Acquire(ctx)
			mustBe(t, context.DeadlineExceeded, err)
			hang.Clear() // only now the script runs
			h := acquire(t, b.l)
			if n, err := b.l.HoldCount(t.Context(), h.Owner()); err != nil || n != 1 {
				t.Fatal(n, err)
			}
			release(t, h)
			eventually(t, "the lock is free", gone(b))
		},
	} {
		t.Run(what, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				c := newClient(t, srv.Client(), rlock.Options{ID: "me", RetryFor: 200 * time.Millisecond})
				warm(t, c)
				f(t, bed{srv, c.Lock("l")})
			})
		})
	}
}

// undoWait is how long an acquisition without an answer waits for its undo, when its
// context has not ended.
const undoWait = 100 * time.Millisecond

// allowed is how long a call may take to return after its context ended.
const allowed = 50 * time.Millisecond

func TestACallEndsWithItsContextOnAConnectionThatHangs(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		rdb := srv.Client()
		if o := rdb.Options(); o.MaxRetries != 3 || o.ContextTimeoutEnabled {
			t.Fatalf("not go-redis's defaults: %+v", o)
		}
		c := newClient(t, rdb, rlock.Options{})
		warm(t, c)
		free, held := c.Lock("free"), c.Lock("held")
		h := acquire(t, held)
		multi := rlock.Multi(c.Lock("m1"), c.Lock("m2"))
		waitCtx, endWait := context.WithCancel(t.Context())
		waits := rlocksuite.Begin(waitCtx, held)
		waitedFor(t, srv, "held", true)
		acquires := func(l *rlock.Lock, o ...rlock.Option) func(context.Context) error {
			return func(ctx context.Context) error { _, err := l.Acquire(ctx, o...); return err }
		}

		hang := srv.Hang()
		for _, call := range []struct {
			name string
			f    func(context.Context) error
		}{
			{"Acquire", acquires(free)},
			{"Acquire with Lease", acquires(c.Lock("free2"), rlock.Lease(time.Second))},
			{"Acquire with Wait", acquires(held, rlock.Wait(time.Hour))},
			{"Acquire of another lock inside", func(context.Context) error {
				ctx, cancel := context.WithTimeout(h.Context(), 10*time.Millisecond)
				defer cancel()
				return acquires(free)(ctx)
			}},
			{"Extend", func(ctx context.Context) error { return h.Extend(ctx, time.Minute) }},
			{"Release", h.Release},
			{"Acquire after Acquire", acquires(free)},
			{"ForceUnlock", func(ctx context.Context) error { _, err := held.ForceUnlock(ctx); return err }},
			{"IsLocked", func(ctx context.Context) error { _, err := held.IsLocked(ctx); return err }},
			{"HoldCount", func(ctx context.Context) error {
				_, err := held.HoldCount(ctx, "me:1")
				return err
			}},
			{"TTL", func(ctx context.Context) error { _, err := held.TTL(ctx); return err }},
			{"MultiLock.Acquire", func(ctx context.Context) error {
				_, err := multi.Acquire(ctx)
				return err
			}},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			err := call.f(ctx)
			end, _ := ctx.Deadline()
			if late := time.Since(end); late > allowed {
				t.Errorf("%s: %v after its context's end", call.name, late)
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", call.name, err)
			}
			cancel()
		}
		start := time.Now()
		endWait()
		if _, err := waits.Result(); !errors.Is(err, context.Canceled) || time.Since(start) > allowed {
			t.Errorf("a wait: %v after %v", err, time.Since(start))
		}
		start = time.Now()
		err := try(c.Lock("free3"), rlock.Wait(10*time.Millisecond))
		late := time.Since(start) - 10*time.Millisecond - undoWait
		if !errors.Is(err, rlock.ErrTimeout) || late > allowed {
			t.Errorf("a wait time: %v, %v late", err, late)
		}
		hang.Clear()
		eventually(t, "all is released", func() bool {
			return !slices.ContainsFunc([]string{"free", "free2", "free3", "held", "m1", "m2"}, srv.Exists)
		})
	})
}

func TestDoReleasesTheLockWhenItsContextEnds(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		t.Run(fmt.Sprintf("on a server that hangs %v", hangs), func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				c := newClient(t, srv.Client(), rlock.Options{})
				warm(t, c)
				ctx, cancel := context.WithCancel(t.Context())
				start := time.Now()
				err := c.Lock("l").Do(ctx, func(ctx context.Context) error {
					if hangs {
						srv.Hang()
					}
					cancel()
					<-ctx.Done()
					start = time.Now()
					return ctx.Err()
				})
				if took := time.Since(start); took > 100*time.Millisecond+allowed ||
					!errors.Is(err, context.Canceled) {
					t.Fatalf("%v after %v", err, took)
				}
				srv.ClearFaults()
				eventually(t, "the lock is free", func() bool { return !srv.Exists("l") })
			})
		})
	}
}

func TestALockIsLostWhenItsServerIsUnreachableForItsLease(t *testing.T) {
	eachOutage(t, func(t *testing.T, o outage) {
		const lease = 300 * time.Millisecond
		srv := lockredistest.RunT(t)
		lost := make(chan rlock.Event, 1)
		c := newClient(t, srv.Client(), rlock.Options{Lease: lease, Observer: rlock.Observer{
			Lost: func(_ context.Context, e rlock.Event) { lost <- e }}})
		warm(t, c)
		l := c.Lock("l")
		h := acquire(t, l)
		start := time.Now()
		end := o.begin(t, srv)
		<-h.Context().Done()
		if took := time.Since(start); took > lease {
			t.Errorf("trusted for %v", took)
		}
		<-h.Lost()
		end()
		mustBe(t, rlock.ErrLockLost, context.Cause(h.Context()))
		mustBe(t, rlock.ErrLockLost, h.Release(t.Context()))
		if e := <-lost; !errors.Is(e.Err, rlock.ErrLockLost) || e.Name != "l" {
			t.Fatalf("event %+v", e)
		}
		must(t, try(l, rlock.Wait(5*time.Second)))
	})
}

func TestALockIsKeptWhenItsServerIsReachableAgainInTime(t *testing.T) {
	eachOutage(t, func(t *testing.T, o outage) {
		const lease = 900 * time.Millisecond
		srv := lockredistest.RunT(t)
		renewed := make(chan time.Time, 1000)
		count := func(context.Context, rlock.Event) { renewed <- time.Now() }
		c := newClient(t, srv.Client(),
			rlock.Options{Lease: lease, Observer: rlock.Observer{Renewed: count}})
		err := c.Lock("l").Do(t.Context(), func(ctx context.Context) error {
			<-renewed
			end := o.begin(t, srv)
			<-time.After(2 * lease / 3) // renewals have been in vain by then
			healed := time.Now()
			end()
			for n := 0; n < 3; {
				select {
				case at := <-renewed:
					if at.After(healed) {
						n++
					}
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			return nil
		})
		must(t, err)
		eventually(t, "the lock is free", func() bool { return !srv.Exists("l") })
	})
}

func TestALostWakeUpCostsAtMostTheHoldersLease(t *testing.T) {
	const lease = 300 * time.Millisecond
	for what, lose := range map[string]func(*lockredistest.Server){
		"the message is lost": func(srv *lockredistest.Server) {
			srv.DropMessage(lockredistest.MessageMatch{})
		},
		"the subscription is cut": func(srv *lockredistest.Server) {
			srv.Cut(lockredistest.Connections{Subscribed: true})
		},
	} {
		t.Run("when "+what, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				c := newClient(t, srv.Client(), rlock.Options{})
				warm(t, c)
				holder := newClient(t, srv.Client(), rlock.Options{})
				held := acquire(t, holder.Lock("l"), rlock.Lease(lease))
				locked := time.Now()
				got := rlocksuite.Begin(t.Context(), c.Lock("l"))
				waitedFor(t, srv, "l", true)
				lose(srv)
				release(t, held)
				h := got.Hold(t)
				if took := time.Since(locked); took > lease+allowed {
					t.Fatalf("waited %v", took)
				}
				release(t, h)
			})
		})
	}
}

func TestAWaitContinuesAfterAReconnect(t *testing.T) {
	srv := lockredistest.RunT(t)
	c := newClient(t, clientNamed(t, srv, "waiter"), rlock.Options{})
	// For 30 s: only a message can wake the waiter before that.
	held := acquire(t, newClient(t, srv.Client(), rlock.Options{}).Lock("l"))
	got := rlocksuite.Begin(t.Context(), c.Lock("l"))
	waitedFor(t, srv, "l", true)
	cut := cutOff(srv, "waiter")
	waitedFor(t, srv, "l", false)
	release(t, held) // its message has no subscriber
	cut.Clear()
	release(t, got.Hold(t))
}

func TestScriptsAreSentAgainAfterScriptFlush(t *testing.T) {
	virtually(t, func(t *testing.T) {
		rdb := holding(t).Client()
		ctx := t.Context()
		renewed := make(chan struct{}, 1000)
		c := newClient(t, rdb, rlock.Options{Lease: 90 * time.Millisecond, Observer: rlock.Observer{
			Renewed: func(context.Context, rlock.Event) { renewed <- struct{}{} }}})
		l := c.Lock("l")
		flush := func() { must(t, rdb.ScriptFlush(ctx).Err()) }
		h := acquire(t, l)
		for range 3 {
			flush()
			for range len(renewed) + 1 {
				<-renewed
			}
		}
		flush()
		release(t, h)
		if n := rdb.Exists(ctx, "l").Val(); n != 0 {
			t.Fatal("still locked")
		}
	})
}

func TestCloseEndsWaitsAndGoroutines(t *testing.T) {
	srv := holding(t)
	ctx := t.Context()
	before := goleak.IgnoreCurrent()
	rdb := redis.NewClient(srv.Options())
	c := rlock.New(rdb, rlock.Options{})
	l := c.Lock("l")
	acquire(t, l)
	var waits []*rlocksuite.Acquiring
	for range 10 {
		waits = append(waits, rlocksuite.Begin(ctx, l))
	}
	waitedFor(t, srv, "l", true)
	must(t, c.Close(ctx))
	for _, w := range waits {
		_, err := w.Result()
		mustBe(t, rlock.ErrClosed, err)
	}
	mustBe(t, rlock.ErrClosed, try(c.Lock("other")))
	must(t, c.Close(ctx))
	if ttl := srv.TTL("l"); ttl <= 0 {
		t.Fatalf("a lock that was held has a TTL of %v", ttl)
	}
	must(t, rdb.Close())
	if err := goleak.Find(before); err != nil { // Find also waits for the server's goroutines
		t.Fatal(err)
	}
}

func TestCloseWaitsForAServerThatHangsOnlyUntilItsContextEnds(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := holding(t)
		c := rlock.New(srv.Client(), rlock.Options{})
		warm(t, c)
		acquire(t, c.Lock("held"))
		srv.Hang()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		_, err := c.Lock("l").Acquire(ctx)
		mustBe(t, context.DeadlineExceeded, err)
		closing, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		mustBe(t, context.DeadlineExceeded, c.Close(closing))
		if took := time.Since(start); took > 100*time.Millisecond+allowed {
			t.Fatalf("closed after %v", took)
		}
	})
}
