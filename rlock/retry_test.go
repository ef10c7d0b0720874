package rlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestNoErrorReachesCallersOfAClusterWhoseConnectionsAreCut(t *testing.T) {
	srv := lockredistest.RunT(t)
	rdb := clusterOf(t, nil, srv.Addr())
	c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOn})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := c.Do(t.Context(), "l", func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
		}
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 60 {
		<-tick.C
		srv.Cut(lockredistest.Connections{})
	}
	cancel()
	<-done
	eventually(t, "the lock is free", func() bool { return !srv.Exists("l") })
	rlocksuite.MustHold(t, srv.Client(), nil)
}

func TestATemporaryErrorReplyIsWaitedFor(t *testing.T) {
	virtually(t, func(t *testing.T) {
		for _, reply := range []string{"CLUSTERDOWN The cluster is down", "LOADING Redis is loading",
			"READONLY You can't write against a read only replica.", "TRYAGAIN Multiple keys",
			"MASTERDOWN Link with MASTER is down", "BUSY Redis is busy", "NOREPLICAS Not enough"} {
			srv := lockredistest.RunT(t)
			l := newClient(t, srv.Client(), rlock.Options{}).Lock("l")
			fail := func(times int) *lockredistest.Fault {
				return srv.FailRequest(lockredistest.Match{Key: "l", Times: times}, reply)
			}
			failed := fail(3)
			h := acquire(t, l)
			if failed.Hits() != 3 {
				t.Errorf("%s: %d requests failed", reply, failed.Hits())
			}
			failed = fail(3)
			release(t, h)
			if failed.Hits() != 3 {
				t.Errorf("%s: %d requests failed", reply, failed.Hits())
			}
			failed = fail(lockredistest.Always)
			_, err := l.Acquire(t.Context(), rlock.Wait(30*time.Millisecond))
			mustBe(t, rlock.ErrTimeout, err)
			failed.Clear()
		}
	})
}
