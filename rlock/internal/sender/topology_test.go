package sender

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock/internal/scripts"
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
		got := topologyOf(c.rdb, &Config{SyncAuto: true})
		if got.single != c.single || got.sharded != c.sharded || got.synced != c.synced ||
			got.publishCommand != c.publish {
			t.Errorf("%s: %+v", c.name, got)
		}
		for _, on := range []bool{false, true} {
			if got := topologyOf(c.rdb, &Config{SyncOn: on}).synced; got != on {
				t.Errorf("%s, SyncOn %v: synced is %v", c.name, on, got)
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
	r := &Request{Call: NewCall(scripts.ReadKey, []string{"l"}, "exists")}
	for _, on := range []bool{false, true} {
		topo := topologyOf(rdb, &Config{SyncOn: on})
		topo.only.latency.Store(1)
		topo.only.hooked.Store(true)
		for _, r.Replicated = range []bool{false, true} {
			want := !on || !r.Replicated
			if _, near := topo.nearServer(t.Context(), r); near != want {
				t.Errorf("SyncOn %v, replicated %v: near is %v", on, r.Replicated, near)
			}
		}
	}
}
