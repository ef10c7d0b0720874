package rlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/rlock"
)

// TestALockIsGrantedWhileItsSlotMoves begins to migrate a slot of a cluster. New keys
// of the slot are then created on the importing node, and clients get an ASK redirect.
// A lock that the other node has still is renewed there.
func TestALockIsGrantedWhileItsSlotMoves(t *testing.T) {
	t.Parallel()
	topology.Parallel(t, []topology.Kind{topology.Cluster}, func(t *testing.T, tp *topology.Topology) {
		ctx := t.Context()
		const key = "orders:42"
		do := func(n *topology.Node, args ...any) any {
			t.Helper()
			reply, err := n.Do(args...)
			if err != nil {
				t.Fatal(args, err)
			}
			return reply
		}
		from, to := tp.Master(t, key), tp.Master(t, "b")
		if from == to {
			t.Fatal("both keys are on one node")
		}
		c := rlock.New(tp.Client(t), rlock.Options{Lease: 900 * time.Millisecond})
		t.Cleanup(func() { c.Close(context.Background()) })
		before, err := c.Lock("{" + key + "}:before").Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}

		slot := do(from, "CLUSTER", "KEYSLOT", key)
		do(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", do(from, "CLUSTER", "MYID"))
		do(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", do(to, "CLUSTER", "MYID"))

		l := c.Lock(key)
		h, err := l.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got := do(to, "CLUSTER", "COUNTKEYSINSLOT", slot); got != int64(1) {
			t.Errorf("the next node has %v keys of the slot", got)
		}
		renewed := time.Now().Add(2 * time.Second)
		for before.Err() == nil && before.Until().Before(renewed) {
			time.Sleep(10 * time.Millisecond)
		}
		if err := before.Err(); err != nil {
			t.Errorf("the lock of the first node: %v", err)
		}
		if err := before.Extend(ctx, time.Minute); err != nil {
			t.Errorf("Extend of the lock of the first node: %v", err)
		}
		do(from, "DEL", "{"+key+"}:before") // a slot with keys cannot move
		for _, n := range []*topology.Node{to, from} {
			do(n, "CLUSTER", "SETSLOT", slot, "NODE", do(to, "CLUSTER", "MYID"))
		}
		if err := h.Release(ctx); err != nil {
			t.Fatal(err)
		}
		if locked, err := l.IsLocked(ctx); locked || err != nil {
			t.Fatal(locked, err)
		}
	})
}
