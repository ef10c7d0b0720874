package faults

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// The faults of this file were found in rlock after 0.1.

// The hold trusted its lease for 17 s longer than the server kept it.
func TestAnExtendThatAnotherOneOvertakesIsNotTrusted(t *testing.T) {
	t.Parallel()
	// Extend does not shorten the time to live of a read lock's hash: a writer would wait for it.
	for _, k := range []kind{plainLock, fairLock, writeLock, spinLock, fencedLock, multiLock} {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			s := single(t)
			p := s.process(clientOptions{})
			l := p.lock(k, "orders")
			s.warmUp(p, l)
			h, err := l.acquire(t.Context(), how{wait: forever, lease: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			sent, arrived := s.holdUp(p, "orders", 300*time.Millisecond)
			overtaken := make(chan error, 1)
			go func() { overtaken <- h.extend(t.Context(), 19*time.Second) }()
			await(t, 10*time.Second, "the first Extend is sent", sent)
			if err := h.extend(t.Context(), 1500*time.Millisecond); err != nil && !errors.Is(err, errLost) {
				t.Fatal(err)
			}
			arrived()
			if err := <-overtaken; err != nil && !errors.Is(err, errLost) {
				t.Fatal(err)
			}
			other := s.process(clientOptions{})
			start := time.Now()
			next := s.acquire(other.lock(k, "orders"))
			if !within(h.lost(), 0) {
				t.Errorf("another client has the lock after %s, the first one trusts it for %s more",
					time.Since(start), time.Until(h.until()))
			}
			s.release(next)
		})
	}
}

// The second permit stayed acquired for ever.
func TestPermitsThatWereReleasedInPartComeBack(t *testing.T) {
	t.Parallel()
	s := single(t)
	p, other := s.process(clientOptions{}), s.process(clientOptions{})
	permits := p.client.(rlockClient).c.PermitSemaphore("permits")
	if err := permits.SetPermits(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		h, err := permits.Acquire(t.Context(), 2, rlock.NoLease())
		if err != nil {
			t.Fatal(err)
		}
		byID := other.client.(rlockClient).c.PermitSemaphore("permits")
		if err := byID.Release(t.Context(), h.IDs()[i]); err != nil {
			t.Fatal(err)
		}
		if err := h.Release(t.Context()); !errors.Is(err, errLost) {
			t.Errorf("the release of the hold: %v", err)
		}
		if n, err := byID.Available(t.Context()); n != 2 || err != nil {
			t.Fatalf("%d of 2 permits are free, %v", n, err)
		}
	}
}

// A process whose clock was behind changed no lease, and was removed from a fair queue.
func TestAClockThatIsBehindOrdersNothing(t *testing.T) {
	t.Parallel()
	s := single(t)
	c := s.process(clientOptions{}).client.(rlockClient).c
	permits := c.PermitSemaphore("permits")
	if err := permits.SetPermits(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	h, err := permits.Acquire(t.Context(), 1, rlock.Lease(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	id := h.IDs()[0]
	if err := permits.SetLease(t.Context(), id, rlock.Lease(time.Hour)); err != nil {
		t.Fatal(err)
	}
	s.acquire(several{c.FairLock("fair")})
	addr := s.direct.(*redis.Client).Options().Addr
	synctest.Test(t, func(t *testing.T) { // its clock begins in the year 2000
		ctx := t.Context()
		rdb := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2})
		defer rdb.Close()
		behind := rlock.New(rdb, rlock.Options{ID: "behind"})
		if err := behind.PermitSemaphore("permits").SetLease(ctx, id, rlock.Lease(time.Minute)); err != nil {
			t.Error(err)
		}
		waited := make(chan error, 1)
		go func() { _, err := behind.FairLock("fair").Acquire(ctx); waited <- err }()
		const timeouts = "redisson_lock_timeout:{fair}"
		for rdb.ZCard(ctx, timeouts).Val() == 0 {
			if err := rdb.Ping(ctx).Err(); err != nil {
				t.Fatal(err)
			}
		}
		deadline := int64(rdb.ZScore(ctx, timeouts, "behind:1").Val())
		if now := rdb.Time(ctx).Val().UnixMilli(); deadline < now {
			t.Errorf("at %d the waiter's deadline is %d", now, deadline)
		}
		if err := behind.Close(ctx); err != nil {
			t.Error(err)
		}
		<-waited
	})
	if left, err := permits.LeaseTime(t.Context(), id); left > time.Minute || err != nil {
		t.Errorf("the permit's lease ends in %s, %v", left, err)
	}
}
