package rlock_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/rlock"
)

// TestAnAcquisitionWithoutReplicaConfirmationIsReleased stops a master's replicas, so
// that WAIT confirms nothing. Acquisitions must then fail and be released, also the
// part of a MultiLock on another server.
func TestAnAcquisitionWithoutReplicaConfirmationIsReleased(t *testing.T) {
	topology.EachOf(t, []topology.Kind{topology.Sentinel}, func(t *testing.T, tp *topology.Topology) {
		ctx := t.Context()
		c := rlock.New(tp.Client(t), rlock.Options{SyncTimeout: 100 * time.Millisecond})
		t.Cleanup(func() { c.Close() })
		elsewhere := rlock.New(topology.Start(t, topology.Lockredis).Client(t), rlock.Options{})
		t.Cleanup(func() { elsewhere.Close() })
		lock, other := c.Lock("lock"), elsewhere.Lock("other")
		both := rlock.NewMultiLock(other, c.Lock("part"))
		semaphore, permits := c.Semaphore("semaphore"), c.PermitSemaphore("permits")
		if err := errors.Join(semaphore.Release(ctx, 3), permits.SetPermits(ctx, 3), lock.Lock(ctx),
			lock.Unlock(ctx)); err != nil {
			t.Fatal(err)
		}

		master := tp.Master(t, "lock")
		for _, n := range tp.Nodes {
			if n != master {
				n.Freeze(t)
			}
		}
		for what, err := range map[string]error{
			"Lock":              lock.Lock(ctx),
			"MultiLock":         both.Lock(ctx),
			"Semaphore":         semaphore.Acquire(ctx, 1),
			"PermitSemaphore":   second(permits.Acquire(ctx, 0)),
			"PermitSemaphore/2": second(permits.AcquireN(ctx, 2, time.Hour)),
		} {
			if !errors.Is(err, rlock.ErrNotSynced) {
				t.Errorf("%s: %v", what, err)
			}
		}
		awaitThat(t, "nothing is held", func() bool {
			locked, err := lock.IsLocked(ctx)
			part, err2 := c.Lock("part").IsLocked(ctx)
			there, err3 := other.IsLocked(ctx)
			free, err4 := semaphore.Available(ctx)
			left, err5 := permits.Available(ctx)
			return errors.Join(err, err2, err3, err4, err5) == nil && !locked && !part && !there &&
				free == 3 && left == 3
		})
		if err := semaphore.Release(ctx, 1); err != nil {
			t.Errorf("a release must not wait for replicas: %v", err)
		}
		tp.Heal(t)
	})
}

func second[T any](_ T, err error) error { return err }
