package rlock

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"
)

// Hold is a lock, or a set of permits, from its acquisition until its release.
// Several goroutines may use it.
type Hold struct {
	c       *Client  // nil for several parts
	holding *holding // nil for several parts
	parts   *parts   // of a MultiLock or a QuorumLock, else nil

	base   context.Context // of the acquisition
	parent context.Context // of the hold's context: base, see also outliveWriter
	outer  *Hold           // the hold that base descends from; nil: none
	joined bool            // it re-entered another hold

	mu       sync.Mutex              // guards the fields below
	ctx      holdContext             // made by the first call of Context
	cancel   context.CancelCauseFunc // ends ctx; nil: there is none yet
	over     error                   // why ctx has ended, or will begin as ended; nil: it has not
	lost     chan struct{}           // closed when the hold is lost; nil: Lost was not called
	err      error                   // the reason of the loss
	released bool
	whole    *Hold // the hold of the MultiLock or QuorumLock; nil: none
}

// errReleased is the cause of the end of a released hold's context.
var errReleased = errors.New("rlock: released")

// holdKey is the key of the context value with the innermost hold of a client.
type holdKey struct{ c *Client }

// holdContext is a context with a hold. One of several parts has no client. The parts of a
// MultiLock are in the contexts that it descends from.
type holdContext struct {
	context.Context
	h *Hold
}

func (x *holdContext) Value(key any) any {
	if k, ok := key.(holdKey); ok {
		if k.c == x.h.c {
			return x.h
		}
		if x.h.parts != nil {
			if h := x.h.parts.of(k.c); h != nil {
				return h
			}
		}
	}
	return x.Context.Value(key)
}

// holdOf returns the innermost hold of the client that ctx descends from, or nil.
func (c *Client) holdOf(ctx context.Context) *Hold {
	h, _ := ctx.Value(holdKey{c}).(*Hold)
	return h
}

// begin makes h a hold of g. The hold's context descends from ctx.
func (h *Hold) begin(ctx context.Context, g *holding) {
	h.c, h.holding, h.base, h.parent, h.outer = g.c, g, ctx, ctx, g.c.holdOf(ctx)
	if k, ok := g.claim.(*lockClaim); ok && k.kind.mode() == reading {
		h.parent = h.outliveWriter(ctx, k)
	}
}

// outliveWriter returns ctx for a read hold inside the write hold of its owner. The
// read hold continues after the release of the write hold, so the returned context
// does too. It ends with the context in which the write lock was acquired.
func (h *Hold) outliveWriter(ctx context.Context, k *lockClaim) context.Context {
	var w *Hold
	for o, of := range h.outer.locks() {
		if of.name == k.name && of.owner == k.owner && of.kind.mode() == writing {
			w = o
			break
		}
	}
	if w == nil {
		return ctx
	}
	longer := context.WithoutCancel(ctx)
	if d, ok := ctx.Deadline(); ok {
		var stop context.CancelFunc
		longer, stop = context.WithDeadline(longer, d)
		context.AfterFunc(longer, stop)
	}
	longer, cancel := context.WithCancelCause(longer)
	context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); !errors.Is(cause, errReleased) {
			cancel(cause)
			return
		}
		context.AfterFunc(w.base, func() { cancel(context.Cause(w.base)) })
	})
	return longer
}

// locks returns h and the holds that its context descends from, innermost first, as far
// as they are holds of a lock and not lost. h may be nil.
func (h *Hold) locks() iter.Seq2[*Hold, *lockClaim] {
	return func(yield func(*Hold, *lockClaim) bool) {
		for ; h != nil; h = h.outer {
			k, ok := h.holding.claim.(*lockClaim)
			if ok && h.holding.live() && !yield(h, k) {
				return
			}
		}
	}
}

// Context returns the context for the work under the lock. It ends when the lock can
// no longer be trusted; its cause is then ErrLockLost. It also ends when the hold is
// released, or when the context of the acquisition ends. An acquisition of the same
// lock with this context re-enters it.
//
// The release of a hold also ends the contexts of holds that were acquired with its
// context, although the holds stay. The exception is a read hold inside a write
// hold of the same lock. When the write hold is released, the read hold's context
// stays open until the context that acquired the write lock ends.
func (h *Hold) Context() context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cancel != nil {
		return &h.ctx
	}
	parent := h.parent
	if h.over != nil {
		parent = context.WithoutCancel(parent) // the cause is over, also if parent has ended
	}
	inner, cancel := context.WithCancelCause(parent)
	h.ctx, h.cancel = holdContext{inner, h}, cancel
	if h.over != nil {
		cancel(h.over)
	}
	return &h.ctx
}

// endContext ends the hold's context. Only the first call has an effect.
func (h *Hold) endContext(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endContextLocked(cause)
}

// endContextLocked is endContext for a caller that has locked h.mu.
func (h *Hold) endContextLocked(cause error) {
	if h.over != nil {
		return
	}
	if h.over = cause; h.cancel != nil {
		h.cancel(cause)
	}
}

