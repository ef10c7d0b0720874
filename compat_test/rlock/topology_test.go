package rlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/topology"
)

const key = "orders:42"

func TestEveryTopologyTakesWritesFromItsClient(t *testing.T) {
	t.Parallel()
	topology.Parallel(t, nil, func(t *testing.T, tp *topology.Topology) {
		rdb := tp.Client(t)
		if err := rdb.Set(t.Context(), key, "1", 0).Err(); err != nil {
			t.Fatal(err)
		}
		tp.Flush(t)
		if n, err := rdb.Exists(t.Context(), key).Result(); n != 0 || err != nil {
			t.Errorf("after Flush: %d, %v", n, err)
		}
	})
}

func TestClientFollowsAnOrderlyFailover(t *testing.T) {
	replicated(t, func(t *testing.T, tp *topology.Topology) {
		rdb := tp.Client(t)
		retrySet(t, rdb, "before")
		old := tp.Master(t, key)
		if now := tp.Failover(t, key); now == old {
			t.Fatal("the master stayed")
		}
		retrySet(t, rdb, "after")
		tp.Heal(t)
	})
}

func TestClientFollowsWhenTheMasterIsKilled(t *testing.T) {
	replicated(t, func(t *testing.T, tp *topology.Topology) {
		rdb := tp.Client(t)
		retrySet(t, rdb, "before")
		old := tp.KillMaster(t, key)
		tp.AwaitNewMaster(t, key, old)
		retrySet(t, rdb, "after")
		tp.Heal(t)
		if now := tp.Master(t, key); now == old {
			t.Error("the killed master rules again")
		}
	})
}

func TestFrozenMasterIsReplacedAndComesBackAsReplica(t *testing.T) {
	replicated(t, func(t *testing.T, tp *topology.Topology) {
		old := tp.Master(t, key)
		old.Freeze(t)
		tp.AwaitNewMaster(t, key, old)
		retrySet(t, tp.Client(t), "after")
		tp.Heal(t)
		if tp.Master(t, key) == old {
			t.Error("the frozen master rules again")
		}
	})
}

func TestPartitionLeavesTwoMastersThatClientsReach(t *testing.T) {
	replicated(t, func(t *testing.T, tp *topology.Topology) {
		old := tp.Master(t, key)
		tp.Partition(t, old)
		if _, err := old.Do("SET", key, "old"); err != nil {
			t.Errorf("the old master right after the cut: %v", err)
		}
		now := tp.AwaitNewMaster(t, key, old)
		if _, err := now.Do("SET", key, "new"); err != nil {
			t.Errorf("the new master: %v", err)
		}
		_, err := old.Do("SET", key, "old")
		if refused := err != nil; refused != (tp.Kind == topology.Cluster) {
			t.Errorf("the old master: %v", err)
		}
		tp.Heal(t)
		if value, err := tp.Client(t).Get(t.Context(), key).Result(); value != "new" || err != nil {
			t.Errorf("after the partition: %q, %v", value, err)
		}
	})
}

func TestPausedNodeAnswersLater(t *testing.T) {
	t.Parallel()
	topology.Parallel(t, []topology.Kind{topology.Single, topology.Valkey},
		func(t *testing.T, tp *topology.Topology) {
			rdb := tp.Client(t)
			retrySet(t, rdb, "before")
			start := time.Now()
			tp.Master(t, key).Pause(t, 300*time.Millisecond)
			retrySet(t, rdb, "after")
			if took := time.Since(start); took < 250*time.Millisecond {
				t.Errorf("only %s", took)
			}
		})
}

func replicated(t *testing.T, test func(t *testing.T, tp *topology.Topology)) {
	t.Helper()
	t.Parallel()
	topology.Parallel(t, []topology.Kind{topology.Sentinel, topology.Cluster}, test)
}

// retrySet retries until the write succeeds, because a client may need time to find a new
// master. When a node is gone and no MOVED arrives, go-redis reloads the slots only
// after 60 s, unless told to.
func retrySet(t *testing.T, rdb redis.UniversalClient, value string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var last error
	for {
		err := rdb.Set(ctx, key, value, 0).Err()
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			last = err
		} else {
			t.Fatalf("SET %s: %v", value, last)
		}
		if cluster, ok := rdb.(*redis.ClusterClient); ok {
			cluster.ReloadState(ctx)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
