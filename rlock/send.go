package rlock

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/scripts"
)

// request is a script call with the rules for sending it. Every call may be sent
// any number of times, because a latch or an expectation in its script makes it
// count once. So one rule fits all: a request is sent until the server answers.
//
// A reply may be lost, and a copy may arrive after the lock was released. The script gets the
// hold count that the caller knows, so it recognizes a repeated run. The claim's latch
// refuses a late copy. rlock 0.1 had four ways of sending with different rules: after a lost
// packet, a late copy could lock without an owner.
type request struct {
	call

	// replicated makes the request wait for replicas (Options.Sync).
	replicated bool
	// limit is how long the request is sent again without an answer. The caller
	// waits for it for at most Options.RetryFor.
	limit time.Duration
	// persistent requests take something back: a release, an undo. They continue
	// in the background when their caller has left. Other requests end then.
	persistent bool
	// undo requests are persistent, and no caller needs their reply: those for one server go
	// together.
	undo bool
	// settled is called once with the last outcome of a persistent request, on any
	// goroutine. It may be nil.
	settled func(outcome)

	written *atomic.Bool // whether go-redis has written the last copy, see requestCmd; nil: unknown

	callerWait // set by send
}

// callerWait is how long the caller of a request waits for its outcome: for at most patience, and
// until closing is closed.
type callerWait struct {
	patience time.Duration
	syncTime time.Duration // that it waits longer once a copy was written: for replicas
	closing  <-chan struct{}
}

// outcome is the result of a request.
type outcome struct {
	reply any
	err   error
	// strays is the number of copies without an answer. Each of them may still
	// reach the server.
	strays int
}

// send sends r until the server answers, and returns the outcome. It returns
// ctx's error as soon as ctx ends, and ErrClosed when the client closes, also
// when the connection hangs. The caller is inside enter and leave.
//
// When the server is near, the caller's own goroutine sends the first copy with a
// short timeout: that saves two switches of goroutines, which take longer than the
// request itself. A worker sends all other copies, so that a connection that hangs
// does not hold the caller.
func (c *Client) send(ctx context.Context, r request) outcome {
	if err := c.topo.checkName(r.key()); err != nil {
		o := outcome{err: err}
		r.settle(o)
		return o
	}
	began := time.Now()
	r.closing = c.ctx.Done()
	if r.persistent {
		r.closing = c.given.Done()
	}
	r.patience = c.opts.RetryFor
	if !r.persistent {
		r.patience = min(r.patience, r.limit)
	}
	if r.replicated && c.topo.synced {
		r.syncTime = c.opts.SyncTimeout
	}
	var first outcome
	if ctx.Err() == nil {
		var done bool
		if first, done = c.sendNear(ctx, &r); done {
			return first
		}
	}
	if err := ctx.Err(); err != nil && !r.persistent {
		return outcome{err: err, strays: first.strays}
	}
	left := r.patience - time.Since(began)
	s := c.newSending(ctx, r, left)
	s.record(first)
	s.sends.Store(true)
	c.workers.run(s)
	timer := time.NewTimer(left)
	defer timer.Stop()
	var err error
	for waited := r.patience; err == nil; {
		select {
		case o := <-s.done:
			if gotNoConnection(o.err) {
				o.err = s.silence(waited)
			}
			return o
		case <-timer.C:
			if waited == r.patience && s.written.Load() && r.syncTime > 0 {
				waited += r.syncTime
				timer.Reset(r.syncTime)
				continue
			}
			err = s.silence(waited)
		case <-ctx.Done():
			err = ctx.Err()
		case <-r.closing:
			err = ErrClosed
		}
	}
	s.leave()
	select {
	case o := <-s.done:
		if !c.final(o.err) {
			o.err = err
		}
		return o
	default:
		o := outcome{err: err, strays: int(s.strays.Load())}
		if s.sends.Load() {
			o.strays++
		}
		return o
	}
}

// sendNear sends the first copy on the caller's goroutine, if the server is near.
// It reports whether that was all.
func (c *Client) sendNear(ctx context.Context, r *request) (o outcome, done bool) {
	srv, ok := c.topo.nearServer(ctx, r)
	if !ok {
		return outcome{}, false
	}
	o = c.attempt(ctx, srv, r, true)
	if !c.final(o.err) {
		return o, false
	}
	r.settle(o)
	return o, true
}