// Lost returns a channel that is closed when the lock can no longer be trusted. The
// lease is about to end; or a renewal or a verification found that the owner does not
// hold the lock; or ForceUnlock was called; or the client was closed. Release does not
// close it.
func (h *Hold) Lost() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost == nil {
		h.lost = make(chan struct{})
		if h.err != nil {
			close(h.lost)
		}
	}
	return h.lost
}

// Err returns ErrLockLost with the reason if the lock can no longer be trusted. It
// reads the clocks, so it also detects a lease that ended while the machine was
// suspended.
func (h *Hold) Err() error {
	if h.parts != nil {
		h.parts.check()
	} else {
		h.holding.check()
	}
	return h.lossError()
}

func (h *Hold) lossError() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// Until returns until when the lock can be trusted without a further renewal. The
// server keeps it a little longer. Until returns the zero time for permits without a
// lease, and for a MultiLock or QuorumLock that is lost.
func (h *Hold) Until() time.Time {
	if h.parts != nil {
		return h.parts.until()
	}
	l := h.c.watchdog.read(&h.holding.lease)
	if l.endless {
		return time.Time{}
	}
	return l.until
}

// Owner returns the owner's name in Redis, "id:threadId". It is empty for permits
// and for several locks.
func (h *Hold) Owner() string {
	if h.holding == nil {
		return ""
	}
	return h.holding.claim.event().Owner
}

// Extend makes the lease end d from now, which may shorten it. Waiters are not told of an
// earlier end: if the holder dies, they may sleep until the end that they know. d is
// truncated to milliseconds, and is at most 100 years; 1 ms counts as 2, less is an error. The
// watchdog does not renew the lease any more. Extend returns ErrLockLost if the lock was
// lost, and ErrNotHeld if it was released. After another error the lease ends either d from now or as
// before. The hold trusts the earlier end. Of several calls at the same time, the last
// one counts, in the order in which they began.
func (h *Hold) Extend(ctx context.Context, d time.Duration) error {
	requireContext(ctx)
	length := wholeLease(d)
	if length < time.Millisecond {
		return fmt.Errorf("rlock: extend: lease %v is shorter than 1ms", d)
	}
	h.mu.Lock()
	released := h.released
	h.mu.Unlock()
	switch {
	case released:
		return ErrNotHeld
	case h.parts != nil:
		return h.parts.extend(ctx, h, length)
	}
	return h.holding.setLease(ctx, length, true)
}

// Release ends the hold. The lock is free when every hold that re-entered it is
// released too. Release returns nil when the lock was held until now. It returns
// ErrLockLost when the lock was lost before, and ErrNotHeld in a second call.
//
// When ctx ends, or has ended already, Release returns ctx's error. The release then
// continues in the background, as it does when the server gives no answer. It ends
// when the server answers, or after the lease and Options.RetryFor. When Client.Close gives
// up on it, Release returns ErrClosed, and the lock is free when its lease ends.
func (h *Hold) Release(ctx context.Context) error {
	requireContext(ctx)
	h.mu.Lock()
	again, lost := h.released, h.err
	h.released = true
	h.mu.Unlock()
	switch {
	case again && errors.Is(lost, ErrClosed): // Close may have released it
		return lost
	case again:
		return ErrNotHeld
	}
	defer h.endContext(errReleased)
	if h.parts != nil {
		return h.parts.release(ctx, h)
	}
	return h.holding.release(ctx, h)
}

// lose marks the hold as lost. Only the first call has an effect. The context ends
// before Lost and Err tell: a caller that sees either finds the context ended.
func (h *Hold) lose(err error) {
	h.mu.Lock()
	if h.err != nil || h.released {
		h.mu.Unlock()
		return
	}
	h.endContextLocked(err)
	h.err = err
	if h.lost != nil {
		close(h.lost)
	}
	whole := h.whole
	h.mu.Unlock()
	if whole != nil {
		whole.parts.partLost(whole, h, err)
	}
}

// do runs f under the hold and releases it. It returns the errors of f and of the
// release, joined.
func (h *Hold) do(ctx context.Context, f func(context.Context) error) (err error) {
	for _, leave := range h.enterDo() {
		defer leave()
	}
	defer func() { err = errors.Join(err, releaseAfter(ctx, h.Release)) }()
	return f(h.Context())
}

// enterDo makes Close wait for the end of Do, with Options.UnlockOnClose.
func (h *Hold) enterDo() (leave []func()) {
	if h.parts != nil {
		return h.parts.enterDo()
	}
	if h.c.opts.UnlockOnClose && h.c.enter() == nil {
		h.holding.inDo.Store(true)
		leave = append(leave, h.c.leave)
	}
	return leave
}

// releaseGrace is how long Do waits for the release when its context has ended.
// The release then continues in the background.
const releaseGrace = 100 * time.Millisecond

// endedContext makes releaseAfter wait for releaseGrace.
var endedContext = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func releaseAfter(ctx context.Context, release func(context.Context) error) error {
	if ctx.Err() == nil {
		return release(ctx)
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseGrace)
	defer cancel()
	err := release(limited)
	if limited.Err() != nil && errors.Is(err, limited.Err()) {
		return ctx.Err()
	}
	return err
}
