package rlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/rlock"
)

// TestAnAcquisitionWithoutReplicaConfirmationIsReleased stops a master's replicas, so
// WAIT returns 0. Acquisitions must then fail and be released. That includes the part of
// a MultiLock on another server.
func TestAnAcquisitionWithoutReplicaConfirmationIsReleased(t *testing.T) {
	releasedWithoutConfirmation(t, 3*time.Second, 100*time.Millisecond)
}

func TestTheSyncTimeoutMayBeLongerThanTheClientsTimeout(t *testing.T) {
	releasedWithoutConfirmation(t, 300*time.Millisecond, time.Second)
}

func releasedWithoutConfirmation(t *testing.T, read, sync time.Duration) {
	t.Parallel()
	topology.Parallel(t, []topology.Kind{topology.Sentinel}, func(t *testing.T, tp *topology.Topology) {
		ctx := t.Context()
		rdb := tp.Client(t, func(o *redis.UniversalOptions) { o.ReadTimeout = read })
		c := rlock.New(rdb, rlock.Options{SyncTimeout: sync})
		t.Cleanup(func() { c.Close(context.Background()) })
		elsewhere := rlock.New(topology.Start(t, topology.Lockredis).Client(t), rlock.Options{})
		t.Cleanup(func() { elsewhere.Close(context.Background()) })
		lock, other := c.Lock("lock"), elsewhere.Lock("other")
		both := rlock.Multi(other, c.Lock("part"))
		semaphore, permits := c.Semaphore("semaphore"), c.PermitSemaphore("permits")
		if err := errors.Join(semaphore.Release(ctx, 3), permits.SetPermits(ctx, 3),
			lock.Do(ctx, func(context.Context) error { return nil })); err != nil {
			t.Fatal(err)
		}

		master := tp.Master(t, "lock")
		for _, n := range tp.Nodes {
			if n != master {
				n.Freeze(t)
			}
		}
		for what, err := range map[string]error{
			"Lock":              second(lock.Acquire(ctx)),
			"MultiLock":         second(both.Acquire(ctx)),
			"Semaphore":         semaphore.Acquire(ctx, 1),
			"PermitSemaphore":   second(permits.Acquire(ctx, 1)),
			"PermitSemaphore/2": second(permits.Acquire(ctx, 2, rlock.Lease(time.Hour))),
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
