package sender

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/retry"
)

// sending is a request while it is sent.
type sending struct {
	Request
	c      *Sender
	ctx    context.Context // the caller's values; ends when no copy needs to wait for a connection
	cancel func()          // ends ctx, unless the request is persistent
	until  time.Time       // when the caller leaves at the latest; zero if the request is persistent
	unsent time.Time       // when it leaves if no copy was written; likewise
	done   chan Outcome    // capacity 1
	left   chan struct{}   // closed when the caller has left
	strays atomic.Int32
	sends  atomic.Bool            // run sends a copy, or will send one although the caller has left
	server atomic.Pointer[server] // of the last copy

	mu   sync.Mutex // guards last
	last error      // of the last copy without an answer
}

// newSending returns the sending of r, whose caller waits for it for at most patience, and then for
// r.syncTime if a copy was written. When the
// caller leaves, a copy that waits for a connection of the pool is not sent any more.
// A copy that was written keeps its connection until copyGrace after the caller's deadline.
func (c *Sender) newSending(ctx context.Context, r Request, patience time.Duration) *sending {
	s := &sending{
		Request: r, c: c, ctx: c.topo.detach(ctx), cancel: func() {},
		done: make(chan Outcome, 1), left: make(chan struct{}),
	}
	s.written = &atomic.Bool{}
	if r.Persistent {
		return s
	}
	s.unsent = time.Now().Add(patience)
	s.until = s.unsent.Add(r.syncTime)
	s.ctx, s.cancel = context.WithCancel(s.ctx)
	if d, ok := ctx.Deadline(); ok && d.Before(s.until) {
		s.until = d
	}
	return s
}

// withdrawal is how long a caller that leaves waits to know that its copy was not sent. go-redis
// tells that at once, unless it makes a connection.
const withdrawal = 5 * time.Millisecond

// leave is called when the caller leaves.
func (s *sending) leave() {
	close(s.left)
	if s.Persistent {
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
func (s *sending) record(o Outcome) {
	s.strays.Add(int32(o.Strays))
	if !Answered(o.Err) {
		s.setLast(o.Err)
	}
}

func (s *sending) setLast(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = err
}

// ErrNoReply is the last error of a request without any.
var ErrNoReply = errors.New("the connection hangs")

func (s *sending) lastError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return ErrNoReply
	}
	return s.last
}

// run sends copies until the server answers, the limit is over, or the caller of
// a request that is not persistent has left. A worker runs it.
func (s *sending) run() {
	defer s.cancel()
	var o Outcome
	end := time.Now().Add(s.Limit)
	failures := 0
	for n := 1; ; n++ {
		began := time.Now()
		if srv, err := s.c.topo.serverFor(s.ctx, s.Key()); err != nil {
			o = Outcome{Err: err}
		} else {
			s.server.Store(srv)
			o = s.attempt(srv, n == 1)
			s.record(o)
		}
		if s.c.final(o.Err) || !time.Now().Before(end) || s.abandoned() {
			break
		}
		s.sends.Store(s.Persistent)
		if pause := poolPause(began); gotNoConnection(o.Err) {
			s.pause(pause)
		} else {
			failures++
			s.pause(retry.Backoff(failures))
		}
		s.sends.Store(true) // before abandoned: the caller sees this, or run sees that it left
		if s.abandoned() {
			break
		}
	}
	o.Strays = int(s.strays.Load())
	s.settle(o)
	s.done <- o
}

// leastPatience is how long the first copy waits for a connection of the pool, even if it is
// unlikely to be answered in time. What is known of the server's latency may be out of date.
const leastPatience = time.Millisecond

// attempt sends a copy, unless its reply would come too late for the caller.
func (s *sending) attempt(srv *server, first bool) Outcome {
	if s.Persistent {
		return s.c.attempt(s.ctx, srv, &s.Request, false)
	}
	o := s.attemptInTime(srv, first)
	if isUnsent(o.Err) {
		s.setLast(o.Err)
		select {
		case <-s.left:
		case <-s.c.Given.Done():
		}
	}
	return o
}

// attemptInTime is attempt for a request that is not persistent. A copy whose reply comes too late
// delays the copies of other callers, and must be undone.
//
//   - While the pool has no free connection, a copy waits as long as its reply may come in time.
//     So a client recovers when its callers have become more than its connections can serve.
//   - When the server has not answered fast enough of late, a single copy is sent, to see whether
//     it is faster now. The other callers' copies are not sent until the reply has arrived.
func (s *sending) attemptInTime(srv *server, first bool) Outcome {
	now := time.Now()
	rest := s.until.Sub(now)
	patience := min(rest-srv.expected(), s.unsent.Sub(now))
	if first {
		patience = max(patience, leastPatience)
	}
	if patience <= 0 {
		return Outcome{Err: unsent{errBusy}}
	}
	end := s.until.Add(copyGrace)
	if rest < time.Duration(srv.fast.Load()) {
		if !srv.probed.CompareAndSwap(false, true) {
			return Outcome{Err: unsent{errSlow}}
		}
		defer srv.probed.Store(false)
		if e := now.Add(srv.expected()); e.After(end) {
			end = e
		}
	}
	ctx, cancel := context.WithDeadline(s.ctx, end)
	defer cancel()
	t := time.AfterFunc(patience, func() {
		if !s.written.Load() {
			cancel()
		}
	})
	defer t.Stop()
	return s.c.attempt(ctx, srv, &s.Request, false)
}

// errSlow is the error of a request whose caller waits for less than the server's latency.
var errSlow = errors.New("the server answers too slowly")

// abandoned reports whether no more copies are to be sent.
func (s *sending) abandoned() bool {
	if s.c.Given.Err() != nil {
		return true
	}
	select {
	case <-s.left:
		return !s.Persistent
	default:
		return false
	}
}

func (s *sending) pause(d time.Duration) {
	left := s.left
	if s.Persistent {
		left = nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-left:
	case <-s.c.Given.Done():
	}
}
