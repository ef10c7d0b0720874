package rlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockredis/lockredis/rlock"
)

// warm loads the scripts into the server and opens a connection of the client.
func warm(t testing.TB, c *rlock.Client) {
	t.Helper()
	l := c.Lock("warm")
	must(t, l.Lock(context.Background()))
	must(t, l.Unlock(context.Background()))
}

// waitedFor waits until the lock's channel has a subscriber, or has none.
func waitedFor(t testing.TB, rdb *redis.Client, name string, want bool) {
	t.Helper()
	channel := "redisson_lock__channel:{" + name + "}"
	eventually(t, "subscriptions to "+channel, func() bool {
		return (rdb.PubSubNumSub(context.Background(), channel).Val()[channel] > 0) == want
	})
}

func TestAnAcquireWithLostRepliesCountsOnce(t *testing.T) {
	ctx := context.Background()
	p, direct := throughProxy(t)
	c := newClient(t, p.dial(t), rlock.Options{})
	warm(t, c)
	l := c.Lock("l")
	for n := 1; n <= 3; n++ {
		before := calls(t, direct, "evalsha")
		p.loseReplies("evalsha", 3)
		must(t, l.Lock(ctx))
		if ran := calls(t, direct, "evalsha") - before; ran != 4 {
			t.Fatalf("the script ran %d times", ran)
		}
		if got, err := l.HoldCount(ctx); err != nil || got != n {
			t.Fatalf("locked %d times, hold count %d, %v", n, got, err)
		}
	}
}

func TestAnUnlockWithLostRepliesCountsOnce(t *testing.T) {
	ctx := context.Background()
	p, direct := throughProxy(t)
	c := newClient(t, p.dial(t), rlock.Options{})
	warm(t, c)
	l := c.Lock("l")
	for range 3 {
		must(t, l.Lock(ctx))
	}
	for n := 2; n >= 0; n-- {
		before := calls(t, direct, "evalsha")
		p.loseReplies("evalsha", 3)
		must(t, l.Unlock(ctx))
		if ran := calls(t, direct, "evalsha") - before; ran != 4 {
			t.Fatalf("the script ran %d times", ran)
		}
		if got, err := l.HoldCount(ctx); err != nil || got != n {
			t.Fatalf("hold count %d instead of %d, %v", got, n, err)
		}
	}
	if err := l.Unlock(ctx); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
	c.Close()
	left := direct.Keys(ctx, "*").Val()
	if len(left) != 3 { // their latches: an earlier send may still reach the server
		t.Fatalf("left over: %v", left)
	}
	for _, latch := range left {
		if ttl := direct.TTL(ctx, latch).Val(); ttl <= 30*time.Second || ttl > 50*time.Second {
			t.Fatalf("%s lives for %v", latch, ttl)
		}
	}
}

func TestAnAcquireWithoutAReplyLeavesNothing(t *testing.T) {
	p, direct := throughProxy(t)
	c := newClient(t, p.dial(t), rlock.Options{})
	warm(t, c)
	gone := func() bool { return direct.Exists(context.Background(), "l").Val() == 0 }

	t.Run("when all replies are lost", func(t *testing.T) {
		defer p.heal()
		p.loseReplies("evalsha", 1000)
		before := calls(t, direct, "evalsha")
		if err := c.Lock("l").Lock(t.Context()); err == nil {
			t.Fatal("locked without an answer")
		}
		if calls(t, direct, "evalsha") == before {
			t.Fatal("no script ran")
		}
		p.heal()
		eventually(t, "the lock is undone", gone)
	})
	t.Run("when its context ends on a connection that hangs", func(t *testing.T) {
		defer p.heal()
		p.hang()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		l := c.Lock("l")
		if err := l.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		p.heal() // only now the script runs
		must(t, l.Lock(t.Context()))
		if n, err := l.HoldCount(t.Context()); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		must(t, l.Unlock(t.Context()))
		eventually(t, "the lock is free", gone)
	})
	t.Run("of a nested lock", func(t *testing.T) {
		defer p.heal()
		l := c.Lock("l")
		must(t, l.Lock(t.Context()))
		p.loseReplies("evalsha", 5) // one of sendQuick, and four of go-redis
		if err := l.Lock(t.Context()); err == nil {
			t.Fatal("locked without an answer")
		}
		p.heal()
		eventually(t, "the hold count is one", func() bool {
			n, err := l.HoldCount(t.Context())
			return err == nil && n == 1
		})
		must(t, l.Unlock(t.Context()))
		eventually(t, "the lock is free", gone)
	})
}

// allowed is how long a call may take to return after its context ended.
const allowed = 50 * time.Millisecond

