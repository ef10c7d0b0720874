package lockredistest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestAClusterClientConnectsInMemoryAndWithTLS(t *testing.T) {
	for name, opts := range map[string][]lockredistest.Option{
		"in memory": {lockredistest.Cluster()},
		"password":  {lockredistest.Cluster(), lockredistest.Password("secret")},
		"TLS":       {lockredistest.Cluster(), lockredistest.TLS()},
	} {
		t.Run(name, func(t *testing.T) {
			rdb := lockredistest.RunT(t, opts...).ClusterClient()
			for _, key := range []string{"a", "b", "{a}b"} {
				if err := rdb.Set(t.Context(), key, key, 0).Err(); err != nil {
					t.Fatal(err)
				}
			}
			got, err := rdb.MGet(t.Context(), "a", "{a}b").Result()
			if err != nil || len(got) != 2 || got[1] != "{a}b" {
				t.Fatalf("%v, %v", got, err)
			}
			info, err := rdb.ClusterInfo(t.Context()).Result()
			if err != nil || !strings.Contains(info, "cluster_state:ok") {
				t.Fatalf("%q, %v", info, err)
			}
		})
	}
}

func TestLocksOverAClusterClientWorkInABubble(t *testing.T) {
	synctestRun(t, "bubble", func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.Cluster())
		c := rlock.New(srv.ClusterClient(), rlock.Options{})
		defer c.Close(t.Context())
		held, err := c.Lock("l").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, func() { held.Release(t.Context()) })
		start := time.Now()
		again, err := c.Lock("l").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited < time.Minute || waited > 61*time.Second {
			t.Errorf("waited %v", waited)
		}
		if err := again.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestALockOverAClusterClientIsALeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec, lockredistest.Cluster())
		c := rlock.New(srv.ClusterClient(), rlock.Options{})
		if _, err := c.Lock("orders").Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if text := rec.end(); !strings.Contains(text, "orders") {
			t.Errorf("the leak is not reported: %q", text)
		}
		c.Close(t.Context())
	})
}

func TestTheTestsOwnMethodsUseKeysOfAnySlot(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.Cluster(), lockredistest.Directive("cluster-slots", "0"))
	if _, err := srv.Do("MSET", "a", "1", "b", "2"); err != nil {
		t.Fatal(err)
	}
	if err := srv.ClusterClient().Get(t.Context(), "a").Err(); err == nil ||
		!strings.HasPrefix(err.Error(), "CLUSTERDOWN") {
		t.Errorf("GET: %v", err)
	}
}
