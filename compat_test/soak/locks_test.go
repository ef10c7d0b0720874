package soak

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/peer"
	"github.com/lockredis/lockredis/rlock"
)

// kinds are the locks that guard the counters. A holder counts by GET and SET. A
// semaphore has one permit.
var kinds = []peer.Kind{peer.Lock, peer.Fair, peer.Write, peer.Spin, peer.Fenced, peer.Multi,
	"semaphore", "permit"}

// contest is a lock of one kind and its counter. Go and Java clients both count.
type contest struct {
	kind          peer.Kind
	name, counter string
	counted       atomic.Int64
	unclear       atomic.Int64 // steps that Redisson gave up: the counter may be higher by their number
}

// turns is how often Java counts in one request. peer waits a minute for the request.
const turns = 1

// lease is long because a renewal may be late on a busy machine with the race detector.
const lease = 3 * time.Minute

// locks starts Go workers, and Java threads if java is not nil, that count under locks.
func (l *load) locks(java *peer.Peer) []*contest {
	rdb := l.client(100)
	c := rlock.New(rdb, rlock.Options{Lease: lease})
	l.clients = append(l.clients, closer{c})
	var contests []*contest
	for i, kind := range kinds {
		k := &contest{kind: kind, name: "soak:lock:" + string(kind),
			counter: "soak:counter:" + string(kind)}
		switch kind {
		case peer.Multi:
			k.name = "soak:m1,soak:m2"
		case "semaphore":
			l.prepare(c.Semaphore(k.name).TrySetPermits(l.last, 1))
		case "permit":
			l.prepare(c.PermitSemaphore(k.name).TrySetPermits(l.last, 1))
		}
		contests = append(contests, k)
		for range 2 {
			l.repeat("rlock "+string(kind), 5*time.Millisecond, func() error {
				return l.countOnce(rdb, c, k)
			})
		}
		if java == nil {
			continue
		}
		for thread := range 2 {
			owner := java.Thread(l.t, fmt.Sprintf("t%d-%d", i, thread))
			l.repeat("Redisson "+string(kind), 5*time.Millisecond, func() error {
				return l.countInJava(owner, k)
			})
		}
	}
	return contests
}

// closer is an rlock.Client as an io.Closer.
type closer struct{ c *rlock.Client }

func (x closer) Close() error { return x.c.Close(context.Background()) }

func (l *load) prepare(set bool, err error) {
	if err != nil || !set {
		l.t.Fatal("permits: ", set, err)
	}
}

// countInJava counts turns times. Redisson gives up when new connections take too long on
// a busy machine. A -BUSY in place of a subscription's confirmation, which Redis also
// sends, makes its decoder throw, and its waiters then wait forever. So no endless script
// runs meanwhile.
func (l *load) countInJava(owner *peer.Owner, k *contest) error {
	l.calm.RLock()
	defer l.calm.RUnlock()
	err := owner.BeginCount(k.kind, k.name, k.counter, turns).Wait().Err
	switch {
	case err == nil:
		k.counted.Add(turns)
	case strings.Contains(err.Error(), "RedisTimeoutException: Unable to acquire"):
		k.unclear.Add(turns)
		l.count("Redisson gave up")
		owner.Try(k.kind, "unlock", k.name) // an error means that it was not locked
		return nil
	}
	return err
}

// countOnce adds one to the contest's counter under its lock.
func (l *load) countOnce(rdb *redis.Client, c *rlock.Client, k *contest) (err error) {
	var release func(context.Context) error
	err = patient(l.last, func() (err error) {
		release, err = acquire(l.last, c, k)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: acquire: %w", k.kind, err)
	}
	defer func() {
		if e := release(l.last); e != nil && !busy(e) { // busy: rlock releases in the background
			err = errors.Join(err, fmt.Errorf("%s: release: %w", k.kind, e))
		}
	}()
	var n int64
	err = patient(l.last, func() (err error) {
		n, err = rdb.Get(l.last, k.counter).Int64()
		return err
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	err = patient(l.last, func() error { return rdb.Set(l.last, k.counter, n+1, 0).Err() })
	if err == nil {
		k.counted.Add(1)
	}
	return err
}

// acquire acquires a lock of the kind and returns the function that releases it.
func acquire(
	ctx context.Context, c *rlock.Client, k *contest,
) (release func(context.Context) error, err error) {
	var h *rlock.Hold
	switch k.kind {
	case peer.Multi:
		first, second, _ := strings.Cut(k.name, ",")
		h, err = rlock.Multi(c.Lock(first), c.Lock(second)).Acquire(ctx)
	case "semaphore":
		s := c.Semaphore(k.name)
		return func(ctx context.Context) error { return s.Release(ctx, 1) }, s.Acquire(ctx, 1)
	case "permit":
		p, err := c.PermitSemaphore(k.name).Acquire(ctx, 1)
		if err != nil {
			return nil, err
		}
		return p.Release, nil
	case peer.Fair:
		h, err = c.FairLock(k.name).Acquire(ctx)
	case peer.Write:
		h, err = c.RWLock(k.name).Write().Acquire(ctx)
	case peer.Spin:
		h, err = c.SpinLock(k.name).Acquire(ctx)
	case peer.Fenced:
		h, err = c.FencedLock(k.name).AsLock().Acquire(ctx)
	default:
		h, err = c.Lock(k.name).Acquire(ctx)
	}
	if err != nil {
		return nil, err
	}
	return h.Release, nil
}

// judge compares the counters with the number of steps.
func (l *load) judge(contests []*contest) {
	rdb := l.client(1)
	for _, k := range contests {
		got, err := rdb.Get(context.Background(), k.counter).Int64()
		if want := k.counted.Load(); err != nil || got < want || got > want+k.unclear.Load() {
			l.t.Errorf("%s: the counter is %d, want %d and at most %d more: %v", k.kind, got, want,
				k.unclear.Load(), err)
		}
		l.t.Logf("%-10s counted %d times", k.kind, got)
	}
}
