package rlock_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// far makes each reply of srv to a script take d.
func far(srv *lockredistest.Server, d time.Duration) {
	srv.DelayReply(lockredistest.Match{Command: "evalsha", Times: lockredistest.Always}, d)
}

// Forty callers have more to send than 10 connections can, once all of them ask at the same time.
func TestAClientRecoversFromMoreCallersThanItsConnectionsCanServe(t *testing.T) {
	gated(t, 10, func(
		t *testing.T, srv *lockredistest.Server, _ *redis.Client, _ *gate, c *rlock.Client) {
		far(srv, 60*time.Millisecond)
		warm(t, c) // the client knows the latency
		var acquired atomic.Int32
		var wg sync.WaitGroup
		end := time.Now().Add(10 * time.Second)
		for i := range 40 {
			wg.Go(func() {
				for l := c.Lock("l" + strconv.Itoa(i)); time.Now().Before(end); {
					h, err := l.Acquire(t.Context(), rlock.Wait(100*time.Millisecond))
					if err == nil {
						acquired.Add(1)
						must(t, h.Release(t.Context()))
						time.Sleep(600 * time.Millisecond)
					}
				}
			})
		}
		time.Sleep(5 * time.Second)
		hiccup := srv.HoldRequest(lockredistest.Match{
			Command: "evalsha", Times: lockredistest.Always}, time.Second)
		time.Sleep(time.Second)
		hiccup.Clear()
		time.Sleep(2 * time.Second)
		before := acquired.Load()
		time.Sleep(time.Second)
		if n := acquired.Load() - before; n < 40 { // 52 if each caller gets its lock at once
			t.Errorf("%d acquisitions in the third second after the hiccup", n)
		}
		wg.Wait()
	})
}

func TestAnAcquisitionThatGotNoConnectionSendsNothing(t *testing.T) {
	gated(t, 1, func(
		t *testing.T, srv *lockredistest.Server, rdb *redis.Client, _ *gate, c *rlock.Client) {
		far(srv, 10*time.Millisecond)
		warm(t, c)
		before := scripts(srv)
		go rdb.BLPop(t.Context(), time.Second, "none")
		synctest.Wait()
		var wg sync.WaitGroup
		for _, l := range []*rlock.Lock{c.Lock("a"), c.FairLock("b"), c.RWLock("c").Read(), c.RWLock("d").Write()} {
			for range 20 {
				wg.Go(func() {
					began := time.Now()
					mustBe(t, rlock.ErrTimeout, try(l, rlock.Wait(50*time.Millisecond)))
					if took := time.Since(began); took > 60*time.Millisecond {
						t.Errorf("it took %v", took)
					}
				})
			}
		}
		wg.Wait()
		time.Sleep(time.Minute)
		if n := scripts(srv) - before; n != 0 {
			t.Errorf("%d scripts were sent", n)
		}
	})
}

// A slow answer may have been an exception: the next caller tries, although the answer would
// come too late if it were as slow.
func TestARequestIsSentThoughTheLastAnswerTookLongerThanItsWait(t *testing.T) {
	gated(t, 10, func(
		t *testing.T, srv *lockredistest.Server, _ *redis.Client, _ *gate, c *rlock.Client) {
		far(srv, time.Second)
		warm(t, c)
		srv.ClearFaults()
		must(t, try(c.Lock("l"), rlock.Wait(100*time.Millisecond)))
	})
}

func TestASingleLookAtALatchWaitsASecondForAnAnswer(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		c := newClient(t, srv.Client(), rlock.Options{})
		defer srv.Hang().Clear()
		began := time.Now()
		if err := c.CountDownLatch("l").Await(t.Context(), rlock.Wait(0)); err == nil {
			t.Error("no error")
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// again is a hook that sends a script a second time, while a command of another goroutine has the
// connection.
type again struct {
	rdb   *redis.Client
	armed atomic.Bool
}

func (*again) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*again) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (a *again) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if cmd.Name() != "evalsha" || !a.armed.CompareAndSwap(true, false) {
			return err
		}
		go a.rdb.BLPop(context.Background(), time.Second, "none")
		synctest.Wait()
		cmd.SetErr(nil)
		return next(ctx, cmd)
	}
}

func TestARequestThatAHookSendsTwiceIsNotTakenForOneThatWasNotSent(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		o := srv.Options()
		o.PoolSize = 1
		rdb := redis.NewClient(o)
		t.Cleanup(func() { rdb.Close() })
		a := &again{rdb: rdb}
		rdb.AddHook(a)
		c := newClient(t, rdb, rlock.Options{})
		far(srv, 10*time.Millisecond)
		warm(t, c)
		a.armed.Store(true)
		if err := try(c.Lock("l"), rlock.Wait(200*time.Millisecond)); err == nil {
			t.Error("acquired")
		}
		eventually(t, "the lock is undone", func() bool { return !srv.Exists("l") })
	})
}
