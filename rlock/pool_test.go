package rlock_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// busyPool is a client with RetryFor of 300 ms of a near server, whose only connection the
// program's own BLPOP has for 20 s.
type busyPool struct {
	*rlock.Client
	srv   *lockredistest.Server
	held  *rlock.Hold           // of "held"
	sem   *rlock.Semaphore      // with a free permit
	rate  *rlock.RateLimiter    // likewise
	latch *rlock.CountDownLatch // with a count of 1
}

// withBusyPool runs f in virtual time with a busyPool.
func withBusyPool(t *testing.T, f func(t *testing.T, c busyPool)) {
	t.Helper()
	virtually(t, func(t *testing.T) {
		srv := holding(t)
		o := srv.Options()
		o.PoolSize = 1
		rdb := redis.NewClient(o)
		t.Cleanup(func() { rdb.Close() })
		c := newClient(t, rdb, rlock.Options{RetryFor: 300 * time.Millisecond})
		warm(t, c)
		b := busyPool{c, srv, acquire(t, c.Lock("held")), c.Semaphore("s"), c.RateLimiter("r"),
			c.CountDownLatch("c")}
		_, err := b.sem.TrySetPermits(t.Context(), 1)
		must(t, err)
		_, err = b.rate.TrySetRate(t.Context(), rlock.RateConfig{Rate: 1, Interval: time.Hour})
		must(t, err)
		_, err = b.latch.TrySetCount(t.Context(), 1)
		must(t, err)
		time.Sleep(time.Second) // the latches are swept
		go rdb.BLPop(context.Background(), 20*time.Second, "none")
		synctest.Wait()
		f(t, b)
	})
}

// callsWithLimits are calls with the time for which they may wait for an answer.
var callsWithLimits = []struct {
	name  string
	limit time.Duration
	call  func(ctx context.Context, c busyPool) error
}{
	{"Lock.Acquire with Wait(0)", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		return tryIn(ctx, c.Lock("l"), rlock.Wait(0))
	}},
	{"Lock.Acquire with Wait(100ms)", 100 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		return tryIn(ctx, c.Lock("l"), rlock.Wait(100*time.Millisecond))
	}},
	{"Lock.Acquire with Wait(10ms)", 10 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		return tryIn(ctx, c.Lock("l"), rlock.Wait(10*time.Millisecond))
	}},
	{"Lock.Acquire", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		return tryIn(ctx, c.Lock("l"))
	}},
	{"FairLock.Acquire", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		return tryIn(ctx, c.FairLock("l"))
	}},
	{"Lock.IsLocked", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		_, err := c.Lock("l").IsLocked(ctx)
		return err
	}},
	{"Lock.ForceUnlock", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		_, err := c.Lock("l").ForceUnlock(ctx)
		return err
	}},
	{"Hold.Release", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		return c.held.Release(ctx)
	}},
	{"Hold.Extend", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		return c.held.Extend(ctx, time.Minute)
	}},
	{"Semaphore.Acquire with Wait(0)", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		return c.sem.Acquire(ctx, 1, rlock.Wait(0))
	}},
	{"Semaphore.Release", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		return c.sem.Release(ctx, 1)
	}},
	{"RateLimiter.Acquire with Wait(0)", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		return c.rate.Acquire(ctx, 1, rlock.Wait(0))
	}},
	{"CountDownLatch.Await with Wait(0)", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		return c.latch.Await(ctx, rlock.Wait(0))
	}},
	{"CountDownLatch.CountDown", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		return c.latch.CountDown(ctx)
	}},
	{"MultiLock.Acquire with Wait(0)", 300 * time.Millisecond, func(ctx context.Context, c busyPool) error {
		_, err := rlock.Multi(c.Lock("l"), c.Lock("m")).Acquire(ctx, rlock.Wait(0))
		return err
	}},
}

// A request that waits for a connection of the pool has no more time than one that waits for an
// answer.
func TestACallWaitsForAConnectionOfThePoolNoLongerThanForAnAnswer(t *testing.T) {
	t.Parallel()
	for _, k := range callsWithLimits {
		for name, with := range map[string]func(context.Context) (context.Context, context.CancelFunc){
			"endless": func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithoutCancel(ctx), func() {}
			},
			"cancelable": context.WithCancel,
			"limited": func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, time.Hour)
			},
		} {
			if redistest.Quick() && name != "limited" {
				continue
			}
			t.Run(k.name+"/"+name, func(t *testing.T) {
				withBusyPool(t, func(t *testing.T, c busyPool) {
					ctx, cancel := with(t.Context())
					defer cancel()
					began := time.Now()
					err := k.call(ctx, c)
					if took := time.Since(began); err == nil || took > k.limit+10*time.Millisecond {
						t.Errorf("after %v the error is %v", took, err)
					}
				})
			})
		}
	}
}

