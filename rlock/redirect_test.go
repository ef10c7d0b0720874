package rlock_test

import (
	"context"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// askError is the error reply of a node whose slot is migrating.
type askError string

func (e askError) Error() string { return string(e) }
func (askError) RedisError()     {}

// migrating is a hook that answers scripts with ASK.
type migrating struct {
	mu sync.Mutex
	to string // the importing node; empty: answer normally
}

func (*migrating) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*migrating) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (m *migrating) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		m.mu.Lock()
		to := m.to
		m.mu.Unlock()
		if to == "" || cmd.Name() != "evalsha" && cmd.Name() != "eval" {
			return next(ctx, cmd)
		}
		err := askError("ASK 1 " + to)
		cmd.SetErr(err)
		return err
	}
}

func TestAnAcquireFollowsAnASKRedirect(t *testing.T) {
	a, b := connect(t), connect(t)
	rdb := clusterOf(t, nil, a.Options().Addr, b.Options().Addr)
	ctx := t.Context()
	nodes := map[string]*redis.Client{} // by address
	var mu sync.Mutex
	must(t, rdb.ForEachMaster(ctx, func(_ context.Context, c *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		nodes[c.Options().Addr] = c
		return nil
	}))
	source, err := rdb.MasterForKey(ctx, "l")
	must(t, err)
	var m migrating
	source.AddHook(&m)
	delete(nodes, source.Options().Addr)
	var target *redis.Client
	for addr, c := range nodes {
		m.to, target = addr, c
	}
	c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOn})
	must(t, c.Lock("l").Lock(ctx))
	if n := target.Exists(ctx, "l").Val(); n != 1 {
		t.Error("the importing node does not have the lock")
	}
	if n := source.Exists(ctx, "l").Val(); n != 0 {
		t.Error("the migrating node has the lock")
	}
	m.mu.Lock()
	m.to = ""
	m.mu.Unlock()
}
