package lockredistest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// shards starts a cluster of three primaries with a replica each.
func shards(t *testing.T, opts ...lockredistest.Option) *lockredistest.Server {
	t.Helper()
	opts = append(opts, lockredistest.ClusterOf(3), lockredistest.ClusterReplicas(1))
	return lockredistest.RunT(t, opts...)
}

// awaitInfo waits until INFO replication of a server has a text.
func awaitInfo(t *testing.T, s *lockredistest.Server, text string) {
	t.Helper()
	var info string
	if !redistest.Poll(time.Minute, func() bool {
		v, err := s.Do("INFO", "replication")
		ok(t, err)
		info, _ = v.(string)
		return strings.Contains(info, text)
	}) {
		t.Fatalf("%s; want %s", info, text)
	}
}

// awaitReply waits until a server replies a value to a command, whose errors are for a time only.
func awaitReply(t *testing.T, s *lockredistest.Server, want any, words ...string) {
	t.Helper()
	var got any
	if !redistest.Poll(time.Minute, func() bool {
		got, _ = s.Do(words...)
		return got == want
	}) {
		t.Fatalf("%v: %v, want %v", words, got, want)
	}
}

// keys are in the slots of the three primaries.
var keys = []string{"b", "c", "a"}

func TestAClusterClientReadsFromReplicas(t *testing.T) {
	srv := shards(t)
	o := srv.ClusterOptions()
	o.ReadOnly = true
	rdb := redis.NewClusterClient(o)
	defer rdb.Close()
	for i, key := range keys {
		if err := rdb.Set(t.Context(), key, key, 0).Err(); err != nil {
			t.Fatal(err)
		}
		awaitReply(t, srv.Node(i+3), key, "GET", key)
	}
	ok(t, rdb.ForEachSlave(t.Context(), func(ctx context.Context, c *redis.Client) error {
		return c.Ping(ctx).Err()
	}))
	for i, key := range keys {
		asked := srv.Node(i + 3).CommandCounts()["get"]
		for range 50 {
			if got, err := rdb.Get(t.Context(), key).Result(); err != nil || got != key {
				t.Fatal(got, err)
			}
		}
		if srv.Node(i + 3).CommandCounts()["get"] == asked {
			t.Errorf("the replica of %s was not asked", key)
		}
	}
}

func TestAClusterClientGoesOnAfterAFailover(t *testing.T) {
	for name, route := range map[string]func(o *redis.ClusterOptions){
		"primaries":   func(*redis.ClusterOptions) {},
		"replicas":    func(o *redis.ClusterOptions) { o.ReadOnly = true },
		"the nearest": func(o *redis.ClusterOptions) { o.RouteByLatency = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := shards(t)
			o := srv.ClusterOptions()
			o.ClusterStateReloadInterval = 10 * time.Millisecond // a minute by default
			route(o)
			rdb := redis.NewClusterClient(o)
			defer rdb.Close()
			for i, key := range keys {
				rdb.Set(t.Context(), key, "1", 0)
				awaitReply(t, srv.Node(i+3), "1", "GET", key)
			}
			srv.Node(0).Stop()
			awaitInfo(t, srv.Node(3), "role:master")
			var err error
			if !redistest.Poll(time.Minute, func() bool {
				err = rdb.Incr(t.Context(), keys[0]).Err()
				return err == nil
			}) {
				t.Fatal(err)
			}
			if got, err := srv.Node(3).Do("GET", keys[0]); got != "2" {
				t.Error(got, err)
			}
			if err := srv.Node(0).Restart(); err != nil {
				t.Fatal(err)
			}
			awaitInfo(t, srv.Node(0), "master_link_status:up")
			if got, _ := srv.Node(0).Do("GET", keys[0]); got != "2" {
				t.Errorf("the former primary has %v", got)
			}
		})
	}
}