func TestACallEndsWithItsContextOnAConnectionThatHangs(t *testing.T) {
	p, direct := throughProxy(t)
	rdb := p.dial(t)
	if o := rdb.Options(); o.MaxRetries != 3 || o.ContextTimeoutEnabled {
		t.Fatalf("not go-redis's defaults: %+v", o)
	}
	c := newClient(t, rdb, rlock.Options{})
	warm(t, c)
	free, held, other, waiter := c.Lock("free"), c.Lock("held"), c.Lock("held"), c.Lock("held")
	must(t, held.Lock(t.Context()))
	multi := rlock.NewMultiLock(c.Lock("m1"), c.Lock("m2"))
	waits := make(chan error, 1)
	waitCtx, endWait := context.WithCancel(t.Context())
	go func() { waits <- waiter.Lock(waitCtx) }()
	waitedFor(t, direct, "held", true)

	p.hang()
	for _, call := range []struct {
		name string
		f    func(context.Context) error
	}{
		{"Lock", free.Lock},
		{"LockLease", func(ctx context.Context) error { return c.Lock("free2").LockLease(ctx, time.Second) }},
		{"TryLock", func(ctx context.Context) error { return other.TryLock(ctx, time.Hour, 0) }},
		{"Lock of what is held", held.Lock},
		{"Unlock while that is under way", held.Unlock},
		{"Lock after Lock", free.Lock},
		{"ForceUnlock", func(ctx context.Context) error { _, err := other.ForceUnlock(ctx); return err }},
		{"IsLocked", func(ctx context.Context) error { _, err := other.IsLocked(ctx); return err }},
		{"HeldByMe", func(ctx context.Context) error { _, err := other.HeldByMe(ctx); return err }},
		{"HoldCount", func(ctx context.Context) error { _, err := other.HoldCount(ctx); return err }},
		{"TTL", func(ctx context.Context) error { _, err := other.TTL(ctx); return err }},
		{"MultiLock.Lock", multi.Lock},
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
	if err := <-waits; !errors.Is(err, context.Canceled) || time.Since(start) > allowed {
		t.Errorf("a wait: %v after %v", err, time.Since(start))
	}
	start = time.Now()
	err := c.Lock("free3").TryLock(t.Context(), 10*time.Millisecond, 0)
	if late := time.Since(start) - 10*time.Millisecond; !errors.Is(err, rlock.ErrTimeout) ||
		late > allowed {
		t.Errorf("a wait time: %v, %v late", err, late)
	}
	p.heal()
	eventually(t, "all is released", func() bool {
		return direct.Exists(t.Context(), "free", "free2", "free3", "held", "m1", "m2").Val() == 0
	})
}

func TestDoReleasesTheLockWhenItsContextEnds(t *testing.T) {
	p, direct := throughProxy(t)
	c := newClient(t, p.dial(t), rlock.Options{})
	warm(t, c)
	for _, f := range []fault{{"a connection that answers", func(*proxy) {}},
		{"one that hangs", (*proxy).hang}} {
		t.Run("on "+f.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			start := time.Now()
			err := c.Lock("l").Do(ctx, func(ctx context.Context) error {
				f.make(p)
				cancel()
				<-ctx.Done()
				start = time.Now()
				return ctx.Err()
			})
			if took := time.Since(start); took > 100*time.Millisecond+allowed ||
				!errors.Is(err, context.Canceled) {
				t.Fatalf("%v after %v", err, took)
			}
			p.heal()
			eventually(t, "the lock is free", func() bool {
				return direct.Exists(t.Context(), "l").Val() == 0
			})
		})
	}
}

// fault makes a proxy fail.
type fault struct {
	name string
	make func(*proxy)
}

func connectionFaults() []fault {
	return []fault{{"is refused", (*proxy).cut}, {"hangs", (*proxy).hang}}
}

func TestALockIsLostWhenTheConnectionFailsForItsLease(t *testing.T) {
	for _, f := range connectionFaults() {
		t.Run("and "+f.name, func(t *testing.T) {
			const lease = 300 * time.Millisecond
			p, _ := throughProxy(t)
			lost := make(chan rlock.Event, 1)
			c := newClient(t, p.dial(t),
				rlock.Options{Lease: lease, Observer: rlock.Observer{Lost: func(e rlock.Event) {
					lost <- e
				}}})
			warm(t, c)
			l := c.Lock("l")
			err := l.Do(t.Context(), func(ctx context.Context) error {
				start := time.Now()
				f.make(p)
				<-ctx.Done()
				if took := time.Since(start); took > lease+allowed {
					t.Errorf("trusted for %v", took)
				}
				<-l.Lost()
				p.heal()
				return context.Cause(ctx)
			})
			if !errors.Is(err, rlock.ErrLockLost) {
				t.Fatal(err)
			}
			if e := <-lost; !errors.Is(e.Err, rlock.ErrLockLost) || e.Name != "l" {
				t.Fatalf("event %+v", e)
			}
			must(t, l.TryLock(t.Context(), 5*time.Second, 0))
			must(t, l.Unlock(t.Context()))
		})
	}
}

