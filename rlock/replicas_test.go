package rlock_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// replicas is a hook that makes the server report n replicas. They never confirm a
// WAIT.
type replicas struct{ n atomic.Int32 }

func (*replicas) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r *replicas) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if info, ok := cmd.(*redis.StringCmd); ok && cmd.Name() == "info" {
			n := strconv.Itoa(int(r.n.Load()))
			info.SetVal("# Replication\r\nrole:master\r\nconnected_slaves:" + n + "\r\n")
			return nil
		}
		return next(ctx, cmd)
	}
}

func (*replicas) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if last := cmds[len(cmds)-1]; last.Name() == "wait" {
			return next(ctx, cmds[:len(cmds)-1]) // its value stays 0
		}
		return next(ctx, cmds)
	}
}

func TestANewReplicaIsWaitedFor(t *testing.T) {
	rdb := connect(t)
	var r replicas
	rdb.AddHook(&r)
	c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOn})
	alone := c.Lock("alone")
	must(t, alone.Lock(t.Context()))
	must(t, alone.Unlock(t.Context()))
	r.n.Store(1)
	eventually(t, "the replica is waited for", func() bool {
		l := c.Lock("l")
		err := l.Lock(t.Context())
		if err == nil {
			must(t, l.Unlock(t.Context()))
		}
		return errors.Is(err, rlock.ErrNotSynced)
	})
}

func TestAReleaseWithoutAReplicasConfirmationSucceeds(t *testing.T) {
	rdb := connect(t)
	var r replicas
	r.n.Store(1)
	rdb.AddHook(&r)
	c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOn})
	s := c.Semaphore("s")
	must(t, s.Release(t.Context(), 2))
	if err := s.Acquire(t.Context(), 1); !errors.Is(err, rlock.ErrNotSynced) {
		t.Errorf("acquired with %v", err)
	}
	eventually(t, "the permit is released", func() bool {
		n, err := s.Available(t.Context())
		return n == 2 && err == nil
	})
}
