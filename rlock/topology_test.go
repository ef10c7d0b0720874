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
		{"cluster", redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs}),
			false, true, true, "SPUBLISH"},
		{"sentinel with cluster client", redis.NewFailoverClusterClient(failover),
			false, false, true, "PUBLISH"},
	} {
		got := topologyOf(c.rdb, Options{})
		if got.single != c.single || got.sharded != c.sharded || got.synced != c.synced ||
			got.publish != c.publish {
			t.Errorf("%s: %+v", c.name, got)
		}
		for sync, want := range map[Sync]bool{SyncOff: false, SyncOn: true} {
			if got := topologyOf(c.rdb, Options{Sync: sync}).synced; got != want {
				t.Errorf("%s, Sync %d: synced is %v", c.name, sync, got)
			}
		}
		c.rdb.Close()
	}
}

func TestANearServersTimeout(t *testing.T) {
	for own, want := range map[time.Duration]time.Duration{
		-1: nearTimeout, 0: nearTimeout, time.Second: nearTimeout,
		10 * time.Millisecond: 10 * time.Millisecond,
	} {
		rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", ReadTimeout: own})
		h := newSendHook(rdb)
		for n, more := range map[int]time.Duration{
			0: 0, 1: 0, 2: nearLatency, 3: 3 * nearLatency, maxPipeline: 127 * nearLatency,
		} {
			want := want
			if want == nearTimeout {
				want += more
			}
			if got := h.nearClient(n).Options().ReadTimeout; got != want {
				t.Errorf("ReadTimeout %v, %d requests: %v, want %v", own, n, got, want)
			}
		}
		rdb.Close()
	}
}

func TestARequestThatWaitsForReplicasHasNoNearServer(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer rdb.Close()
	r := &request{call: readKey("l", "exists")}
	for _, sync := range []Sync{SyncOff, SyncOn} {
		topo := topologyOf(rdb, Options{Sync: sync})
		topo.only.latency.Store(1)
		topo.only.hooked.Store(true)
		for _, r.replicated = range []bool{false, true} {
			want := sync == SyncOff || !r.replicated
			if _, near := topo.nearServer(t.Context(), r); near != want {
				t.Errorf("Sync %d, replicated %v: near is %v", sync, r.replicated, near)
			}
		}
	}
}
