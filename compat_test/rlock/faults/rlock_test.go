package faults

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// rlockClient is a client of rlock.
type rlockClient struct{ c *rlock.Client }

func newClient(rdb redis.UniversalClient, o clientOptions) client {
	return rlockClient{newRlock(rdb, o)}
}

func newRlock(rdb redis.UniversalClient, o clientOptions) *rlock.Client {
	opts := rlock.Options{Lease: o.lease, FairWait: o.fairWait, UnlockOnClose: o.unlockOnClose}
	if o.synced {
		opts.Sync = rlock.SyncOn
	}
	if o.contended != nil {
		opts.Observer.Contended = func(_ context.Context, e rlock.Event) { o.contended(e.Name, e.Owner) }
	}
	return rlock.New(rdb, opts)
}

// quorum is a process with clients of several independent servers. It makes locks of
// the kind quorumLock only.
type quorum struct {
	client
	clients []*rlock.Client
}

func newQuorum(rdbs []redis.UniversalClient, o clientOptions) client {
	var q quorum
	for _, rdb := range rdbs {
		q.clients = append(q.clients, newRlock(rdb, o))
	}
	return q
}

func (q quorum) lock(_ kind, names ...string) locker {
	var parts []*rlock.Lock
	for _, c := range q.clients {
		parts = append(parts, c.Lock(names[0]))
	}
	return several{rlock.Quorum(parts...)}
}

func (q quorum) close(ctx context.Context) error {
	errs := make([]error, len(q.clients))
	var all sync.WaitGroup
	for i, c := range q.clients {
		all.Go(func() { errs[i] = c.Close(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (c rlockClient) close(ctx context.Context) error { return c.c.Close(ctx) }

// options returns rlock's options for how.
func (h how) options() (options []rlock.Option) {
	if h.wait != forever {
		options = append(options, rlock.Wait(h.wait))
	}
	if h.lease != 0 {
		options = append(options, rlock.Lease(h.lease))
	}
	return options
}

func (c rlockClient) lock(k kind, names ...string) locker {
	switch k {
	case fencedLock:
		return fenced{c.c.FencedLock(names[0])}
	case multiLock:
		var parts []*rlock.Lock
		for _, name := range names {
			parts = append(parts, c.c.Lock(name))
		}
		return several{rlock.Multi(parts...)}
	case fairLock:
		return several{c.c.FairLock(names[0])}
	case readLock:
		return several{c.c.RWLock(names[0]).Read()}
	case writeLock:
		return several{c.c.RWLock(names[0]).Write()}
	case spinLock:
		return several{c.c.SpinLock(names[0])}
	}
	return several{c.c.Lock(names[0])}
}

// several is a Lock, a MultiLock or a QuorumLock.
type several struct {
	l interface {
		Acquire(context.Context, ...rlock.Option) (*rlock.Hold, error)
		Do(context.Context, func(context.Context) error, ...rlock.Option) error
	}
}

func (l several) acquire(ctx context.Context, h how) (hold, error) {
	held, err := l.l.Acquire(ctx, h.options()...)
	if err != nil {
		return nil, err
	}
	return rlockHold{held, 0}, nil
}

func (l several) do(ctx context.Context, f func(context.Context) error) error { return l.l.Do(ctx, f) }

type fenced struct{ l *rlock.FencedLock }

func (l fenced) acquire(ctx context.Context, h how) (hold, error) {
	held, err := l.l.Acquire(ctx, h.options()...)
	if err != nil {
		return nil, err
	}
	return rlockHold{held.Hold, held.Token()}, nil
}

func (l fenced) do(ctx context.Context, f func(context.Context) error) error {
	return l.l.Do(ctx, func(ctx context.Context, _ int64) error { return f(ctx) })
}

type rlockHold struct {
	h      *rlock.Hold
	number int64
}

func (h rlockHold) lost() <-chan struct{}             { return h.h.Lost() }
func (h rlockHold) release(ctx context.Context) error { return h.h.Release(ctx) }
func (h rlockHold) extend(ctx context.Context, lease time.Duration) error {
	return h.h.Extend(ctx, lease)
}
func (h rlockHold) context() context.Context { return h.h.Context() }
func (h rlockHold) until() time.Time         { return h.h.Until() }
func (h rlockHold) owner() string            { return h.h.Owner() }
func (h rlockHold) token() int64             { return h.number }

func (c rlockClient) permits(k kind, name string) permits {
	if k == semaphore {
		return plainPermits{c.c.Semaphore(name)}
	}
	return leasedPermits{c.c.PermitSemaphore(name)}
}

type plainPermits struct{ *rlock.Semaphore }

func (s plainPermits) set(ctx context.Context, n int) error {
	_, err := s.TrySetPermits(ctx, n)
	return err
}

func (s plainPermits) give(ctx context.Context, n int) error { return s.Release(ctx, n) }

func (s leasedPermits) give(context.Context, int) error { return errors.ErrUnsupported }

func (s plainPermits) available(ctx context.Context) (int, error) { return s.Available(ctx) }

func (s plainPermits) acquire(ctx context.Context, n int, h how) (hold, error) {
	if err := s.Acquire(ctx, n, h.options()...); err != nil {
		return nil, err
	}
	return permitHold{s.Semaphore, n}, nil
}

// permitHold is n permits of a Semaphore, which reports no loss.
type permitHold struct {
	s *rlock.Semaphore
	n int
}

func (h permitHold) lost() <-chan struct{}             { return nil }
func (h permitHold) release(ctx context.Context) error { return h.s.Release(ctx, h.n) }
func (h permitHold) extend(context.Context, time.Duration) error {
	return errors.ErrUnsupported
}
func (h permitHold) context() context.Context { return nil }
func (h permitHold) until() time.Time         { return time.Time{} }
func (h permitHold) owner() string            { return "" }
func (h permitHold) token() int64             { return 0 }

type leasedPermits struct{ *rlock.PermitSemaphore }

func (s leasedPermits) set(ctx context.Context, n int) error {
	_, err := s.TrySetPermits(ctx, n)
	return err
}

func (s leasedPermits) available(ctx context.Context) (int, error) { return s.Available(ctx) }

func (s leasedPermits) acquire(ctx context.Context, n int, h how) (hold, error) {
	held, err := s.Acquire(ctx, n, h.options()...)
	if err != nil {
		return nil, err
	}
	return rlockHold{held.Hold, 0}, nil
}
