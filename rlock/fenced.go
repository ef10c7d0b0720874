package rlock

import (
	"context"
	"fmt"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/rlock/internal/scripts"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// FencedLock is a Lock whose holds are numbered: Redisson's RFencedLock
// (RedissonFencedLock).
//
// A lease cannot stop a holder that was paused for longer than its lease and
// continues as if it held the lock. A token can: the holder passes it to the
// resource with every write, and the resource refuses tokens lower than the highest
// that it has seen.
//
// A crash costs the rest of the lease. The counter, redisson_lock_token:{name}, has
// no time to live. If it is deleted, tokens start from 1 again.
type FencedLock struct{ lock *Lock }

// FencedHold is the hold of a FencedLock.
type FencedHold struct{ *Hold }

// FencedLock returns the fenced lock of the given name.
func (c *Client) FencedLock(name string) *FencedLock {
	return &FencedLock{&Lock{c: c, name: name, kind: fenced{}}}
}

// Token returns the number of the hold. Each hold has a higher token than all holds
// before it. A hold that re-enters has the token of the hold that it re-entered.
func (h *FencedHold) Token() int64 { return h.holding.token }

// Acquire is Lock.Acquire. It is an error if ctx descends from a hold of the same name
// without a token, such as one of Client.Lock.
func (l *FencedLock) Acquire(ctx context.Context, options ...Option) (*FencedHold, error) {
	h, err := l.lock.Acquire(ctx, options...)
	if err != nil {
		return nil, err
	}
	f := &FencedHold{h}
	if f.Token() == 0 {
		_ = h.Release(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("rlock: acquire %q: the context's hold has no token", l.lock.name)
	}
	return f, nil
}

// Do is Client.Do for a function that gets the hold's token.
func (l *FencedLock) Do(
	ctx context.Context, f func(ctx context.Context, token int64) error, options ...Option,
) error {
	require("f", f != nil)
	h, err := l.Acquire(ctx, options...)
	if err != nil {
		return err
	}
	return h.do(ctx, func(ctx context.Context) error { return f(ctx, h.Token()) })
}

// AsLock returns the same lock without tokens, for Multi and Quorum, and for the
// methods that ask about the lock.
func (l *FencedLock) AsLock() *Lock { return l.lock }

// fenced is plain with a counter.
type fenced struct{ plain }

func (fenced) label() string { return "fenced" }

func (fenced) acquire(k *lockClaim, lease time.Duration, _ bool, c copyKind) sender.Call {
	return sender.NewCall(scripts.FencedAcquire, []string{k.name, k.latch, lockkeys.FencingToken(k.name)},
		lease.Milliseconds(), k.owner, c.arg())
}

func (fenced) granted(reply any) (grant, error) {
	n, err := sender.ReadInts(reply, 2)
	switch {
	case err != nil:
		return grant{}, err
	case n[1] > 0:
		return grant{ok: true, token: n[1]}, nil
	}
	return refused(n[0])
}