func TestASingleTryWaitsASecondForAConnectionOfThePool(t *testing.T) {
	gated(t, 1, func(
		t *testing.T, srv *lockredistest.Server, rdb *redis.Client, _ *gate, c *rlock.Client) {
		go rdb.BLPop(t.Context(), 20*time.Second, "none")
		synctest.Wait()
		before := scripts(srv)
		began := time.Now()
		err := try(c.Lock("l"), rlock.Wait(0))
		if took := time.Since(began); took < 900*time.Millisecond || took > 1010*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		const want = "no connection of the pool (PoolSize 1) was free for 1s"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, without %q", err, want)
		}
		time.Sleep(time.Minute)
		if n := scripts(srv) - before; n != 0 {
			t.Errorf("%d scripts were sent", n)
		}
	})
}

// The requests that do not fit into the lane wait in its queue, and then in a pipeline.
func TestCallersBehindABusyPoolLeaveInTime(t *testing.T) {
	withBusyPool(t, func(t *testing.T, c busyPool) {
		began := time.Now()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				const want = "no connection of the pool (PoolSize 1) was free for 300ms"
				_, err := c.Lock("l").IsLocked(t.Context())
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, without %q", err, want)
				}
				if took := time.Since(began); took > 310*time.Millisecond {
					t.Errorf("it took %v", took)
				}
			})
		}
		wg.Wait()
	})
}

func TestAnAcquisitionThatWaitsForAConnectionOfThePoolEndsAtClose(t *testing.T) {
	for _, callers := range []int{1, 20} { // 20 are more than the lane sends at once
		gated(t, 1, func(
			t *testing.T, srv *lockredistest.Server, rdb *redis.Client, _ *gate, c *rlock.Client) {
			time.Sleep(time.Second) // the latches are swept
			go rdb.BLPop(t.Context(), 20*time.Second, "none")
			synctest.Wait()
			before := scripts(srv)
			var closed time.Time
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					mustBe(t, rlock.ErrClosed, try(c.Lock("l")))
					if took := time.Since(closed); took > 30*time.Millisecond {
						t.Errorf("it ended %v after Close", took)
					}
				})
			}
			time.Sleep(10 * time.Millisecond) // the requests wait for the connection
			closed = time.Now()
			limited, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			must(t, c.Close(limited))
			wg.Wait()
			if took := time.Since(closed); took > 30*time.Millisecond {
				t.Errorf("Close took %v", took)
			}
			time.Sleep(time.Minute)
			if n := scripts(srv) - before; n != 0 {
				t.Errorf("%d scripts were sent", n)
			}
		})
	}
}

// A release continues when its caller has left, but not after Close has given up.
func TestNothingWaitsForAConnectionOfThePoolAfterCloseHasGivenUp(t *testing.T) {
	withBusyPool(t, func(t *testing.T, c busyPool) {
		time.Sleep(19 * time.Second)
		if err := c.held.Release(t.Context()); err == nil {
			t.Error("released")
		}
		before := scripts(c.srv)
		limited, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if c.Close(limited) == nil {
			t.Error("closed")
		}
		time.Sleep(time.Minute)
		if n := scripts(c.srv) - before; n != 0 {
			t.Errorf("%d scripts were sent", n)
		}
	})
}

func TestCloseDoesNotWaitForAConnectionToRenewLeasesThatAreOver(t *testing.T) {
	withBusyPool(t, func(t *testing.T, c busyPool) {
		time.Sleep(11 * time.Second) // a renewal waits for the connection
		closesSoon(t, c.Client)
	})
}

func TestCloseWaitsLittleForAConnectionToDeleteLatches(t *testing.T) {
	gated(t, 1, func(
		t *testing.T, _ *lockredistest.Server, rdb *redis.Client, _ *gate, c *rlock.Client) {
		go rdb.BLPop(t.Context(), 20*time.Second, "none")
		synctest.Wait()
		time.Sleep(time.Second) // the deletion waits for the connection
		closesSoon(t, c)
	})
}

// closesSoon closes c, which waits little for a connection of the pool.
func closesSoon(t *testing.T, c *rlock.Client) {
	t.Helper()
	began := time.Now()
	must(t, c.Close(t.Context()))
	if took := time.Since(began); took > 250*time.Millisecond {
		t.Errorf("Close took %v", took)
	}
}

func TestARequestThatWaitedForAConnectionOfThePoolIsSentThen(t *testing.T) {
	gated(t, 1, func(
		t *testing.T, srv *lockredistest.Server, rdb *redis.Client, _ *gate, c *rlock.Client) {
		go rdb.BLPop(t.Context(), time.Second, "none")
		synctest.Wait()
		time.Sleep(500 * time.Millisecond)
		before := scripts(srv)
		began := time.Now()
		h := acquire(t, c.Lock("l"), rlock.Wait(0))
		if took := time.Since(began); took > 600*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		release(t, h)
		if n := scripts(srv) - before; n != 2 {
			t.Errorf("%d scripts were sent", n)
		}
	})
}

