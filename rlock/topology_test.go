package rlock

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestTopologyOfEachClient(t *testing.T) {
	addrs := []string{"127.0.0.1:1"}
	failover := &redis.FailoverOptions{MasterName: "m", SentinelAddrs: addrs}
	for _, c := range []struct {
		name            string
		rdb             redis.UniversalClient
		single, sharded bool
		synced          bool // with SyncAuto
		publish         string
	}{
		{"single", redis.NewClient(&redis.Options{Addr: addrs[0]}), true, false, false, "PUBLISH"},
		{"sentinel", redis.NewFailoverClient(failover), true, false, true, "PUBLISH"},
		{"cluster", redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs}), false, true, true, "SPUBLISH"},
		{"sentinel with cluster client", redis.NewFailoverClusterClient(failover), false, false, true, "PUBLISH"},
	} {
		got := topologyOf(c.rdb, SyncAuto)
		if got.single != c.single || got.sharded != c.sharded || got.synced != c.synced ||
			got.publish != c.publish {
			t.Errorf("%s: %+v", c.name, got)
		}
		for sync, want := range map[Sync]bool{SyncOff: false, SyncOn: true} {
			if got := topologyOf(c.rdb, sync).synced; got != want {
				t.Errorf("%s, Sync %d: synced is %v", c.name, sync, got)
			}
		}
		c.rdb.Close()
	}
}

func TestQuickClientTimeout(t *testing.T) {
	for own, want := range map[time.Duration]time.Duration{
		-1: quickTimeout, 0: quickTimeout, time.Second: quickTimeout,
		10 * time.Millisecond: 10 * time.Millisecond,
	} {
		rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", ReadTimeout: own})
		if got := quickClient(rdb, topology{}).Options().ReadTimeout; got != want {
			t.Errorf("ReadTimeout %v: %v, want %v", own, got, want)
		}
		if quickClient(rdb, topology{synced: true}) != nil {
			t.Error("a quick client that does not wait for replicas")
		}
		rdb.Close()
	}
}

func TestBackoffDoublesFrom50MsTo1SAndAddsAtMostAQuarter(t *testing.T) {
	for n, want := range []time.Duration{25, 50, 100, 200, 400, 800, 1000, 1000, 1000} {
		want *= time.Millisecond
		for range 20 {
			if got := backoff(n); got < want || got > want+want/4 {
				t.Errorf("backoff(%d) is %v", n, got)
			}
		}
	}
}
