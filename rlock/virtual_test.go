package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// inBubble runs f in a synctest bubble (virtual time), with a server and a client.
func inBubble(t *testing.T, o rlock.Options,
	f func(ctx context.Context, srv *lockredistest.Server, c *rlock.Client)) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		c := rlock.New(srv.Client(), o)
		defer c.Close(context.Background())
		f(t.Context(), srv, c)
	})
}

func TestTheWatchdogRenewsWhileTheLockIsHeld(t *testing.T) {
	var renewals atomic.Int64
	count := func(context.Context, rlock.Event) { renewals.Add(1) }
	o := rlock.Options{Observer: rlock.Observer{Renewed: count}}
	inBubble(t, o, func(ctx context.Context, srv *lockredistest.Server, c *rlock.Client) {
		h := acquire(t, c.Lock("l"))
		for range 60 {
			time.Sleep(time.Minute)
			if left := srv.TTL("l"); left < 19*time.Second || left > 30*time.Second {
				t.Fatalf("%v left", left)
			}
		}
		release(t, h)
		if n := renewals.Load(); n < 360 || n > 420 {
			t.Fatalf("%d renewals in an hour, want one every third of 30 s", n)
		}
	})
}

func TestADeletedLockIsLostAtTheNextRenewal(t *testing.T) {
	inBubble(t, rlock.Options{},
		func(ctx context.Context, srv *lockredistest.Server, c *rlock.Client) {
			var deleted time.Time
			err := c.Lock("l").Do(ctx, func(ctx context.Context) error {
				time.Sleep(time.Minute)
				must(t, ctx.Err())
				srv.Del("l")
				deleted = time.Now()
				<-ctx.Done()
				return context.Cause(ctx)
			})
			if took := time.Since(deleted); !errors.Is(err, rlock.ErrLockLost) || took > 10*time.Second {
				t.Fatal(took, err)
			}
		})
}

func TestAWaiterAcquiresWhenTheHoldersLeaseEnds(t *testing.T) {
	inBubble(t, rlock.Options{},
		func(ctx context.Context, srv *lockredistest.Server, c *rlock.Client) {
			dead := rlock.New(srv.Client(), rlock.Options{})
			acquire(t, dead.Lock("l"))
			must(t, dead.Close(ctx))
			start := time.Now()
			h := acquire(t, c.Lock("l"))
			if took := time.Since(start); took < 29*time.Second || took > 30*time.Second+2*time.Millisecond {
				t.Fatalf("took %v", took)
			}
			release(t, h)
		})
}

func TestAWaitEndsWithItsLimitAndItsContext(t *testing.T) {
	for _, kind := range []string{"lock", "fair", "read", "write", "spin"} {
		t.Run(kind, func(t *testing.T) {
			inBubble(t, rlock.Options{},
				func(ctx context.Context, srv *lockredistest.Server, c *rlock.Client) {
					l := map[string]*rlock.Lock{
						"lock": c.Lock("l"), "fair": c.FairLock("l"), "spin": c.SpinLock("l"),
						"read": c.RWLock("l").Read(), "write": c.RWLock("l").Write(),
					}[kind]
					holder := c.Lock("l")
					if kind == "read" || kind == "write" {
						holder = c.RWLock("l").Write()
					}
					held := acquire(t, holder)
					start := time.Now()
					mustBe(t, rlock.ErrTimeout, try(l, rlock.Wait(1500*time.Millisecond)))
					if took := time.Since(start); took != 1500*time.Millisecond {
						t.Fatalf("took %v", took)
					}
					limited, cancel := context.WithTimeout(ctx, 700*time.Millisecond)
					defer cancel()
					_, err := l.Acquire(limited)
					mustBe(t, context.DeadlineExceeded, err)
					if took := time.Since(start); took != 2200*time.Millisecond {
						t.Fatalf("took %v", took)
					}
					release(t, held)
					time.Sleep(100 * time.Millisecond) // the sweeper deletes the latches
					if keys := srv.Keys(); len(keys) > 0 {
						t.Fatalf("left over: %v", keys)
					}
				})
		})
	}
}

