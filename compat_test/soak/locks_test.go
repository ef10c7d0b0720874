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

// kinds are the locks under which counters are counted, by GET and SET. A
// semaphore has one permit.
var kinds = []peer.Kind{peer.Lock, peer.Fair, peer.Write, peer.Spin, peer.Fenced, peer.Multi, "semaphore", "permit"}

// contest is a lock of a kind with its counter, which both languages count.
type contest struct {
	kind          peer.Kind
	name, counter string
	counted       atomic.Int64
	unclear       atomic.Int64 // of what Redisson broke off: at most so many more
}

// turns is how often Java counts in one go, for which peer waits a minute.
const turns = 1

// lease is long: with the race detector, on a busy machine, a renewal may take
// its time.
const lease = 3 * time.Minute

// locks has Go workers and, if java is not nil, Java threads count under locks.
func (l *load) locks(java *peer.Peer) []*contest {
	rdb := l.client(100)
	c := rlock.New(rdb, rlock.Options{Lease: lease})
	l.clients = append(l.clients, c)
	var contests []*contest
	for i, kind := range kinds {
		k := &contest{kind: kind, name: "soak:lock:" + string(kind), counter: "soak:counter:" + string(kind)}
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
			l.repeat("rlock "+string(kind), 5*time.Millisecond, func() error { return l.countOnce(rdb, c, k) })
		}
		if java == nil {
			continue
		}
		for thread := range 2 {
			owner := java.Thread(l.t, fmt.Sprintf("t%d-%d", i, thread))
			l.repeat("Redisson "+string(kind), 5*time.Millisecond, func() error { return l.countInJava(owner, k) })
		}
	}
	return contests
}

func (l *load) prepare(set bool, err error) {
	if err != nil || !set {
		l.t.Fatal("permits: ", set, err)
	}
}

// countInJava counts a few times. Redisson gives up when new connections take
// longer than it likes, which is the machine's doing. And -BUSY in place of a
// subscription's confirmation, as Redis answers, makes its decoder throw, and its
// waiters wait for ever: so there is no endless script meanwhile.
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
		owner.Try(k.kind, "unlock", k.name) // an error: it was not locked
		return nil
	}
	return err
}

// countOnce adds one to the contest's counter under its lock.
func (l *load) countOnce(rdb *redis.Client, c *rlock.Client, k *contest) (err error) {
	lock, unlock := hold(c, k)
	if err := patient(l.last, func() error { return lock(l.last) }); err != nil {
		return fmt.Errorf("%s: lock: %w", k.kind, err)
	}
	defer func() {
		if e := unlock(l.last); e != nil && !busy(e) { // then it goes on in the background
			err = errors.Join(err, fmt.Errorf("%s: unlock: %w", k.kind, e))
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

// hold returns how to take and to release what the kind means, for an owner of
// its own.
func hold(c *rlock.Client, k *contest) (lock, unlock func(context.Context) error) {
	var l *rlock.Lock
	switch k.kind {
	case peer.Multi:
		first, second, _ := strings.Cut(k.name, ",")
		m := rlock.NewMultiLock(c.Lock(first), c.Lock(second))
		return m.Lock, m.Unlock
	case "semaphore":
		s := c.Semaphore(k.name)
		return func(ctx context.Context) error { return s.Acquire(ctx, 1) },
			func(ctx context.Context) error { return patient(ctx, func() error { return s.Release(ctx, 1) }) }
	case "permit":
		s, id := c.PermitSemaphore(k.name), ""
		return func(ctx context.Context) (err error) { id, err = s.Acquire(ctx, 0); return err },
			func(ctx context.Context) error { return s.Release(ctx, id) }
	case peer.Fair:
		l = c.FairLock(k.name)
	case peer.Write:
		l = c.RWLock(k.name).Write()
	case peer.Spin:
		l = c.SpinLock(k.name)
	case peer.Fenced:
		l = c.FencedLock(k.name)
	default:
		l = c.Lock(k.name)
	}
	return l.Lock, l.Unlock
}

// judge compares the counters with what was counted.
func (l *load) judge(contests []*contest) {
	rdb := l.client(1)
	for _, k := range contests {
		got, err := rdb.Get(context.Background(), k.counter).Int64()
		if want := k.counted.Load(); err != nil || got < want || got > want+k.unclear.Load() {
			l.t.Errorf("%s: the counter is %d, %d times it was counted, perhaps %d more: %v", k.kind, got, want, k.unclear.Load(), err)
		}
		l.t.Logf("%-10s counted %d times", k.kind, got)
	}
}
