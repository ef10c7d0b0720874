package rlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/scripts"
)

// request is a script call with the rules for sending it. Every call may be sent
// any number of times, because a latch or an expectation in its script makes it
// count once. So one rule fits all: a request is sent until the server answers.
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
	// settled is called once with the last outcome of a persistent request, on any
	// goroutine. It may be nil.
	settled func(outcome)

	written *atomic.Bool // whether go-redis has written the last copy, see requestCmd; nil: unknown
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
	closing := c.ctx.Done()
	if r.persistent {
		closing = c.given.Done()
	}
	patience := c.opts.RetryFor
	if !r.persistent {
		patience = min(patience, r.limit)
	}
	if r.replicated && c.topo.synced {
		patience += c.opts.SyncTimeout
	}
	s := c.newSending(ctx, r, patience)
	s.record(first)
	s.sends.Store(true)
	c.workers.run(s)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var err error
	select {
	case o := <-s.done:
		return o
	case <-timer.C:
		err = fmt.Errorf("rlock: no answer for %v: %w", patience, s.lastError())
	case <-ctx.Done():
		err = ctx.Err()
	case <-closing:
		err = ErrClosed
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

// sending is a request while it is sent.
type sending struct {
	request
	c      *Client
	ctx    context.Context // for persistent requests the caller's without its end, else see newSending
	cancel func()          // ends ctx
	until  time.Time       // when the caller leaves at the latest; zero if the request is persistent
	done   chan outcome    // capacity 1
	left   chan struct{}   // closed when the caller has left
	strays atomic.Int32
	sends  atomic.Bool // run sends a copy, or will send one although the caller has left

	mu   sync.Mutex // guards last
	last error      // of the last copy without an answer
}

// newSending returns the sending of r, whose caller waits for it for at most patience. When the
// caller leaves, a copy that waits for a connection of the pool is not sent any more.
// A copy that was written keeps its connection until copyGrace after the caller's deadline.
func (c *Client) newSending(ctx context.Context, r request, patience time.Duration) *sending {
	s := &sending{
		request: r, c: c, ctx: context.WithoutCancel(ctx), cancel: func() {},
		done: make(chan outcome, 1), left: make(chan struct{}),
	}
	if r.persistent {
		return s
	}
	s.written = &atomic.Bool{}
	s.until = time.Now().Add(patience)
	d, ok := ctx.Deadline()
	if !ok {
		s.ctx, s.cancel = context.WithCancel(s.ctx)
		return s
	}
	if d.Before(s.until) {
		s.until = d
	}
	s.ctx, s.cancel = context.WithDeadline(s.ctx, d.Add(copyGrace))
	return s
}

// withdrawal is how long a caller that leaves waits to know that its copy was not sent. go-redis
// tells that at once, unless it makes a connection.
const withdrawal = 5 * time.Millisecond

// leave is called when the caller leaves.
func (s *sending) leave() {
	close(s.left)
	if s.persistent {
		return
	}
	s.cancel()
	if s.written.Load() || !s.sends.Load() {
		return
	}
	t := time.NewTimer(withdrawal)
	defer t.Stop()
	select {
	case o := <-s.done:
		s.done <- o
	case <-t.C:
	}
}

// copyGrace is how long a copy may wait for its reply after the deadline of its caller. After
// that it gives its connection back to the pool: others need it, among them the request that
// undoes this one. Without the grace, a caller that waits for less than a round trip would
// cost a connection.
const copyGrace = 100 * time.Millisecond

// record counts a copy without an answer.
func (s *sending) record(o outcome) {
	s.strays.Add(int32(o.strays))
	if !answered(o.err) {
		s.setLast(o.err)
	}
}

func (s *sending) setLast(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = err
}

var errNoReply = errors.New("the connection hangs")

func (s *sending) lastError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return errNoReply
	}
	return s.last
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

// run sends copies until the server answers, the limit is over, or the caller of
// a request that is not persistent has left. A worker runs it.
func (s *sending) run() {
	defer s.cancel()
	var o outcome
	end := time.Now().Add(s.limit)
	for n := 1; ; n++ {
		if srv, err := s.c.topo.serverFor(s.ctx, s.key()); err != nil {
			o = outcome{err: err}
		} else {
			o = s.attempt(srv, n == 1)
			s.record(o)
		}
		if s.c.final(o.err) || !time.Now().Before(end) || s.abandoned() {
			break
		}
		s.sends.Store(s.persistent)
		s.pause(backoff(n))
		s.sends.Store(true) // before abandoned: the caller sees this, or run sees that it left
		if s.abandoned() {
			break
		}
	}
	o.strays = int(s.strays.Load())
	s.settle(o)
	s.done <- o
}

// leastPatience is how long the first copy waits for a connection of the pool, even if it is
// unlikely to be answered in time. What is known of the server's latency may be out of date.
const leastPatience = time.Millisecond

// attempt sends a copy, unless its reply would come too late for the caller. While the pool has
// no free connection, such copies would only delay those of other callers. So a client
// recovers when its callers have become more than its connections can serve.
func (s *sending) attempt(srv *server, first bool) outcome {
	if s.persistent {
		return s.c.attempt(s.ctx, srv, &s.request, false)
	}
	patience := time.Until(s.until) - srv.expected()
	if first {
		patience = max(patience, leastPatience)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	var o outcome
	if patience > 0 {
		t := time.AfterFunc(patience, func() {
			if !s.written.Load() {
				cancel()
			}
		})
		defer t.Stop()
		o = s.c.attempt(ctx, srv, &s.request, false)
		if _, never := errors.AsType[unsent](o.err); !never {
			return o
		}
	}
	o.err = unsent{errBusy}
	s.setLast(o.err)
	select {
	case <-s.left:
	case <-s.c.given.Done():
	}
	return o
}

// errBusy is the error of a request that got no connection of the pool in time.
var errBusy = errors.New("all connections of the pool are busy")

// abandoned reports whether no more copies are to be sent.
func (s *sending) abandoned() bool {
	if s.c.given.Err() != nil {
		return true
	}
	select {
	case <-s.left:
		return !s.persistent
	default:
		return false
	}
}

func (s *sending) pause(d time.Duration) {
	left := s.left
	if s.persistent {
		left = nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-left:
	case <-s.c.given.Done():
	}
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
		o.err = unsent{o.err}
		return o
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

// seal makes late copies of a granted claim's acquire request harmless.
func (c *Client) seal(ctx context.Context, latch string) {
	_ = c.send(ctx, request{
		call:  newCall(scripts.Seal, []string{latch}, latchLife.Milliseconds()),
		limit: c.opts.RetryFor, persistent: true,
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
