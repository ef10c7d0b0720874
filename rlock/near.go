package rlock

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// A server is near while its last reply took less than nearLatency. The caller's own
// goroutine then sends the first copy of a request with a short timeout, see
// Client.send.
const (
	nearLatency = 2 * time.Millisecond
	nearTimeout = 25 * time.Millisecond // for writing, and for reading
)

// sendHook makes a go-redis client send rlock's script calls once, and the near ones
// with nearTimeout. go-redis alone would repeat a command after a growing
// pause when a connection of its pool is broken. It is a hook, because a copy of the
// client with other settings has none of the client's hooks, which count or trace
// commands. rlock adds it once to each client, below those hooks.
type sendHook struct {
	once  *redis.Client // shares the client's connections; repeats nothing
	short *redis.Client // likewise, with nearTimeout
}

// requestIn returns the first script call of rlock among cmds, or nil. There is none
// among HELLO, AUTH and SELECT, which go-redis sends on a new connection. The hook must
// leave them alone: on another connection they would leave this one without its user
// and database.
func requestIn(cmds ...redis.Cmder) *requestCmd {
	for _, cmd := range cmds {
		if r, ok := cmd.(*requestCmd); ok {
			r.hooked = true
			return r
		}
	}
	return nil
}

func newSendHook(rdb *redis.Client) sendHook {
	timeout := rdb.Options().ReadTimeout
	limit := nearTimeout
	if timeout > 0 {
		limit = min(limit, timeout)
	}
	h := sendHook{once: rdb.WithTimeout(timeout), short: rdb.WithTimeout(limit)}
	h.once.Options().MaxRetries = 0 // each copy of a client has options of its own
	h.short.Options().MaxRetries = 0
	return h
}

func (h sendHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		switch r := requestIn(cmd); {
		case r == nil:
			return next(ctx, cmd)
		case r.near:
			return h.short.Process(ctx, cmd)
		}
		return h.once.Process(ctx, cmd)
	}
}

func (h sendHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if requestIn(cmds...) == nil {
			return next(ctx, cmds)
		}
		pipe := h.once.Pipeline()
		for _, cmd := range cmds {
			_ = pipe.Process(ctx, cmd)
		}
		_, err := pipe.Exec(ctx)
		return err
	}
}

func (sendHook) DialHook(next redis.DialHook) redis.DialHook { return next }
