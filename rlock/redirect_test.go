package rlock_test

import (
	"testing"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestAnAcquireFollowsAnASKRedirect(t *testing.T) {
	source, target := lockredistest.RunT(t), holding(t)
	// "l" is in slot 11562, which is in the upper half.
	rdb := clusterOf(t, nil, target.Addr(), source.Addr())
	moved := source.FailRequest(lockredistest.Match{Key: "l", Times: lockredistest.Always},
		"ASK 11562 :"+target.Port()) // go-redis leaves out the host
	c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOn})
	acquire(t, c.Lock("l"))
	if !target.Exists("l") {
		t.Error("the importing node does not have the lock")
	}
	if source.Exists("l") || moved.Hits() == 0 {
		t.Error("the migrating node has the lock")
	}
	moved.Clear()
}
