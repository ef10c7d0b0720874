package rlock

import (
	"container/heap"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// watchdog renews the leases of a client's holds and tells when one cannot be
// trusted any more. One timer serves all of them: it is set to the earliest
// thing to do.
type watchdog struct {
	c *Client

	kick chan struct{} // capacity 1: the timer is set too late

	mu      sync.Mutex // guards the fields below and those of the leases
	queue   leaseQueue
	armed   time.Time // what the timer is set to; zero: to nothing
	running bool
	closed  bool
}

// leased is what has a lease. Its methods are called without the watchdog's lock,
// except renewal.
type leased interface {
	renewal(length time.Duration) call
	renewed()   // called after each renewal
	lose(error) // called once, unless the lease was removed before
}

// lease is the time for which one hold can be trusted.
type lease struct {
	of      leased
	length  time.Duration
	watched bool // it is renewed

	until   time.Time // by our own clock, from before the command was sent
	renewAt time.Time
	pos     int   // in the queue, -1: not there
	err     error // why the last renewal failed
}

// next is when something is to be done about the lease.
func (l *lease) next() time.Time {
	if l.watched && l.renewAt.Before(l.until) {
		return l.renewAt
	}
	return l.until
}

func newWatchdog(c *Client) *watchdog { return &watchdog{c: c, kick: make(chan struct{}, 1)} }

// add watches a lease that was granted by a command sent at sent. It reports
// false, and does not, when the client is closed.
func (w *watchdog) add(l *lease, sent time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running {
		w.running = w.c.goBackground(w.run)
	}
	if w.closed || !w.running {
		return false
	}
	l.granted(sent)
	heap.Push(&w.queue, l)
	w.arm()
	return true
}

// replace gives l another length, granted by a command sent at sent. It reports
// false, and does not, when l was lost or removed.
func (w *watchdog) replace(l *lease, length time.Duration, watched bool, sent time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.pos < 0 {
		return false
	}
	l.length, l.watched = length, watched
	w.restart(l, sent)
	return true
}

func (w *watchdog) restart(l *lease, sent time.Time) {
	l.granted(sent)
	heap.Fix(&w.queue, l.pos)
	w.arm()
}

// remove ends the watch. It reports false when the lease was lost before.
func (w *watchdog) remove(l *lease) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.pos < 0 {
		return false
	}
	heap.Remove(&w.queue, l.pos)
	return true
}

// granted starts a new term. It is renewed after a third of it, earlier by up to
// a tenth of that, so that clients do not renew in step.
func (l *lease) granted(sent time.Time) {
	l.until = sent.Add(l.length)
	third := l.length / 3
	l.renewAt = sent.Add(third - rand.N(third/10+1))
	l.err = nil
}

// arm has the timer set anew if it is to fire earlier than it will. One that
// fires too early costs a look.
func (w *watchdog) arm() {
	if len(w.queue) == 0 || !w.armed.IsZero() && !w.queue[0].next().Before(w.armed) {
		return
	}
	w.armed = w.queue[0].next()
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// run renews and tells losses until the client is closed, and then that everything
// is lost: nobody would tell it later.
func (w *watchdog) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-w.c.ctx.Done():
			w.loseAll()
			return
		case <-w.kick:
		case <-timer.C:
		}
		timer.Stop()
		if next, ok := w.look(); ok {
			timer.Reset(time.Until(next))
		}
	}
}

func (w *watchdog) loseAll() {
	w.mu.Lock()
	w.closed = true
	over := w.queue
	w.queue = nil
	for _, l := range over {
		l.pos = -1
	}
	w.mu.Unlock()
	for _, l := range over {
		l.of.lose(ErrClosed)
	}
}

// together is how much earlier than needed leases are renewed in order to be
// renewed with others.
const together = 100 * time.Millisecond

// batch is how many renewals go into one pipeline.
const batch = 100

