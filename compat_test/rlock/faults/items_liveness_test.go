package faults

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/tcpproxy"
	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/internal/redistest"
)

// In rlock 0.1 the queue entry stayed in 20 of 20 runs, and the next owner of the free
// lock waited for FairWait.
func TestAShutdownInAFairQueueLeavesTheQueue(t *testing.T) {
	t.Parallel()
	const runs = 20
	s := single(t)
	p := s.process(clientOptions{})
	left := 0
	for i, name := range names(runs) {
		holder := s.acquire(p.lock(fairLock, name))
		way := tcpproxy.New(t)
		rdb := s.tp.Client(t, func(o *redis.UniversalOptions) { o.Dialer = way.Dial })
		c := newClient(rdb, clientOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		var waiter sync.WaitGroup
		waiter.Go(func() { c.lock(fairLock, name).acquire(ctx, patient) })
		queue := lockkeys.FairQueue(name)
		await(t, 5*time.Second, "the waiter queues", func() bool {
			return s.direct.LLen(t.Context(), queue).Val() == 1
		})
		slow := tcpproxy.Fault{Kind: tcpproxy.HoldReply, For: time.Duration(i) * time.Millisecond}
		way.Apply(func(tcpproxy.Command) tcpproxy.Fault { return slow })
		cancel()
		if err := c.close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
		rdb.Close()
		way.Close()
		if s.direct.LLen(t.Context(), queue).Val() != 0 {
			left++
		}
		s.release(holder)
		waiter.Wait()
	}
	if left > 0 {
		t.Errorf("%d of %d shutdowns left the waiter in the queue", left, runs)
	}
}

// In rlock 0.1, 4 of 60 Closes left the key of a failed acquisition.
func TestACloseDuringAnAcquisitionLeavesNoKey(t *testing.T) {
	t.Parallel()
	runs := 60
	if redistest.Quick() {
		runs = 12
	}
	for _, k := range []kind{plainLock, fairLock, writeLock, spinLock, fencedLock, permit, semaphore} {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			s := single(t)
			left := 0
			for i, name := range names(runs) {
				if !s.closeDuringAcquire(k, name, i) {
					left++
				}
			}
			if left > 0 {
				t.Errorf("%d of %d Closes left the lock to an owner whose acquisition failed", left, runs)
			}
		})
	}
}

// closeDuringAcquire reports whether the lock is free after a Close during an
// acquisition, or its acquisition succeeded.
func (s *stage) closeDuringAcquire(k kind, name string, run int) bool {
	s.t.Helper()
	net := tcpproxy.New(s.t)
	rdb := s.tp.Client(s.t, func(o *redis.UniversalOptions) { o.Dialer = net.Dial })
	defer rdb.Close()
	c := newClient(rdb, clientOptions{})
	var free func() bool
	var acquire func(context.Context) (hold, error)
	if k == permit || k == semaphore {
		sem := c.permits(k, name)
		if err := sem.set(s.t.Context(), 1); err != nil {
			s.t.Fatal(err)
		}
		acquire = func(ctx context.Context) (hold, error) { return sem.acquire(ctx, 1, patient) }
		free = func() bool { return s.direct.Get(s.t.Context(), name).Val() == "1" }
	} else {
		l := c.lock(k, name)
		s.warmUp(&process{client: c, rdb: rdb, net: net}, c.lock(k, "warm"))
		acquire = func(ctx context.Context) (hold, error) { return l.acquire(ctx, patient) }
		free = func() bool { return s.direct.Exists(s.t.Context(), name).Val() == 0 }
	}
	fault := tcpproxy.Fault{Kind: tcpproxy.HoldReply, For: time.Duration(run) * time.Millisecond}
	rule, begun := firstOf(name, fault)
	net.Apply(rule)
	var granted hold
	var all sync.WaitGroup
	all.Go(func() { granted, _ = acquire(s.t.Context()) })
	await(s.t, 5*time.Second, "the request is sent", begun)
	if err := c.close(s.t.Context()); err != nil {
		s.t.Errorf("Close: %v", err)
	}
	rdb.Close()
	all.Wait()
	return granted != nil || free()
}