func (r *request) settle(o outcome) {
	if r.settled != nil {
		r.settled(o)
	}
}

// attempt sends one copy to srv, and further ones while the connections were broken
// before. It follows the redirections of a cluster. Afterwards r.call is the next copy.
func (c *Client) attempt(ctx context.Context, srv *server, r *request, near bool) (o outcome) {
	old := staleCopies{server: srv}
	o.reply, o.err = srv.run(ctx, r, near, false)
	for old.again(o.err) {
		o.strays++
		r.call = r.call.again()
		c.noAnswer(context.WithoutCancel(ctx), o.err)
		o.reply, o.err = srv.run(ctx, r, near, false)
	}
	if o.err != nil && ctx.Err() != nil && r.written != nil && !r.written.Load() {
		if isOver(o.err) {
			o.err = errBusy
		}
		o.err = unsent{o.err}
		return o
	}
	if near { // a redirection may take longer than the caller's goroutine can wait
		if _, _, moved := redirected(o.err); moved || isUnsent(o.err) {
			return o
		}
	}
	o.reply, o.err = c.topo.follow(ctx, r, o.reply, o.err)
	if mayArrive(o.err) {
		o.strays++
		r.call = r.call.again()
	}
	if isTryAgain(o.err) {
		r.call = r.call.alone()
	}
	if !answered(o.err) {
		c.noAnswer(context.WithoutCancel(ctx), o.err)
	}
	return o
}

// noAnswer looks for what a request without an answer may mean: another master
// has the key's slot, or a server has restarted without the holds.
func (c *Client) noAnswer(ctx context.Context, err error) {
	if gotNoConnection(err) {
		return
	}
	c.topo.reload(ctx)
	if mayArrive(err) {
		c.watchdog.verify()
	}
}

// ask sends a request that changes nothing, or that the caller may repeat, and
// returns its reply.
func (c *Client) ask(ctx context.Context, k call) (any, error) {
	return c.askFor(ctx, k, c.opts.RetryFor)
}

// askFor is ask for at most limit.
func (c *Client) askFor(ctx context.Context, k call, limit time.Duration) (any, error) {
	requireContext(ctx)
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.leave()
	o := c.send(ctx, request{call: k, limit: limit})
	return o.reply, o.err
}

// change sends a request with a latch, which is swept when it is answered, and returns
// the integer that it replies. When ctx ends, or has ended already, the request
// continues in the background.
func (c *Client) change(ctx context.Context, k call, latch string) (int, error) {
	o := c.sendChange(ctx, k, latch, func(outcome) {})
	n, err := readInt(o.reply, o.err)
	return int(n), err
}

// sendChange is change with the outcome of the request. settled is called as for a request.
func (c *Client) sendChange(
	ctx context.Context, k call, latch string, settled func(outcome),
) outcome {
	requireContext(ctx)
	if err := c.enter(); err != nil {
		return outcome{err: err}
	}
	defer c.leave()
	return c.send(ctx, request{
		call: k, limit: endlessLimit, persistent: true,
		settled: func(o outcome) {
			defer settled(o)
			c.sweep(latch, o)
		},
	})
}

// seal makes late copies of a granted claim's acquire request harmless. It continues in the
// background after undoWait, or when ctx ends.
func (c *Client) seal(ctx context.Context, latch string) {
	ctx, cancel := context.WithTimeout(ctx, undoWait)
	defer cancel()
	_ = c.send(ctx, request{
		call:  newCall(scripts.Seal, []string{latch}, latchLife.Milliseconds()),
		limit: c.opts.RetryFor, persistent: true, undo: true,
	})
}

// sweep deletes the latch of a request that was answered. If a copy of it may
// still arrive, the latch stays until it expires.
func (c *Client) sweep(latch string, o outcome) {
	if answered(o.err) && o.strays == 0 {
		c.sweeper.add(latch)
	}
}

// latchLife is the time to live of a latch. A copy of a request that is under way
// for longer than that is not recognized. TCP gives up earlier on a connection
// that its process has closed.
const latchLife = scripts.LatchLife

// countLife is the time to live of the latch of a request that changes a counter. Such
// a request is sent for endlessLimit, and a copy without its latch would count again.
const countLife = endlessLimit + latchLife
