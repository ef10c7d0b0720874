package rlock_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/internal/rlocksuite"
)

// TestSuite runs rlock's suite on every foreign server, also with lost replies, so
// that scripts run twice. The tests of rlock run it on lockredis.
func TestSuite(t *testing.T) {
	foreign := []topology.Kind{topology.Single, topology.Sentinel, topology.Cluster, topology.Valkey}
	t.Parallel()
	topology.Parallel(t, foreign, func(t *testing.T, tp *topology.Topology) {
		run := func(rdb redis.UniversalClient) func(*testing.T) {
			return func(t *testing.T) {
				rlocksuite.Run(t, func(t testing.TB) redis.UniversalClient {
					tp.Flush(t)
					return rdb
				})
			}
		}
		many := func(o *redis.UniversalOptions) { o.PoolSize = 100 }
		t.Run("sent once", run(tp.Client(t, many)))
		again := tp.Client(t, many)
		rlocksuite.SendTwice(again)
		t.Run("sent twice", run(again))
	})
}
