package sender

import (
	"context"
	"slices"
	"sync"
	"time"
)

// lane sends requests to a server. While most of them are under way, further ones wait, and
// then go together in one pipeline. A server has two lanes:
//
//   - All requests to a near server share one. A pipeline costs the client and the server fewer
//     system calls, which take most of the time of a request.
//   - The undos for a server that is not near share the other. So many callers that leave at
//     the same time take two connections of the pool, and a release does not wait behind them.
type lane struct {
	to   *server
	most int  // flights at most
	near bool // see laneTimeout

	mu      sync.Mutex // guards the fields below
	flights int        // requests and pipelines under way
	queue   []*waiting
}

const (
	// maxFlights is how many requests and pipelines to a near server are under way at most. A
	// request waits for the first of them to end, so a few of them delay it little.
	maxFlights = 4

	// maxUndoFlights is the same for undos. With two, an undo need not wait for one whose
	// connection hangs.
	maxUndoFlights = 2

	// maxPipeline is how many requests go into one pipeline, at most 1<<(nearSizes-1).
	maxPipeline = 100

	// laneTimeout is how long a request to a near server waits in the queue and in a pipeline:
	// twice the patience of the longest pipeline. A flight whose connection must be made anew
	// may take seconds at a server that hangs. An undo that has waited so long begins a flight
	// more.
	laneTimeout = 2 * (nearTimeout + maxPipeline*nearLatency)
)

// waiting is a request in the queue of a lane.
type waiting struct {
	ctx  context.Context
	cmd  *requestCmd
	done chan struct{} // closed when cmd has its reply or error
}

// unsent is the error of a request that left the queue, so that it was never sent.
type unsent struct{ error }

func (e unsent) Unwrap() error { return e.error }

// send sends cmd and waits for the reply, which is then in cmd. When ctx ends while cmd waits or is
// in a pipeline, or laneTimeout or most.patience in a near lane, or when most.closing is closed, send
// returns an error. Unless the error is unsent, cmd may have been sent, and the caller must not use
// it. Config.Running counts the caller.
func (l *lane) send(ctx context.Context, most callerWait, cmd *requestCmd) error {
	w := l.board(ctx, cmd)
	if w == nil {
		defer l.land()
		_ = l.to.rdb.Process(ctx, cmd)
		return nil
	}
	limit := laneTimeout
	if l.near {
		limit = min(limit, most.patience)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var err error
	for err == nil {
		select {
		case <-w.done:
			return nil
		case <-ctx.Done():
			err = ctx.Err()
		case <-most.closing:
			err = l.to.topo.cfg.Closed
		case <-timer.C:
			if l.near {
				err = ErrNoReply
			} else {
				l.hurry(w)
			}
		}
	}
	if l.leave(w) {
		return unsent{err}
	}
	return err
}

// leave removes w from the queue, and reports whether it was there.
func (l *lane) leave(w *waiting) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.queue, w)
	if i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
	return i >= 0
}

// board returns nil if cmd can be sent at once, by the caller, which then calls land.
// Otherwise cmd waits in the queue.
func (l *lane) board(ctx context.Context, cmd *requestCmd) *waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flights < l.most {
		l.flights++
		return nil
	}
	w := &waiting{ctx, cmd, make(chan struct{})}
	l.queue = append(l.queue, w)
	return w
}

// land ends a flight, or continues it with the queue.
func (l *lane) land() {
	if next := l.next(); next != nil {
		l.to.topo.cfg.spawn(func() { l.fly(next) })
	}
}

// hurry begins a flight more, if w is still in the queue: the other flights hang.
func (l *lane) hurry(w *waiting) {
	l.mu.Lock()
	waits := slices.Contains(l.queue, w)
	if waits {
		l.flights++
	}
	l.mu.Unlock()
	if waits {
		l.land()
	}
}

// fly continues a flight until the queue is empty.
func (l *lane) fly(next []*waiting) {
	for ; next != nil; next = l.next() {
		sendTogether(l.to.topo.detach(next[0].ctx), l.to.rdb, next)
	}
}

// next takes the next requests from the queue. If there are none, the flight ends.
func (l *lane) next() (next []*waiting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.queue), maxPipeline)
	if n == 0 {
		l.flights--
		l.queue = nil
		return nil
	}
	next = slices.Clone(l.queue[:n])
	l.queue = slices.Delete(l.queue, 0, n)
	return next
}

// sendTogether sends the requests in one pipeline.
func sendTogether(ctx context.Context, p processor, all []*waiting) {
	if len(all) == 1 {
		_ = p.Process(ctx, all[0].cmd)
	} else {
		pipe := p.Pipeline()
		for _, w := range all {
			if w.cmd.near {
				w.cmd.batch = int32(len(all))
			}
			_ = pipe.Process(ctx, w.cmd)
		}
		_, _ = pipe.Exec(ctx)
	}
	for _, w := range all {
		close(w.done)
	}
}
