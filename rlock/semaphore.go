package rlock

import (
	"context"
	"errors"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/rlock/internal/scripts"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// Semaphore is a number of permits that processes acquire and release: Redisson's
// RSemaphore, a counter in the key name. Release publishes the number of free
// permits on redisson_sc:{name}.
//
// The counter does not say which process has a permit. So the permits of a process
// that dies are lost for ever; PermitSemaphore has permits with a lease.
//
// Waiters are served in no particular order. Many goroutines may use a Semaphore.
type Semaphore struct{ counter }

// Semaphore returns the semaphore of the given name. It has no permits until
// TrySetPermits, Release or Add is called.
func (c *Client) Semaphore(name string) *Semaphore {
	return &Semaphore{counter{c, name, lockkeys.SemaphoreChannel(name)}}
}

// Name returns the semaphore's name.
func (s *Semaphore) Name() string { return s.name }

// TrySetPermits gives the semaphore n permits if it does not exist yet, and reports
// whether it did.
func (s *Semaphore) TrySetPermits(ctx context.Context, n int) (bool, error) {
	return s.create(ctx, "set permits of", n, n)
}

// Acquire waits until n permits are free and acquires them all at once. n must be
// positive. It accepts the option Wait.
func (s *Semaphore) Acquire(ctx context.Context, n int, options ...Option) error {
	requireContext(ctx)
	set, err := permitSettings(s.name, n, options)
	if err != nil {
		return err
	}
	if err := s.c.enter(); err != nil {
		return err
	}
	defer s.c.leave()
	set.noLease = true
	k := &semaphoreClaim{s: s, n: n, latch: s.c.newLatch(s.name)}
	a := s.c.newAcquisition(ctx, k, set, time.Now())
	if err := a.run(); err != nil {
		return err
	}
	s.c.sweep(k.latch, sender.Outcome{Strays: a.strays})
	return nil
}

// Do acquires n permits, runs f and releases them. It returns the errors of f and of
// the release, joined.
func (s *Semaphore) Do(
	ctx context.Context, n int, f func(context.Context) error, options ...Option,
) (err error) {
	require("f", f != nil)
	if err := s.Acquire(ctx, n, options...); err != nil {
		return err
	}
	defer func() {
		release := func(ctx context.Context) error { return s.Release(ctx, n) }
		err = errors.Join(err, releaseAfter(ctx, release))
	}()
	return f(ctx)
}

// semaphoreClaim is the claim to permits without ids.
type semaphoreClaim struct {
	s     *Semaphore
	n     int
	latch string
}

func (k *semaphoreClaim) event() Event { return Event{Kind: "semaphore", Name: k.s.name} }

func (k *semaphoreClaim) latchKey() string        { return k.latch }
func (k *semaphoreClaim) queues() bool            { return false }
func (k *semaphoreClaim) wasHeld(int64) bool      { return true }
func (k *semaphoreClaim) channel() (string, bool) { return k.s.channel, false }

func (k *semaphoreClaim) acquire(time.Duration, bool, copyKind) sender.Call {
	return sender.NewCall(scripts.SemAcquire, []string{k.s.name, k.latch}, countLife.Milliseconds(), k.n)
}

func (k *semaphoreClaim) granted(reply any) (grant, error) { return grantedPermits(reply) }

func (k *semaphoreClaim) release() sender.Call {
	return sender.NewCall(scripts.SemUndo, []string{k.s.name, k.s.channel, k.latch},
		k.s.c.sender.PublishCommand(), countLife.Milliseconds(), k.n)
}

// Release releases n permits and wakes waiters. It adds n permits even if they were
// not acquired before. n must be positive. When ctx ends, or has ended already,
// Release returns ctx's error and the release continues in the background; do not
// call it again.
func (s *Semaphore) Release(ctx context.Context, n int) error {
	if err := checkCount("release permits of", s.name, n, 1); err != nil {
		return err
	}
	release, latch := s.changing(scripts.SemAdd, n)
	return s.c.giveBack(ctx, &semaphoreClaim{s: s}, release, latch, nil)
}

// Add changes the number of permits by n, which may be negative. The number of free
// permits may become negative too, until enough are released.
func (s *Semaphore) Add(ctx context.Context, n int) error {
	if err := checkCount("add permits to", s.name, n, -maxCount); err != nil {
		return err
	}
	_, err := s.change(ctx, scripts.SemAdd, n)
	return err
}

// Available returns the number of free permits. It is negative when Add removed
// more than there were.
func (s *Semaphore) Available(ctx context.Context) (int, error) {
	return s.value(ctx)
}

// Drain acquires all free permits and returns their number.
func (s *Semaphore) Drain(ctx context.Context) (int, error) {
	latch := s.c.newLatch(s.name)
	return s.c.change(ctx, sender.NewCall(scripts.SemDrain, []string{s.name, latch},
		countLife.Milliseconds()), latch)
}
