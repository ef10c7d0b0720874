package lockredistest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// locker returns an rlock client that is closed when the test ends, without what it holds.
//
// go-redis goes on in the background to connect to a node that has ended, for half a second.
func locker(t *testing.T, rdb redis.UniversalClient, opts rlock.Options) *rlock.Client {
	t.Helper()
	c := rlock.New(rdb, opts)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = c.Close(ctx) // its server may have ended
		time.Sleep(time.Second)
	})
	return c
}

// acquire acquires the lock at a server, where no client may hold it.
func acquire(t *testing.T, srv *lockredistest.Server) *rlock.Hold {
	t.Helper()
	l := locker(t, srv.Client(), rlock.Options{}).Lock("order:42")
	held, err := l.Acquire(t.Context(), rlock.Wait(0))
	ok(t, err)
	return held
}

// lostLock acquires a lock whose write the replicas do not get before the primary ends, and acquires it
// once more at the new primary.
func lostLock(t *testing.T, srv *lockredistest.Server) {
	t.Helper()
	for _, replica := range srv.Replicas() {
		replica.Lag(1)
	}
	first, err := locker(t, srv.Client(), rlock.Options{}).Lock("order:42").Acquire(t.Context())
	ok(t, err)
	srv.Stop()
	promoted, err := srv.Failover()
	ok(t, err)
	second := acquire(t, promoted)
	if first.Err() != nil || second.Err() != nil {
		t.Errorf("there are no two holders: %v, %v", first.Err(), second.Err())
	}
	ok(t, second.Release(t.Context()))
}

func TestALockIsLostInEachFailoverWithLag(t *testing.T) {
	rounds := 50
	if !redistest.Whole() {
		rounds = 3
	}
	for i := range rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			began := time.Now()
			synctest.Test(t, func(t *testing.T) {
				lostLock(t, lockredistest.RunT(t, lockredistest.Replicas(2)))
			})
			synctest.Test(t, func(t *testing.T) {
				lostLock(t, lockredistest.RunT(t, lockredistest.Replicas(2), lockredistest.Sentinel(nil)))
			})
			t.Log("two lost locks", time.Since(began))
		})
	}
}

func TestAPartitionedPrimaryHasAHolderBesideTheNewOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.Replicas(2), lockredistest.Sentinel(nil))
		ok(t, srv.Disconnect())
		first, err := locker(t, srv.Client(), rlock.Options{}).Lock("order:42").Acquire(t.Context())
		ok(t, err)
		promoted, err := srv.Failover()
		ok(t, err)
		second := acquire(t, promoted)
		time.Sleep(20 * time.Second) // the watchdogs of both renew
		if first.Err() != nil || second.Err() != nil {
			t.Errorf("there are no two holders: %v, %v", first.Err(), second.Err())
		}
		ok(t, srv.Heal())
		if first.Release(t.Context()) == nil || second.Err() != nil {
			t.Error("the first holder has released the second one's lock")
		}
		ok(t, second.Release(t.Context()))
	})
}

func TestALockThatReplicasMustConfirmIsNotGrantedWhileTheyLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.Replicas(2))
		for _, replica := range srv.Replicas() {
			replica.Lag(1)
		}
		l := locker(t, srv.Client(), rlock.Options{Sync: rlock.SyncOn}).Lock("order:42")
		if _, err := l.Acquire(t.Context()); !errors.Is(err, rlock.ErrNotSynced) {
			t.Errorf("the lock is granted: %v", err)
		}
	})
}

// One confirmation is enough for one of the replicas only: the other one may be promoted.
func TestALockThatOneReplicaHasIsLostIfTheOtherOneIsPromoted(t *testing.T) {
	for replicas, granted := range map[int]bool{1: true, 2: false} {
		synctest.Test(t, func(t *testing.T) {
			srv := lockredistest.RunT(t, lockredistest.Replicas(2))
			late := srv.Node(2)
			late.Lag(1)
			confirmed := rlock.Options{Sync: rlock.SyncOn, SyncReplicas: replicas}
			_, err := locker(t, srv.Client(), confirmed).Lock("order:42").Acquire(t.Context())
			if !granted {
				if !errors.Is(err, rlock.ErrNotSynced) {
					t.Errorf("the lock is granted: %v", err)
				}
				return
			}
			ok(t, err)
			srv.Stop()
			ok(t, late.Promote())
			second := acquire(t, late)
			ok(t, second.Release(t.Context()))
		})
	}
}

// The counter of the tokens is data, too. A token that a replica has is followed by larger ones.
func TestAFencingTokenRepeatsOnlyIfTheReplicaLacksIt(t *testing.T) {
	for lag, want := range []int64{2, 1} {
		synctest.Test(t, func(t *testing.T) {
			srv := lockredistest.RunT(t, lockredistest.Replicas(1))
			srv.Node(1).Lag(lag)
			first, err := locker(t, srv.Client(), rlock.Options{}).FencedLock("order:42").Acquire(t.Context())
			ok(t, err)
			srv.Stop()
			promoted, err := srv.Failover()
			ok(t, err)
			l := locker(t, promoted.Client(), rlock.Options{}).FencedLock("order:42")
			second, err := l.Acquire(t.Context()) // waits for the first lease if the replica has it
			ok(t, err)
			if first.Token() != 1 || second.Token() != want {
				t.Errorf("lag %d: the tokens are %d and %d, want 1 and %d",
					lag, first.Token(), second.Token(), want)
			}
			ok(t, second.Release(t.Context()))
		})
	}
}

func TestAQuorumSurvivesAPrimaryWithoutItsData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.Primaries(3))
		quorum := func() *rlock.QuorumLock {
			var parts []*rlock.Lock
			for _, n := range srv.Nodes() {
				parts = append(parts, locker(t, n.Client(), rlock.Options{}).Lock("order:42"))
			}
			return rlock.Quorum(parts...)
		}
		first, err := quorum().Acquire(t.Context())
		ok(t, err)
		ok(t, srv.Node(1).RestartEmpty())
		_, err = quorum().Acquire(t.Context(), rlock.Wait(time.Second))
		if !errors.Is(err, rlock.ErrTimeout) {
			t.Errorf("a second holder: %v", err)
		}
		if first.Err() != nil {
			t.Errorf("the first holder has lost the lock: %v", first.Err())
		}
		ok(t, first.Release(t.Context()))
	})
}