// In rlock 0.1 Close took 31.8 s on a hung server.
func TestACloseEndsWithItsContextOnAHungServer(t *testing.T) {
	t.Parallel()
	s := single(t)
	p := s.process(clientOptions{})
	s.release(s.acquire(p.lock(plainLock, "orders")))
	holder := s.process(clientOptions{})
	held := s.acquire(holder.lock(fairLock, "queue"))
	var waiters sync.WaitGroup
	for _, name := range []string{"orders", "queue"} {
		waiters.Go(func() { p.lock(fairLock, name).acquire(t.Context(), patient) })
	}
	await(t, 5*time.Second, "the waiter queues", func() bool {
		return s.direct.LLen(t.Context(), lockkeys.FairQueue("queue")).Val() == 1
	})
	p.net.Stall()
	limited, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := s.clock.Running()
	err := p.close(limited)
	took := s.clock.Running() - start
	if took > time.Second || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close with a context of 300 ms returned %v after %s", err, took.Round(time.Millisecond))
	}
	ended := make(chan struct{})
	go func() { waiters.Wait(); close(ended) }()
	if !within(ended, time.Second) {
		t.Error("a waiter goes on after Close returned")
	}
	p.net.Resume()
	<-ended
	s.release(held)
}

// In rlock 0.1 the late copy took the lock for no owner, and the next one waited 29.9 s.
func TestALateCopyOfAnAcquisitionTakesNothing(t *testing.T) {
	t.Parallel()
	const late = 210 * time.Millisecond
	for _, k := range []kind{plainLock, fairLock, readLock, writeLock, spinLock, fencedLock, multiLock} {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			s := single(t)
			p := s.process(clientOptions{lease: 10 * time.Second})
			l := p.lock(k, names(2)...)
			s.warmUp(p, l)
			_, arrived := s.holdUp(p, names(1)[0], late)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			start := time.Now()
			h := must[hold](t, "acquire")(l.acquire(ctx, patient))
			took := time.Since(start)
			s.release(h)
			arrived()
			if k == readLock {
				k = writeLock
			}
			waited := s.acquireWithin(p.lock(k, names(2)...), time.Second, 12*time.Second)
			t.Logf("acquired in %s; the next owner in %s", took.Round(time.Millisecond),
				waited.Round(time.Millisecond))
		})
	}
}

func TestALateCopyOfACancelledAcquisitionTakesNothing(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{plainLock, fairLock, readLock, writeLock, spinLock, fencedLock} {
		for _, held := range []bool{false, true} {
			t.Run(string(k)+" held "+strconv.FormatBool(held), func(t *testing.T) {
				t.Parallel()
				s := single(t)
				o := clientOptions{lease: 10 * time.Second, fairWait: 10 * time.Second}
				p, other := s.process(o), s.process(o)
				s.warmUp(p, p.lock(k, "orders"))
				holds := k
				if k == readLock {
					holds = writeLock
				}
				var h hold
				if held {
					h = s.acquire(other.lock(holds, "orders"))
				}
				sent, arrived := s.holdUp(p, "orders", 210*time.Millisecond)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				acquired := make(chan error, 1)
				go func() {
					_, err := p.lock(k, "orders").acquire(ctx, patient)
					acquired <- err
				}()
				await(t, 5*time.Second, "the request is sent", sent)
				cancel()
				if <-acquired == nil {
					t.Fatal("granted")
				}
				arrived()
				if held {
					s.release(h)
				}
				s.acquireWithin(other.lock(holds, "orders"), time.Second, 12*time.Second)
			})
		}
	}
}

func TestALateCopyOfAnAcquisitionTakesNoPermit(t *testing.T) {
	t.Parallel()
	const late = 210 * time.Millisecond
	for _, k := range []kind{semaphore, permit} {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			s := single(t)
			p := s.process(clientOptions{lease: 10 * time.Second})
			sem := p.permits(k, "orders")
			if err := sem.set(t.Context(), 3); err != nil {
				t.Fatal(err)
			}
			s.warmUp(p, p.lock(plainLock, "warm"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, arrived := s.holdUp(p, "orders", late)
			h := must[hold](t, "acquire")(sem.acquire(ctx, 1, patient))
			s.release(h)
			arrived()
			if n, err := sem.available(t.Context()); n != 3 || err != nil {
				t.Errorf("%d of 3 permits are available (%v)", n, err)
			}
		})
	}
}