// look does what is due and returns when the next thing will be.
func (w *watchdog) look() (next time.Time, ok bool) {
	w.mu.Lock()
	now := time.Now()
	var over []loss
	var due []renewal
	for len(w.queue) > 0 && !w.queue[0].next().After(now) {
		l := w.queue[0]
		if !l.until.After(now) {
			heap.Pop(&w.queue)
			over = append(over, loss{l.of, errors.Join(errLeaseOver, l.err)})
			continue
		}
		due = w.take(due, l, now)
	}
	if len(due) > 0 {
		for len(w.queue) > 0 && len(due) < batch && w.queue[0].watched && !w.queue[0].next().After(now.Add(w.window(w.queue[0]))) {
			due = w.take(due, w.queue[0], now)
		}
	}
	switch {
	case len(w.queue) > 0:
		w.armed = w.queue[0].next()
	case !w.armed.After(now): // else it stays set, and the next lock need not set it
		w.armed = time.Time{}
	}
	next = w.armed
	w.mu.Unlock()
	for _, o := range over {
		o.of.lose(o.err)
	}
	for len(due) > 0 {
		n := min(batch, len(due))
		chunk := due[:n]
		due = due[n:]
		w.c.goBackground(func() { w.renewOnNodes(chunk) })
	}
	return next, !next.IsZero()
}

// window is how much earlier than needed l may be renewed.
func (w *watchdog) window(l *lease) time.Duration { return min(together, l.length/30) }

// loss is a lease that is over, to be told without locks.
type loss struct {
	of  leased
	err error
}

// renewal is one that is due. A lease may be replaced while it is under way.
type renewal struct {
	lease  *lease
	length time.Duration
	call   call
}

// take adds l to due. Until the renewal is answered, another is sent every
// twelfth of the lease: the first may be on a connection that hangs.
func (w *watchdog) take(due []renewal, l *lease, now time.Time) []renewal {
	l.renewAt = now.Add(max(l.length/12, time.Millisecond))
	heap.Fix(&w.queue, l.pos)
	return append(due, renewal{l, l.length, l.of.renewal(l.length)})
}

var errLeaseOver = errors.New("lease over")
var errGone = errors.New("deleted, or taken by another")

// renewOnNodes renews on every node by itself: one that hangs must not keep the
// answers of the others back.
func (w *watchdog) renewOnNodes(due []renewal) {
	if w.c.topo.single || w.c.topo.node == nil {
		w.renew(due)
		return
	}
	nodes := map[node][]renewal{}
	for _, r := range due {
		n, err := w.c.topo.node(context.WithoutCancel(w.c.ctx), r.call.key())
		if err != nil {
			n = nil // go-redis may find it
		}
		nodes[n] = append(nodes[n], r)
	}
	for _, some := range nodes {
		w.c.goBackground(func() { w.renew(some) })
	}
}

// renew sends one pipeline and takes note of the answers.
func (w *watchdog) renew(due []renewal) {
	ctx := context.WithoutCancel(w.c.ctx)
	calls := make([]call, len(due))
	for i, r := range due {
		calls[i] = r.call
	}
	sent := time.Now()
	for i, o := range w.c.runAll(ctx, calls) {
		l := due[i].lease
		switch n, isInt := o.reply.(int64); {
		case o.err != nil || !isInt: // tried again until the lease is over
			w.unanswered(l, o.err)
		case n == 1:
			w.extended(due[i], sent)
			l.of.renewed()
		default:
			if w.remove(l) {
				l.of.lose(errGone)
			}
		}
	}
}

// extended notes that a renewal was answered. One that was overtaken by a new
// length has perhaps set the old one, and is made up for at once.
func (w *watchdog) extended(r renewal, sent time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch l := r.lease; {
	case l.pos < 0:
	case l.length == r.length:
		if sent.Add(l.length).After(l.until) { // else a later one was answered before
			w.restart(l, sent)
		}
	default:
		l.renewAt = sent
		heap.Fix(&w.queue, l.pos)
		w.arm()
	}
}

// unanswered notes why a renewal failed.
func (w *watchdog) unanswered(l *lease, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.err = err
}

// leaseQueue is a heap by next.
type leaseQueue []*lease

func (q leaseQueue) Len() int           { return len(q) }
func (q leaseQueue) Less(i, j int) bool { return q[i].next().Before(q[j].next()) }
func (q leaseQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].pos, q[j].pos = i, j
}

func (q *leaseQueue) Push(x any) {
	l := x.(*lease)
	l.pos = len(*q)
	*q = append(*q, l)
}

func (q *leaseQueue) Pop() any {
	old := *q
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	l.pos = -1
	return l
}
