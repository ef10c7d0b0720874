package lockredistest_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// ok ends the test at an error.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refusesWrites checks that clients cannot write to a server, because it is a replica.
func refusesWrites(t *testing.T, srv *lockredistest.Server) {
	t.Helper()
	err := srv.Client().Set(t.Context(), "k", "w", 0).Err()
	if err == nil || !strings.HasPrefix(err.Error(), "READONLY") {
		t.Errorf("a write to a replica: %v", err)
	}
}

// inEach runs a test outside of a bubble, in one, and with Sentinels.
func inEach(t *testing.T, test func(t *testing.T, srv *lockredistest.Server)) {
	t.Run("alone", func(t *testing.T) { test(t, lockredistest.RunT(t, lockredistest.Replicas(2))) })
	t.Run("in a bubble", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, lockredistest.RunT(t, lockredistest.Replicas(2))) })
	})
	t.Run("with Sentinels", func(t *testing.T) {
		test(t, lockredistest.RunT(t, lockredistest.Replicas(2), lockredistest.Sentinel(nil)))
	})
	t.Run("with Sentinels in a bubble", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			test(t, lockredistest.RunT(t, lockredistest.Replicas(2), lockredistest.Sentinel(nil)))
		})
	})
}

func TestReplicasFollowThePrimary(t *testing.T) {
	inEach(t, func(t *testing.T, srv *lockredistest.Server) {
		rdb := srv.Client()
		ok(t, rdb.Set(t.Context(), "k", "v", 0).Err())
		if n, err := rdb.Wait(t.Context(), 2, 0).Result(); n != 2 || err != nil {
			t.Fatalf("WAIT: %d %v", n, err)
		}
		for _, replica := range srv.Replicas() {
			replica.CheckGet(t, "k", "v")
		}
		refusesWrites(t, srv.Node(1))
		if srv.Primary() != srv {
			t.Error("another node is the primary")
		}
	})
}

func TestFailoverPromotesAReplicaThatHasAllWrites(t *testing.T) {
	inEach(t, func(t *testing.T, srv *lockredistest.Server) {
		for range 3 {
			old := srv.Primary()
			ok(t, old.Client().Incr(t.Context(), "n").Err())
			began := time.Now()
			promoted, err := srv.Failover()
			ok(t, err)
			t.Log("failover", time.Since(began))
			if promoted == old || srv.Primary() != promoted {
				t.Fatal("the primary is the old one")
			}
			ok(t, promoted.Client().Incr(t.Context(), "n").Err())
			if n, err := promoted.Client().Wait(t.Context(), 2, 0).Result(); n != 2 || err != nil {
				t.Fatalf("WAIT at the new primary: %d %v", n, err)
			}
		}
		srv.Node(0).CheckGet(t, "n", "6")
	})
}

func TestAWriteThatLagsIsLostInAFailover(t *testing.T) {
	inEach(t, func(t *testing.T, srv *lockredistest.Server) {
		for _, replica := range srv.Replicas() {
			replica.Lag(1)
		}
		rdb := srv.Client()
		ok(t, rdb.Set(t.Context(), "first", "1", 0).Err())
		_, err := rdb.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
			p.Set(t.Context(), "second", "2", 0)
			p.Set(t.Context(), "third", "3", 0)
			return nil
		})
		ok(t, err)
		srv.Stop()
		promoted, err := srv.Failover()
		ok(t, err)
		promoted.CheckGet(t, "first", "1")
		promoted.CheckMissing(t, "second", "third")
		srv.CheckGet(t, "third", "3")
		ok(t, srv.Restart())
		ok(t, srv.Heal())
		srv.CheckMissing(t, "third")
	})
}

func TestWaitSeesThatAReplicaLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.Replicas(1))
		rdb, replica := srv.Client(), srv.Node(1)
		replica.Lag(2)
		for _, key := range []string{"a", "b", "c"} {
			ok(t, rdb.Set(t.Context(), key, "v", 0).Err())
		}
		if n := rdb.Wait(t.Context(), 1, 2*time.Second).Val(); n != 0 {
			t.Errorf("WAIT counts %d replicas that lag", n)
		}
		replica.CheckGet(t, "a", "v")
		replica.CheckMissing(t, "b", "c")
		time.Sleep(5 * time.Minute) // the link does not time out
		replica.CheckMissing(t, "b", "c")
		replica.Lag(0)
		if n := rdb.Wait(t.Context(), 1, 0).Val(); n != 1 {
			t.Errorf("WAIT counts %d replicas", n)
		}
		replica.CheckGet(t, "c", "v")
	})
}

func TestAPrimaryThatIsCutOffServesItsOwnClients(t *testing.T) {
	inEach(t, func(t *testing.T, srv *lockredistest.Server) {
		own := srv.Client()
		ok(t, own.Set(t.Context(), "k", "before", 0).Err())
		ok(t, srv.Disconnect())
		promoted, err := srv.Failover()
		ok(t, err)
		ok(t, own.Set(t.Context(), "k", "old", 0).Err())
		ok(t, promoted.Client().Set(t.Context(), "k", "new", 0).Err())
		srv.CheckGet(t, "k", "old")
		for _, n := range srv.Nodes()[1:] {
			if n != promoted {
				promoted.Client().Wait(t.Context(), 1, 0)
			}
			n.CheckGet(t, "k", "new")
		}
		ok(t, srv.Heal())
		srv.CheckGet(t, "k", "new")
	})
}

func TestAReplicaGetsWhatItsCutLinkHasMissed(t *testing.T) {
	inEach(t, func(t *testing.T, srv *lockredistest.Server) {
		replica := srv.Node(1)
		ok(t, srv.Client().Set(t.Context(), "before", "1", 0).Err())
		ok(t, replica.Disconnect(srv))
		ok(t, srv.Client().Set(t.Context(), "after", "2", 0).Err())
		replica.CheckGet(t, "before", "1")
		replica.CheckMissing(t, "after")
		ok(t, replica.Reconnect(srv))
		replica.CheckGet(t, "after", "2")
	})
}

func TestAStoppedReplicaFollowsWhenItRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.Replicas(2))
		ok(t, srv.Client().Set(t.Context(), "k", "1", 0).Err())
		replica := srv.Node(2)
		replica.Stop()
		ok(t, srv.Client().Set(t.Context(), "k", "2", 0).Err())
		time.Sleep(10 * time.Second)
		replica.CheckGet(t, "k", "1")
		promoted, err := srv.Failover()
		ok(t, err)
		if promoted == replica {
			t.Fatal("a replica that does not run was promoted")
		}
		ok(t, replica.RestartEmpty())
		ok(t, srv.Heal())
		replica.CheckGet(t, "k", "2")
	})
}

func TestAFailoverClientHearsOfAFailover(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.Replicas(2), lockredistest.Sentinel(nil))
	conn, err := srv.Sentinels().Dial(t.Context(), "tcp", srv.Sentinels().Addrs()[2])
	ok(t, err)
	watcher := redis.NewClient(&redis.Options{
		Dialer:          func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		DisableIdentity: true,
	})
	defer watcher.Close()
	heard := watcher.Subscribe(t.Context(), "+switch-master")
	defer heard.Close()
	if _, err := heard.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	rdb := srv.FailoverClient()
	ok(t, rdb.Set(t.Context(), "k", "1", 0).Err())
	ok(t, srv.Node(2).Promote())
	msg, err := heard.ReceiveMessage(t.Context())
	ok(t, err)
	if want := "mymaster 127.0.0.1 6379 127.0.0.1 6381"; msg.Payload != want {
		t.Errorf("+switch-master %s, want %s", msg.Payload, want)
	}
	if !redistest.Poll(time.Minute, func() bool { return rdb.Set(t.Context(), "k", "2", 0).Err() == nil }) {
		t.Fatal("the client does not reach the new primary")
	}
	srv.Node(2).CheckGet(t, "k", "2")
}