// In rlock 0.1 the next owner waited 19.9 s after an outage of 3 s with a lease of 1 s.
func TestAFairWaiterLeavesTheQueueAfterALongOutage(t *testing.T) {
	redistest.SkipWhenQuick(t) // the outage is of seconds
	t.Parallel()
	s := single(t)
	const outage = 3 * time.Second
	o := clientOptions{lease: time.Second, fairWait: 20 * time.Second}
	p := s.process(o)
	o.lease = time.Minute // it holds the lock all the time
	other := s.process(o)
	h := s.acquire(other.lock(fairLock, "orders"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waiter sync.WaitGroup
	waiter.Go(func() { p.lock(fairLock, "orders").acquire(ctx, patient) })
	await(t, 5*time.Second, "the waiter queues", func() bool {
		return s.direct.LLen(t.Context(), lockkeys.FairQueue("orders")).Val() == 1
	})
	p.net.Cut()
	cancel()
	<-time.After(outage)
	p.net.Heal()
	waiter.Wait()
	s.release(h)
	waited := s.acquireWithin(other.lock(fairLock, "orders"), 2500*time.Millisecond, 22*time.Second)
	t.Logf("the next owner waited %s", waited.Round(time.Millisecond))
}

// In rlock 0.1 the second waiter slept for 7.7 s, until a lease ended.
func TestAWakeUpIsPassedOnWhenAReplyIsLost(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{permit, semaphore} {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			s := single(t)
			o := clientOptions{lease: 8 * time.Second}
			p, other := s.process(o), s.process(o)
			sem := other.permits(k, "orders")
			if err := sem.set(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
			both := must[hold](t, "acquire")(sem.acquire(t.Context(), 2, patient))
			var waiters sync.WaitGroup
			var granted atomic.Int32
			var holds [2]hold
			for i := range holds {
				waiters.Go(func() {
					h, err := p.permits(k, "orders").acquire(t.Context(), 1, patient)
					if err != nil {
						t.Error(err)
						return
					}
					granted.Add(1)
					holds[i] = h
				})
			}
			// Both have tried again after the subscription when no script runs any more.
			scripts := int64(-1)
			await(t, 5*time.Second, "the waiters wait", func() bool {
				n := s.direct.PubSubNumSub(t.Context(), lockkeys.SemaphoreChannel("orders")).Val()
				before := scripts
				scripts = s.scripts()
				quiet := n[lockkeys.SemaphoreChannel("orders")] > 0 && before == scripts
				<-time.After(30 * time.Millisecond)
				return quiet
			})
			rule, _ := firstOf("orders", tcpproxy.Fault{Kind: tcpproxy.LoseReply})
			p.net.Apply(rule)
			start := s.clock.Running()
			s.release(both)
			done := make(chan struct{})
			go func() { waiters.Wait(); close(done) }()
			if !within(done, 1500*time.Millisecond) {
				n := granted.Load()
				<-done
				t.Errorf("after 1.5 s %d of 2 waiters had a permit, after %s both", n,
					(s.clock.Running() - start).Round(time.Millisecond))
			}
			for _, h := range holds {
				if h != nil {
					h.release(t.Context())
				}
			}
		})
	}
}

// scripts returns how many scripts the server has run.
func (s *stage) scripts() int64 {
	s.t.Helper()
	info := s.direct.Info(s.t.Context(), "commandstats").Val()
	return statOf(info, "evalsha") + statOf(info, "eval")
}

// In rlock 0.1 all permits were lost when 1 of 60 replies was cut.
func TestASemaphoreKeepsItsPermitsWhenRepliesAreLost(t *testing.T) {
	t.Parallel()
	for _, k := range []kind{semaphore, permit} {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			s := single(t)
			p := s.process(clientOptions{lease: 10 * time.Second})
			sem := p.permits(k, "orders")
			if err := sem.set(t.Context(), 3); err != nil {
				t.Fatal(err)
			}
			var n atomic.Int64
			p.net.Apply(func(c tcpproxy.Command) tcpproxy.Fault {
				if c.Has("orders") && n.Add(1)%21 == 0 {
					return tcpproxy.Fault{Kind: tcpproxy.LoseReply}
				}
				return tcpproxy.Fault{}
			})
			failed := 0
			for range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				h, err := sem.acquire(ctx, 1, patient)
				if err == nil {
					err = h.release(ctx)
				}
				cancel()
				if err != nil {
					failed++
				}
			}
			p.net.Heal()
			var left int
			for end := time.Now().Add(15 * time.Second); time.Now().Before(end) && left != 3; {
				left = must[int](t, "available")(sem.available(t.Context()))
			}
			if left != 3 || failed > 0 {
				t.Errorf("%d of 3 permits are left, %d calls failed", left, failed)
			}
		})
	}
}

