package rlock_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/rlock"
)

// The tests in this file check rlock with replica confirmation (its default). When a
// master hands over, dies or hangs, work continues with the new master. No two owners
// trust a lock at the same time then. A master may also be cut off from its replicas but
// not from clients. Then its last owner may still trust the lock until its lease ends,
// while another owner holds it on the new master. The old master grants no lock to
// another owner.
const (
	faultLease = 3 * time.Second

	// resumeLimit is how long work may stop after a fault. The time includes the election
	// of a new master, the clients' search for it, and the last holder's lease.
	resumeLimit = 30 * time.Second
)

// trust is a period in which an owner trusted its lock.
type trust struct{ from, to time.Time }

func TestContendedLockThroughFaults(t *testing.T) {
	t.Parallel()
	faults := []struct {
		name    string
		do      func(*testing.T, *topology.Topology, string)
		overlap time.Duration // how long two owners may both trust the lock
	}{
		{"the master hands over", func(t *testing.T, tp *topology.Topology, key string) {
			tp.Failover(t, key)
		}, 0},
		{"the master dies", func(t *testing.T, tp *topology.Topology, key string) {
			tp.AwaitNewMaster(t, key, tp.KillMaster(t, key))
		}, 0},
		{"the master hangs", func(t *testing.T, tp *topology.Topology, key string) {
			old := tp.Master(t, key)
			old.Freeze(t)
			tp.AwaitNewMaster(t, key, old)
		}, 0},
		{"the master is cut off", func(t *testing.T, tp *topology.Topology, key string) {
			old := tp.Master(t, key)
			tp.Partition(t, old)
			tp.AwaitNewMaster(t, key, old)
		}, faultLease},
	}
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			topology.Parallel(t, []topology.Kind{topology.Sentinel, topology.Cluster},
				func(t *testing.T, tp *topology.Topology) {
					const key = "orders:42"
					run := contend(t, tp, key)
					run.await(t, 10)
					fault.do(t, tp, key)
					start := time.Now()
					run.await(t, 10)
					t.Logf("10 more holds %s after the new master was there",
						time.Since(start).Round(time.Millisecond))
					tp.Heal(t)
					run.await(t, 10)
					run.end()
					run.judge(t, fault.overlap)
				})
		})
	}
}

// contention is a group of workers that hold one lock in turn.
type contention struct {
	stop    context.CancelFunc
	workers sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	trusts []trust
	errs   []error
}

func contend(t *testing.T, tp *topology.Topology, key string) *contention {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	run := &contention{stop: cancel}
	for range 2 {
		client := rlock.New(tp.Client(t), rlock.Options{Lease: faultLease})
		t.Cleanup(func() { client.Close(context.Background()) })
		for range 2 {
			l := client.Lock(key)
			run.workers.Go(func() { run.work(ctx, l) })
		}
	}
	t.Cleanup(run.end)
	return run
}

// work acquires the lock again and again. Errors during a fault are only recorded.
func (c *contention) work(ctx context.Context, l *rlock.Lock) {
	for ctx.Err() == nil {
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := l.Do(limited, func(inner context.Context) error {
			from := time.Now()
			select {
			case <-inner.Done():
			case <-time.After(20 * time.Millisecond):
			}
			c.note(trust{from, time.Now()}, nil)
			return nil
		})
		cancel()
		if err != nil && ctx.Err() == nil {
			c.note(trust{}, err)
		}
	}
}

func (c *contention) note(held trust, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.errs = append(c.errs, err)
		return
	}
	c.trusts = append(c.trusts, held)
}

func (c *contention) holds() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.trusts)
}

// await waits until the lock was held more times again.
func (c *contention) await(t *testing.T, more int) {
	t.Helper()
	want := c.holds() + more
	for deadline := time.Now().Add(resumeLimit); c.holds() < want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.mu.Lock()
			defer c.mu.Unlock()
			t.Fatalf("%d holds missing after %s; the last errors: %v", want-len(c.trusts), resumeLimit,
				c.errs[max(0, len(c.errs)-6):])
		}
	}
}

func (c *contention) end() {
	c.stop()
	c.workers.Wait()
}

// judge looks for two owners at the same time.
func (c *contention) judge(t *testing.T, allowed time.Duration) {
	t.Helper()
	slices.SortFunc(c.trusts, func(a, b trust) int {
		return cmp.Compare(a.from.UnixNano(), b.from.UnixNano())
	})
	var last time.Time
	var worst time.Duration
	for _, held := range c.trusts {
		if both := last.Sub(held.from); both > 0 {
			worst = max(worst, min(both, held.to.Sub(held.from)))
		}
		if held.to.After(last) {
			last = held.to
		}
	}
	kinds := map[string]int{}
	for _, err := range c.errs {
		kinds[kindOf(err)]++
	}
	t.Logf("%d holds, two owners for %s at most, errors: %v", len(c.trusts), worst, kinds)
	if worst > allowed {
		t.Errorf("two owners for %s", worst)
	}
}

func kindOf(err error) string {
	for _, known := range []error{rlock.ErrNotSynced, rlock.ErrLockLost, rlock.ErrNotHeld,
		rlock.ErrTimeout, rlock.ErrClosed, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}