func TestReplicasListen(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "0.0.0.0:0", "localhost:0"} {
		srv := lockredistest.RunT(t, lockredistest.Replicas(1), lockredistest.Sentinel(nil),
			lockredistest.Listen(addr))
		promoted, err := srv.Failover()
		ok(t, err)
		rdb := srv.FailoverClient() // over TCP
		ok(t, rdb.Set(t.Context(), "k", "v", 0).Err())
		promoted.CheckGet(t, "k", "v")
	}
}

func TestReplicasHaveClocksThatATestTurns(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.Replicas(1), lockredistest.ManualClock())
	rdb := srv.Client()
	ok(t, rdb.Set(t.Context(), "k", "v", time.Minute).Err())
	rdb.Wait(t.Context(), 1, 0)
	srv.AdvanceAll(2 * time.Minute)
	srv.Node(1).CheckMissing(t, "k")
	_, err := srv.Failover()
	ok(t, err)
}

func TestSentinelsFailOverByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := lockredistest.Sentinel(func(c *lockredis.SentinelConfig) { c.DownAfter = 5 * time.Second })
		srv := lockredistest.RunT(t, lockredistest.Replicas(2), slow)
		ok(t, srv.Client().Set(t.Context(), "k", "v", 0).Err())
		srv.Stop()
		time.Sleep(time.Minute)
		promoted := srv.Primary()
		if promoted == srv {
			t.Fatal("no replica was promoted")
		}
		promoted.CheckGet(t, "k", "v")
		ok(t, srv.Restart())
		time.Sleep(time.Minute)
		refusesWrites(t, srv)
	})
}

func TestLeaksAreThoseOfThePrimary(t *testing.T) {
	srv, err := lockredistest.Run(lockredistest.Replicas(1))
	ok(t, err)
	ok(t, srv.Client().SetNX(t.Context(), "lock", "6f1c7a0e-8f0b-4f57-9d2f-0d5a1c8a1c11", time.Minute).Err())
	srv.Client().Wait(t.Context(), 1, 0)
	if err := srv.Close(); err == nil || strings.Count(err.Error(), `lock "lock"`) != 1 {
		t.Errorf("leaks: %v", err)
	}
}

func TestASubscriptionAtAReplicaIsALeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := lockredistest.Run(lockredistest.Replicas(1))
		ok(t, err)
		if _, err := srv.Node(1).Client().Subscribe(t.Context(), "news").Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := srv.Close(); err == nil || strings.Count(err.Error(), `is subscribed to channel "news"`) != 1 {
			t.Errorf("leaks: %v", err)
		}
	})
}

// A replica gets no scripts, but what they have written.
func TestALockOutlivesFailoversAndIsALeakOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := lockredistest.Run(lockredistest.Replicas(2))
		ok(t, err)
		c := locker(t, srv.Client(), rlock.Options{})
		_, err = c.Lock("order:42").Acquire(t.Context(), rlock.Lease(time.Hour))
		ok(t, err)
		want := srv.Locks()
		if len(want) != 1 || len(want[0].Holders) != 1 {
			t.Fatalf("the locks are %+v", want)
		}
		for range 2 {
			promoted, err := srv.Failover()
			ok(t, err)
			got := promoted.Locks()
			if len(got) != 1 || got[0].Name != want[0].Name || !slices.Equal(got[0].Holders, want[0].Holders) {
				t.Errorf("the locks of the new primary are %+v, want %+v", got, want)
			}
		}
		if err := srv.Close(); err == nil || strings.Count(err.Error(), `lock "order:42"`) != 1 {
			t.Errorf("leaks: %v", err)
		}
	})
}

func TestTheOptionReplicasRefusesOthers(t *testing.T) {
	for _, opts := range [][]lockredistest.Option{
		{lockredistest.Replicas(0)},
		{lockredistest.Replicas(1), lockredistest.ClusterOf(2)},
		{lockredistest.Replicas(1), lockredistest.Primaries(2)},
		{lockredistest.Replicas(1), lockredistest.TLS()},
	} {
		if srv, err := lockredistest.Run(opts...); err == nil {
			srv.Close()
			t.Error("the server started")
		}
	}
}
