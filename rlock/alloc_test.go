package rlock_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// answering is a hook that answers the scripts of pairs by itself. So nothing is sent, and
// what go-redis allocates for connections is not counted.
type answering struct{ calls int }

func (*answering) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*answering) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(context.Context, []redis.Cmder) error { return nil } // deletions of latches
}

var granted, freed any = "", int64(1)

func (a *answering) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		reply := granted
		if a.calls++; a.calls%2 == 0 {
			reply = freed
		}
		cmd.(interface{ SetVal(any) }).SetVal(reply)
		return nil
	}
}

func TestAPairAllocatesLittle(t *testing.T) {
	rdb := connect(t)
	rdb.AddHook(&answering{})
	l := newClient(t, rdb, rlock.Options{}).Lock("l")
	got := testing.AllocsPerRun(1000, func() {
		h, err := l.Acquire(t.Context())
		must(t, err)
		must(t, h.Release(t.Context()))
	})
	if got > 23 { // 20; the background deletes latches
		t.Errorf("a pair makes %g allocations", got)
	}
}