// In rlock 0.1, 16 owners of two parts made 113 acquisitions in 6 s in the same order.
// In opposite orders they made 12, and the lock was free for 6.3 s.
func TestMultiLocksOfOneOrderDoNotHinderEachOther(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	counts := map[bool]int64{}
	for _, opposite := range []bool{false, true} {
		s := single(t)
		ctx, cancel := context.WithCancel(t.Context())
		var count atomic.Int64
		var mu sync.Mutex // guards last and longest
		last, longest := s.clock.Running(), time.Duration(0)
		var owners sync.WaitGroup
		for i := range 16 {
			order := names(2)
			if opposite && i%2 == 1 {
				order[0], order[1] = order[1], order[0]
			}
			l := s.process(clientOptions{}).lock(multiLock, order...)
			owners.Go(func() {
				for ctx.Err() == nil {
					h, err := l.acquire(ctx, patient)
					if err != nil {
						return
					}
					count.Add(1)
					mu.Lock()
					longest = max(longest, s.clock.Running()-last)
					mu.Unlock()
					<-time.After(5 * time.Millisecond)
					mu.Lock()
					last = s.clock.Running()
					mu.Unlock()
					h.release(context.WithoutCancel(ctx))
				}
			})
		}
		within(ctx.Done(), 1500*time.Millisecond)
		cancel()
		owners.Wait()
		counts[opposite] = count.Load()
		t.Logf("opposite orders %t: %d acquisitions in 1.5 s, free for %s at most", opposite,
			count.Load(), longest)
		if longest > time.Second {
			t.Errorf("opposite orders %t: the locks were free for %s", opposite, longest)
		}
	}
	if counts[false] < 10 || counts[true] < counts[false]/5 { // a fifth: the machine may be busy
		t.Errorf("%d acquisitions in the same order, %d in opposite orders", counts[false], counts[true])
	}
}

func TestAnAcquisitionTriesAgainWhenItsReplyIsLaterThanItsLease(t *testing.T) {
	t.Parallel()
	kinds := []kind{
		plainLock, fairLock, readLock, writeLock, spinLock, fencedLock, multiLock, permit,
	}
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			s := single(t)
			p := s.process(clientOptions{lease: 400 * time.Millisecond})
			acquire := p.lock(k, names(2)...).acquire
			if k == permit {
				sem := p.permits(k, "orders:0")
				if err := sem.set(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				acquire = func(ctx context.Context, h how) (hold, error) { return sem.acquire(ctx, 1, h) }
			}
			rule, _ := firstOf("orders:0", tcpproxy.Fault{Kind: tcpproxy.HoldReply,
				For: 600 * time.Millisecond})
			p.net.Apply(rule)
			h, err := acquire(t.Context(), patient)
			if err != nil {
				t.Fatal(err)
			}
			s.releaseBefore(h, 400*time.Millisecond)
		})
	}
}

// releaseBefore releases a hold. It may be lost if this process stalled for its lease.
func (s *stage) releaseBefore(h hold, lease time.Duration) {
	s.t.Helper()
	err := h.release(s.t.Context())
	stalled := s.clock.Since(time.Time{}) >= lease/3
	if err != nil && !(stalled && errors.Is(err, errLost)) {
		s.t.Errorf("release: %v", err)
	}
}

// A multi-lock that loses a part while it waits for another one starts again.
func TestAMultiLockTriesAgainWhenItLosesAPartWhileItWaits(t *testing.T) {
	t.Parallel()
	s := single(t)
	const lease = 900 * time.Millisecond
	p, other := s.process(clientOptions{lease: lease}), s.process(clientOptions{lease: time.Minute})
	held := s.acquire(other.lock(plainLock, "orders:1"))
	got := make(chan hold, 1)
	go func() {
		h, err := p.lock(multiLock, names(2)...).acquire(t.Context(), patient)
		if err != nil {
			t.Errorf("acquire: %v", err)
		}
		got <- h
	}()
	await(t, 5*time.Second, "the first part is held", func() bool {
		return s.direct.Exists(t.Context(), "orders:0").Val() == 1
	})
	s.direct.Del(t.Context(), "orders:0")
	<-time.After(600 * time.Millisecond) // the next renewal finds the loss
	s.release(held)
	if h := <-got; h != nil {
		s.releaseBefore(h, lease)
	}
}