func TestALockOutlivesAFailover(t *testing.T) {
	for name, end := range map[string]func(srv *lockredistest.Server) error{
		"of a primary that ends": func(srv *lockredistest.Server) error {
			srv.Node(0).Stop()
			return nil
		},
		"on request": func(srv *lockredistest.Server) error {
			_, err := srv.Node(3).Client().Do(context.Background(), "CLUSTER", "FAILOVER").Result()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := shards(t)
			holder := rlock.New(srv.ClusterClient(), rlock.Options{})
			waiter := rlock.New(srv.ClusterClient(), rlock.Options{})
			defer holder.Close(context.Background())
			defer waiter.Close(context.Background())
			held, err := holder.Lock("b").Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			awaitReply(t, srv.Node(3), int64(1), "EXISTS", "b")
			if err := end(srv); err != nil {
				t.Fatal(err)
			}
			awaitInfo(t, srv.Node(3), "role:master")
			_, err = waiter.Lock("b").Acquire(t.Context(), rlock.Wait(0))
			if !errors.Is(err, rlock.ErrTimeout) {
				t.Errorf("the lock is free: %v", err)
			}
			got := make(chan error, 1)
			go func() {
				again, err := waiter.Lock("b").Acquire(t.Context())
				if err == nil {
					err = again.Release(t.Context())
				}
				got <- err
			}()
			if err := held.Release(t.Context()); err != nil {
				t.Error(err)
			}
			if err := <-got; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReplicasWorkInABubble(t *testing.T) {
	synctestRun(t, "bubble", func(t *testing.T) {
		srv := shards(t)
		rdb := srv.ClusterClient()
		if err := rdb.Set(t.Context(), "b", "1", 0).Err(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		srv.Node(0).Stop()
		synctest.Wait()
		for rdb.Incr(t.Context(), "b").Err() != nil { // for a minute, see ClusterStateReloadInterval
			time.Sleep(time.Second)
		}
		if got, err := srv.Node(3).Do("GET", "b"); got != "2" {
			t.Error(got, err)
		}
	})
}

func TestTheClocksOfPrimariesAndReplicasTurnTogether(t *testing.T) {
	srv := shards(t, lockredistest.ManualClock())
	rdb := srv.ClusterClient()
	rdb.Set(t.Context(), "b", "1", time.Minute)
	awaitReply(t, srv.Node(3), "1", "GET", "b")
	srv.AdvanceAll(59 * time.Second)
	if got, err := srv.Node(3).Do("EXISTS", "b"); got != int64(1) {
		t.Errorf("before its end: %v, %v", got, err)
	}
	srv.AdvanceAll(2 * time.Second)
	for _, i := range []int{0, 3} {
		if got, err := srv.Node(i).Do("EXISTS", "b"); got != int64(0) {
			t.Errorf("node %d, after its end: %v, %v", i, got, err)
		}
	}
}

func TestALockIsALeakAtOneNodeOfItsShard(t *testing.T) {
	for name, fail := range map[string]bool{"before a failover": false, "after a failover": true} {
		t.Run(name, func(t *testing.T) {
			srv, err := lockredistest.Run(lockredistest.ClusterOf(3), lockredistest.ClusterReplicas(1))
			if err != nil {
				t.Fatal(err)
			}
			c := rlock.New(srv.ClusterClient(), rlock.Options{})
			defer c.Close(context.Background())
			if _, err := c.Lock("b").Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
			awaitReply(t, srv.Node(3), int64(1), "EXISTS", "b")
			if fail {
				srv.Node(0).Stop()
				awaitInfo(t, srv.Node(3), "role:master")
			}
			err = srv.Close()
			if err == nil || strings.Count(err.Error(), `lock "b" is held`) != 1 ||
				strings.Contains(err.Error(), "node 3") != fail {
				t.Error(err)
			}
		})
	}
}

func TestReplicasAreOfAClusterOnly(t *testing.T) {
	for want, opts := range map[string][]lockredistest.Option{
		"needs ClusterOf": {lockredistest.ClusterReplicas(1)},
		"not Primaries":   {lockredistest.ClusterReplicas(1), lockredistest.Primaries(3)},
		"-1 replicas":     {lockredistest.ClusterReplicas(-1), lockredistest.ClusterOf(3)},
	} {
		if s, err := lockredistest.Run(opts...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want %s", s, err, want)
		}
	}
}