// TestOwnersOfEveryKindExcludeEachOther lets owners hold a lock for random times in
// virtual time. Some holds last until their lease ends.
func TestOwnersOfEveryKindExcludeEachOther(t *testing.T) {
	t.Parallel()
	redistest.SkipUnlessWhole(t)
	kinds := map[string]func(*rlock.Client) *rlock.Lock{
		"lock":   func(c *rlock.Client) *rlock.Lock { return c.Lock("l") },
		"fair":   func(c *rlock.Client) *rlock.Lock { return c.FairLock("l") },
		"write":  func(c *rlock.Client) *rlock.Lock { return c.RWLock("l").Write() },
		"fenced": func(c *rlock.Client) *rlock.Lock { return c.FencedLock("l").AsLock() },
		"spin":   func(c *rlock.Client) *rlock.Lock { return c.SpinLock("l") },
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			inBubble(t, rlock.Options{},
				func(ctx context.Context, srv *lockredistest.Server, c *rlock.Client) {
					var mu sync.Mutex
					inside, entered, l := "", 0, kind(c)
					var wg sync.WaitGroup
					for i := range 10 {
						wg.Add(1)
						go func() {
							defer wg.Done()
							rnd := rand.New(rand.NewPCG(uint64(i), 7))
							for n := range 20 {
								me := fmt.Sprint(i, ".", n)
								h, err := l.Acquire(ctx, rlock.Wait(time.Hour), rlock.Lease(10*time.Second))
								if err != nil {
									t.Error(err)
									return
								}
								mu.Lock()
								if inside != "" {
									t.Errorf("%s and %s hold the lock at the same time", me, inside)
								}
								inside = me
								entered++
								mu.Unlock()
								lapse := rnd.IntN(5) == 0
								time.Sleep(time.Duration(rnd.IntN(9000)) * time.Millisecond)
								mu.Lock()
								if inside != me {
									t.Errorf("%s held the lock, but so did %q", me, inside)
								}
								inside = ""
								mu.Unlock()
								if lapse {
									<-h.Lost()
								}
								if err := h.Release(ctx); lapse != errors.Is(err, rlock.ErrLockLost) {
									t.Errorf("lapsed %v: %v", lapse, err)
								}
							}
						}()
					}
					wg.Wait()
					if entered != 200 {
						t.Errorf("entered %d times", entered)
					}
				})
		})
	}
}

func TestDoHasUnlockedWhenItReturnsAfterItsContextEnded(t *testing.T) {
	inBubble(t, rlock.Options{}, func(ctx context.Context, _ *lockredistest.Server, c *rlock.Client) {
		ended, cancel := context.WithCancel(ctx)
		l := c.Lock("l")
		err := l.Do(ended, func(ctx context.Context) error {
			cancel()
			return ctx.Err()
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if locked, err := l.IsLocked(ctx); locked || err != nil {
			t.Fatal(locked, err)
		}
	})
}

func TestNoHoldIsTrustedWhileTheObserverOfAnotherLossIsBusy(t *testing.T) {
	var told, busy chan struct{}
	o := rlock.Options{Observer: rlock.Observer{Lost: func(context.Context, rlock.Event) {
		told <- struct{}{}
		<-busy
	}}}
	inBubble(t, o, func(ctx context.Context, srv *lockredistest.Server, c *rlock.Client) {
		told, busy = make(chan struct{}, 3), make(chan struct{})
		var holds []*rlock.Hold
		for i := range 3 {
			holds = append(holds, acquire(t, c.Lock(fmt.Sprint("l", i)), rlock.Lease(time.Minute)))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(told) != 1 {
			t.Errorf("%d losses are reported at once", len(told))
		}
		for i, h := range holds {
			if h.Err() == nil || h.Context().Err() == nil {
				t.Errorf("hold %d: Err is %v, the context's %v", i, h.Err(), h.Context().Err())
			}
		}
		close(busy)
		for _, h := range holds {
			if err := h.Release(ctx); !errors.Is(err, rlock.ErrLockLost) {
				t.Error(err)
			}
		}
	})
}