// nodesAt returns a cluster client for two servers, each with half of the slots, and their
// addresses.
func nodesAt(t *testing.T, low, high *lockredistest.Server) (
	rdb *redis.ClusterClient, lowAddr, highAddr string) {
	lowAddr, highAddr = "10.0.0.1:6379", "10.0.0.2:6379"
	rdb = clusterOf(t, func(o *redis.ClusterOptions) {
		o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == lowAddr {
				return low.Dial(ctx, network, addr)
			}
			return high.Dial(ctx, network, addr)
		}
	}, lowAddr, highAddr)
	return rdb, lowAddr, highAddr
}

func TestACallThatIsRedirectedToANodeThatHangsEndsInTime(t *testing.T) {
	for _, kind := range []string{"ASK", "MOVED"} {
		virtually(t, func(t *testing.T) {
			target, source := holding(t), holding(t)
			rdb, addr, _ := nodesAt(t, target, source)
			c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOff, RetryFor: 300 * time.Millisecond})
			for range 2 {
				release(t, acquire(t, c.Lock("l"))) // the source is near
			}
			source.FailRequest(lockredistest.Match{Key: "l", Times: lockredistest.Always},
				kind+" 11562 "+addr)
			defer target.Hang().Clear()
			began := time.Now()
			_, err := c.Lock("l").IsLocked(t.Context())
			if took := time.Since(began); err == nil || took > 310*time.Millisecond {
				t.Errorf("%s: after %v the error is %v", kind, took, err)
			}
		})
	}
}

func TestACallThatWaitsForTheSlotMapEndsInTime(t *testing.T) {
	virtually(t, func(t *testing.T) {
		rdb := clusterOf(t, func(o *redis.ClusterOptions) {
			o.ClusterSlots = func(ctx context.Context) ([]redis.ClusterSlot, error) {
				time.Sleep(20 * time.Second)
				return nil, io.ErrUnexpectedEOF
			}
		}, "10.0.0.1:6379")
		c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOff, RetryFor: 2 * time.Second})
		for limit, call := range map[time.Duration]func() error{
			time.Second: func() error { return try(c.Lock("l"), rlock.Wait(0)) },
			2 * time.Second: func() error {
				_, err := c.Lock("l").IsLocked(t.Context())
				return err
			},
		} {
			began := time.Now()
			err := call()
			if took := time.Since(began); err == nil || took > limit+10*time.Millisecond {
				t.Errorf("after %v the error is %v", took, err)
			}
		}
	})
}

// When a copy of a rate limiter's acquisition may still arrive, another request follows the grant.
// It makes the copy harmless.
func TestAGrantOfARateLimiterDoesNotWaitForWhatFollowsIt(t *testing.T) {
	gated(t, 10, func(
		t *testing.T, srv *lockredistest.Server, _ *redis.Client, _ *gate, c *rlock.Client) {
		r := c.RateLimiter("r")
		_, err := r.TrySetRate(t.Context(), rlock.RateConfig{Rate: 5, Interval: time.Hour})
		must(t, err)
		must(t, r.Acquire(t.Context(), 1)) // the server knows the script
		loseReplies(srv, 0, 1)
		hold := srv.HoldRequest(lockredistest.Match{
			Command: "evalsha", Nth: 3, Times: lockredistest.Always}, time.Hour)
		defer hold.Clear()
		began := time.Now()
		err = r.Acquire(t.Context(), 1, rlock.Wait(0))
		if took := time.Since(began); err != nil || took > 500*time.Millisecond || hold.Hits() == 0 {
			t.Errorf("after %v the error is %v; %d requests were held", took, err, hold.Hits())
		}
	})
}

// askedContext counts how often Done is asked for.
type askedContext struct {
	context.Context
	asked *atomic.Int32
}

func (a askedContext) Done() <-chan struct{} {
	a.asked.Add(1)
	return a.Context.Done()
}

// asking is a hook that gives each script an askedContext.
type asking struct{ asked atomic.Int32 }

func (*asking) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*asking) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (a *asking) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" {
			ctx = askedContext{ctx, &a.asked}
		}
		return next(ctx, cmd)
	}
}

// A deadline would ask the context above it for Done, once more than go-redis does.
func TestARequestMakesADeadlineOnlyWhileNoConnectionIsFree(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		o := srv.Options()
		o.PoolSize = 1
		rdb := redis.NewClient(o)
		t.Cleanup(func() { rdb.Close() })
		var a asking
		rdb.AddHook(&a)
		c := newClient(t, rdb, rlock.Options{})
		warm(t, c)
		time.Sleep(time.Second) // the latches are swept
		before := a.asked.Load()
		h := acquire(t, c.Lock("l"))
		if n := a.asked.Load() - before; n != 1 {
			t.Errorf("Done was asked for %d times with a free connection", n)
		}
		release(t, h)
		time.Sleep(time.Second)
		go rdb.BLPop(t.Context(), time.Second, "none")
		synctest.Wait()
		before = a.asked.Load()
		release(t, acquire(t, c.Lock("l")))
		if n := a.asked.Load() - before; n < 3 {
			t.Errorf("Done was asked for %d times with a busy pool", n)
		}
	})
}
