package sender

import (
	"context"
	"math/bits"
	"time"

	"github.com/redis/go-redis/v9"
)

// A server is near while its last reply took less than nearLatency, without the time for which
// the request waited for a connection of the pool. The caller's own goroutine then sends the
// first copy of a request with a short timeout, see Sender.Send.
const (
	nearLatency = 2 * time.Millisecond
	nearTimeout = 25 * time.Millisecond // for writing, and for reading
)

// nearPatience returns how long n requests in one pipeline wait for the replies of a near
// server, and before that for a connection of the pool.
func nearPatience(n int) time.Duration { return nearTimeout + time.Duration(n-1)*nearLatency }

// sendHook makes a go-redis client send rlock's requests once, the near ones with
// nearPatience, and requests that wait for replicas with a longer timeout. go-redis alone would
// repeat a command after a growing pause when a connection of its pool is broken. It is a
// hook, because a copy of the client with other settings has none of the client's hooks,
// which count or trace commands. rlock adds it once to each client, below the hooks of the client.
type sendHook struct {
	once *redis.Client // shares the client's connections; repeats nothing

	// near[i] is likewise. It is for 1<<i near requests, with their nearPatience.
	near [nearSizes]*redis.Client

	blocking *clientCell // likewise, with the timeout of the last WAIT
}

// requestIn returns the first request of rlock among cmds, or nil. There is none
// among HELLO, AUTH and SELECT, which go-redis sends on a new connection. The hook must
// leave them alone: on another connection they would leave this one without its user
// and database.
func requestIn(cmds ...redis.Cmder) *requestCmd {
	for _, cmd := range cmds {
		if r, ok := cmd.(*requestCmd); ok {
			if !r.hooked { // a hook may send it a second time
				r.begin() // other hooks may have called Args
			}
			r.hooked = true
			return r
		}
	}
	return nil
}

func newSendHook(rdb *redis.Client) sendHook {
	timeout := rdb.Options().ReadTimeout
	h := sendHook{once: withTimeout(rdb, timeout), blocking: &clientCell{}}
	// A caller leaves at its deadline. Its copies must not keep connections of the pool.
	h.once.Options().ContextTimeoutEnabled = true
	for i := range h.near {
		limit := nearPatience(1 << i)
		if timeout > 0 {
			limit = min(limit, timeout)
		}
		h.near[i] = withTimeout(rdb, limit)
	}
	return h
}

// withTimeout returns a client that shares rdb's connections and repeats nothing.
func withTimeout(rdb *redis.Client, d time.Duration) *redis.Client {
	once := rdb.WithTimeout(d)
	once.Options().MaxRetries = 0 // each copy of a client has options of its own
	return once
}

// nearSizes is how many powers of two the sizes of the lane's pipelines are rounded up to.
const nearSizes = 8

// nearClient returns the client for n requests that go together.
func (h sendHook) nearClient(n int) *redis.Client {
	return h.near[min(bits.Len(uint(max(n-1, 0))), nearSizes-1)]
}

// clientFor returns the client that sends r.
func (h sendHook) clientFor(r *requestCmd) *redis.Client {
	timeout := h.once.Options().ReadTimeout
	switch {
	case r.near:
		return h.nearClient(int(r.batch))
	case r.blocks == 0 || timeout <= 0:
		return h.once
	}
	timeout += r.blocks
	if last := h.blocking.load(); last != nil && last.Options().ReadTimeout == timeout {
		return last
	}
	b := withTimeout(h.once, timeout)
	h.blocking.store(b)
	return b
}

func (h sendHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r := requestIn(cmd)
		if r == nil {
			return next(ctx, cmd)
		}
		if !r.near {
			return h.clientFor(r).Process(ctx, cmd)
		}
		wait := r.waitFrom(ctx)
		err := h.clientFor(r).Process(wait, cmd)
		wait.end()
		withdraw(err, cmd)
		return cmd.Err()
	}
}

func (h sendHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		r := requestIn(cmds...)
		if r == nil {
			return next(ctx, cmds)
		}
		pipe := h.clientFor(r).Pipeline()
		for _, cmd := range cmds {
			_ = pipe.Process(ctx, cmd)
		}
		if !r.near {
			_, err := pipe.Exec(ctx)
			return err
		}
		wait := r.waitFrom(ctx)
		_, err := pipe.Exec(wait)
		wait.end()
		withdraw(err, cmds...)
		return err
	}
}

// withdraw marks the requests as unsent, if err is the end of their wait for a connection.
func withdraw(err error, cmds ...redis.Cmder) {
	if !IsOver(err) {
		return
	}
	for _, cmd := range cmds {
		if r, ok := cmd.(*requestCmd); ok && !r.wrote {
			r.SetErr(unsent{errBusy})
		}
	}
}

func (sendHook) DialHook(next redis.DialHook) redis.DialHook { return next }