func TestALockIsKeptWhenTheConnectionRecoversInTime(t *testing.T) {
	for _, f := range connectionFaults() {
		t.Run("and "+f.name, func(t *testing.T) {
			const lease = 900 * time.Millisecond
			p, direct := throughProxy(t)
			renewed := make(chan time.Time, 1000)
			c := newClient(t, p.dial(t),
				rlock.Options{Lease: lease, Observer: rlock.Observer{Renewed: func(rlock.Event) {
					renewed <- time.Now()
				}}})
			err := c.Lock("l").Do(t.Context(), func(ctx context.Context) error {
				<-renewed
				f.make(p)
				<-time.After(2 * lease / 3) // renewals have been in vain by then
				healed := time.Now()
				p.heal()
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
			eventually(t, "the lock is free", func() bool {
				return direct.Exists(t.Context(), "l").Val() == 0
			})
		})
	}
}

func TestALostWakeUpCostsAtMostTheHoldersLease(t *testing.T) {
	const lease = 300 * time.Millisecond
	for _, f := range []fault{
		{"when the message is lost", (*proxy).loseMessages},
		{"when the subscription is cut", (*proxy).endSubscriptions},
	} {
		t.Run(f.name, func(t *testing.T) {
			p, direct := throughProxy(t)
			c := newClient(t, p.dial(t), rlock.Options{})
			warm(t, c)
			holder := newClient(t, direct, rlock.Options{}).Lock("l")
			must(t, holder.LockLease(t.Context(), lease))
			locked := time.Now()
			got := make(chan error, 1)
			l := c.Lock("l")
			go func() { got <- l.Lock(t.Context()) }()
			waitedFor(t, direct, "l", true)
			f.make(p)
			must(t, holder.Unlock(t.Context()))
			must(t, <-got)
			if took := time.Since(locked); took > lease+allowed {
				t.Fatalf("waited %v", took)
			}
			must(t, l.Unlock(t.Context()))
		})
	}
}

func TestAWaitContinuesAfterAReconnect(t *testing.T) {
	p, direct := throughProxy(t)
	c := newClient(t, p.dial(t), rlock.Options{})
	holder := newClient(t, direct, rlock.Options{}).Lock("l")
	must(t, holder.Lock(t.Context())) // for 30 s: only a message can wake l before that
	got := make(chan error, 1)
	l := c.Lock("l")
	go func() { got <- l.Lock(t.Context()) }()
	waitedFor(t, direct, "l", true)
	p.cut()
	waitedFor(t, direct, "l", false)
	must(t, holder.Unlock(t.Context())) // its message has no subscriber
	p.heal()
	select {
	case err := <-got:
		must(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("not woken by the new subscription")
	}
	must(t, l.Unlock(t.Context()))
}

func TestScriptsAreSentAgainAfterScriptFlush(t *testing.T) {
	rdb := connect(t)
	ctx := t.Context()
	renewed := make(chan struct{}, 1000)
	c := newClient(t, rdb,
		rlock.Options{Lease: 90 * time.Millisecond,
			Observer: rlock.Observer{Renewed: func(rlock.Event) { renewed <- struct{}{} }}})
	l := c.Lock("l")
	flush := func() { must(t, rdb.ScriptFlush(ctx).Err()) }
	must(t, l.Lock(ctx))
	for range 3 {
		flush()
		for range len(renewed) + 1 {
			<-renewed
		}
	}
	flush()
	must(t, l.Lock(ctx))
	flush()
	must(t, l.Unlock(ctx))
	flush()
	must(t, l.Unlock(ctx))
	if n := rdb.Exists(ctx, "l").Val(); n != 0 {
		t.Fatal("still locked")
	}
}

func TestCloseEndsWaitsAndGoroutines(t *testing.T) {
	srv := connect(t)
	must(t, srv.Ping(t.Context()).Err())
	before := goleak.IgnoreCurrent()
	rdb := redis.NewClient(&redis.Options{Addr: srv.Options().Addr})
	c := rlock.New(rdb, rlock.Options{})
	must(t, c.Lock("l").Lock(t.Context()))
	const n = 10
	waits := make(chan error, n)
	for range n {
		go func() { waits <- c.Lock("l").Lock(t.Context()) }()
	}
	waitedFor(t, srv, "l", true)
	must(t, c.Close())
	for range n {
		if err := <-waits; !errors.Is(err, rlock.ErrClosed) {
			t.Fatal(err)
		}
	}
	if err := c.Lock("other").Lock(t.Context()); !errors.Is(err, rlock.ErrClosed) {
		t.Fatal(err)
	}
	must(t, c.Close())
	if ttl := srv.PTTL(t.Context(), "l").Val(); ttl <= 0 {
		t.Fatalf("a lock that was held has a TTL of %v", ttl)
	}
	must(t, rdb.Close())
	if err := goleak.Find(before); err != nil { // Find also waits for the server's goroutines
		t.Fatal(err)
	}
}

func TestCloseWaitsForAServerThatHangsOnlyUntilTheCommandTimeout(t *testing.T) {
	p, _ := throughProxy(t)
	rdb := redis.NewClient(&redis.Options{Addr: p.ln.Addr().String(),
		ReadTimeout: 50 * time.Millisecond, MaxRetries: -1})
	defer rdb.Close()
	c := rlock.New(rdb, rlock.Options{})
	warm(t, c)
	must(t, c.Lock("held").Lock(t.Context()))
	p.hang()
	defer p.heal()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := c.Lock("l").Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	start := time.Now()
	must(t, c.Close())
	if took := time.Since(start); took > time.Second {
		t.Fatalf("closed after %v", took)
	}
}
