package sender

import (
	"context"
	"sync/atomic"
	"time"
)

// Request is a script call with the rules for sending it. Every call may be sent
// any number of times, because a latch or an expectation in its script makes it
// count once. So one rule fits all: a request is sent until the server answers.
//
// A reply may be lost, and a copy may arrive after the lock was released. The script gets the
// hold count that the caller knows, so it recognizes a repeated run. The claim's latch
// refuses a late copy. rlock 0.1 had four ways of sending with different rules: after a lost
// packet, a late copy could lock without an owner.
type Request struct {
	Call

	// Replicated makes the request wait for replicas, see Config.SyncOn.
	Replicated bool
	// Limit is how long the request is sent again without an answer. The caller
	// waits for it for at most Config.RetryFor.
	Limit time.Duration
	// Persistent requests take something back: a release, an undo. They continue
	// in the background when their caller has left. Other requests end then.
	Persistent bool
	// Undo requests are persistent, and no caller needs their reply: the ones for one server go
	// together.
	Undo bool
	// Settled is called once with the last outcome of a persistent request, on any
	// goroutine. It may be nil.
	Settled func(Outcome)

	written *atomic.Bool // whether go-redis has written the last copy, see requestCmd; nil: unknown

	callerWait // set by Send
}

// callerWait is how long the caller of a request waits for its outcome: for at most patience, and
// until closing is closed.
type callerWait struct {
	patience time.Duration
	syncTime time.Duration // that it waits longer once a copy was written: for replicas
	closing  <-chan struct{}
}

// Outcome is the result of a request.
type Outcome struct {
	Reply any
	Err   error
	// Strays is the number of copies without an answer. Each of them may still
	// reach the server.
	Strays int
}

// Send sends r until the server answers, and returns the outcome. It returns
// ctx's error as soon as ctx ends, and Config.Closed when the client closes, also
// when the connection hangs. Config.Running counts the caller.
//
// When the server is near, the caller's own goroutine sends the first copy with a
// short timeout: that saves two switches of goroutines, which take longer than the
// request itself. A worker sends all other copies, so that a connection that hangs
// does not hold the caller.
func (c *Sender) Send(ctx context.Context, r Request) Outcome {
	if err := c.topo.checkName(r.Key()); err != nil {
		o := Outcome{Err: err}
		r.settle(o)
		return o
	}
	began := time.Now()
	r.closing = c.Closing.Done()
	if r.Persistent {
		r.closing = c.Given.Done()
	}
	r.patience = c.RetryFor
	if !r.Persistent {
		r.patience = min(r.patience, r.Limit)
	}
	if r.Replicated && c.topo.synced {
		r.syncTime = c.SyncTimeout
	}
	var first Outcome
	if ctx.Err() == nil {
		var done bool
		if first, done = c.sendNear(ctx, &r); done {
			return first
		}
	}
	if err := ctx.Err(); err != nil && !r.Persistent {
		return Outcome{Err: err, Strays: first.Strays}
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
			if gotNoConnection(o.Err) {
				o.Err = s.silence(waited)
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
			err = c.Closed
		}
	}
	s.leave()
	select {
	case o := <-s.done:
		if !c.final(o.Err) {
			o.Err = err
		}
		return o
	default:
		o := Outcome{Err: err, Strays: int(s.strays.Load())}
		if s.sends.Load() {
			o.Strays++
		}
		return o
	}
}

// sendNear sends the first copy on the caller's goroutine, if the server is near.
// It reports whether that was all.
func (c *Sender) sendNear(ctx context.Context, r *Request) (o Outcome, done bool) {
	srv, ok := c.topo.nearServer(ctx, r)
	if !ok {
		return Outcome{}, false
	}
	o = c.attempt(ctx, srv, r, true)
	if !c.final(o.Err) {
		return o, false
	}
	r.settle(o)
	return o, true
}

func (r *Request) settle(o Outcome) {
	if r.Settled != nil {
		r.Settled(o)
	}
}

// attempt sends one copy to srv, and further ones while the connections were broken
// before. It follows the redirections of a cluster. Afterwards r.Call is the next copy.
func (c *Sender) attempt(ctx context.Context, srv *server, r *Request, near bool) (o Outcome) {
	old := staleCopies{server: srv}
	o.Reply, o.Err = srv.run(ctx, r, near, false)
	for old.again(o.Err) {
		o.Strays++
		r.Call = r.Call.again()
		c.noAnswer(context.WithoutCancel(ctx), o.Err)
		o.Reply, o.Err = srv.run(ctx, r, near, false)
	}
	if o.Err != nil && ctx.Err() != nil && r.written != nil && !r.written.Load() {
		if IsOver(o.Err) {
			o.Err = errBusy
		}
		o.Err = unsent{o.Err}
		return o
	}
	if near { // a redirection may take longer than the caller's goroutine can wait
		if _, _, moved := redirected(o.Err); moved || isUnsent(o.Err) {
			return o
		}
	}
	o.Reply, o.Err = c.topo.follow(ctx, r, o.Reply, o.Err)
	if mayArrive(o.Err) {
		o.Strays++
		r.Call = r.Call.again()
	}
	if isTryAgain(o.Err) {
		r.Call = r.Call.alone()
	}
	if !Answered(o.Err) {
		c.noAnswer(context.WithoutCancel(ctx), o.Err)
	}
	return o
}

// noAnswer looks for what a request without an answer may mean: another master
// has the key's slot, or a server has restarted without the holds.
func (c *Sender) noAnswer(ctx context.Context, err error) {
	if gotNoConnection(err) {
		return
	}
	c.topo.reload(ctx)
	if mayArrive(err) {
		c.Doubt()
	}
}
