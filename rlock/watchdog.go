package rlock

import (
	"container/heap"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// watchdog renews the leases of a client's holds, and reports holds that can no
// longer be trusted. One timer serves all leases. It is set to the earliest renewal
// or end of a lease.
type watchdog struct {
	c *Client

	rearm chan struct{} // capacity 1: the timer must be set to an earlier time

	mu      sync.Mutex // guards the fields below and the fields of leases
	queue   leaseQueue
	armed   time.Time // when the timer fires; zero: not set
	running bool
	closed  bool
}

// leaseHolder is the owner of a lease, a hold. Its methods are called without
// watchdog.mu, except renewal.
type leaseHolder interface {
	renewal(length time.Duration) call
	renewed()   // called after each renewal
	lose(error) // called once, unless the lease was removed before
}

// lease is the time during which one hold can be trusted.
type lease struct {
	holder  leaseHolder
	length  time.Duration
	watched bool // the watchdog renews it

	until   time.Time // end, on this process's clock: the time of the send plus length
	renewAt time.Time
	pos     int   // index in watchdog.queue, -1: not in it
	err     error // of the last renewal, if that failed
}

// due returns when the lease must be renewed, or when it ends.
func (l *lease) due() time.Time {
	if l.watched && l.renewAt.Before(l.until) {
		return l.renewAt
	}
	return l.until
}

func newWatchdog(c *Client) *watchdog { return &watchdog{c: c, rearm: make(chan struct{}, 1)} }

// add adds a lease that was granted by a request sent at the given time. It reports
// whether it did: not after Close.
func (w *watchdog) add(l *lease, sent time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running {
		w.running = w.c.goBackground(w.run)
	}
	if w.closed || !w.running {
		return false
	}
	l.restart(sent)
	heap.Push(&w.queue, l)
	w.arm()
	return true
}

// replace changes the length of l, after a request that was sent at the given time.
// It reports whether it did: not if l was lost or removed.
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
	l.restart(sent)
	heap.Fix(&w.queue, l.pos)
	w.arm()
}

// remove removes the lease. It reports false if the lease was lost or removed
// before.
func (w *watchdog) remove(l *lease) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.pos < 0 {
		return false
	}
	heap.Remove(&w.queue, l.pos)
	return true
}

// restart starts the lease again. The renewal is due after a third of its length,
// less up to a tenth of that at random, so that clients do not renew in step.
func (l *lease) restart(sent time.Time) {
	l.until = sent.Add(l.length)
	third := l.length / 3
	l.renewAt = sent.Add(third - rand.N(third/10+1))
	l.err = nil
}

// arm makes run set the timer if the first lease is due before the timer fires. A
// timer that fires too early does no harm: run sets it again.
func (w *watchdog) arm() {
	if len(w.queue) == 0 || !w.armed.IsZero() && !w.queue[0].due().Before(w.armed) {
		return
	}
	w.armed = w.queue[0].due()
	select {
	case w.rearm <- struct{}{}:
	default:
	}
}

// run renews leases and reports losses until the client is closed. It then reports
// every hold as lost, because they are no longer renewed or checked.
func (w *watchdog) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-w.c.ctx.Done():
			w.loseAll()
			return
		case <-w.rearm:
		case <-timer.C:
		}
		timer.Stop()
		if next, ok := w.runDue(); ok {
			timer.Reset(time.Until(next))
		}
	}
}

func (w *watchdog) loseAll() {
	w.mu.Lock()
	w.closed = true
	leases := w.queue
	w.queue = nil
	for _, l := range leases {
		l.pos = -1
	}
	w.mu.Unlock()
	for _, l := range leases {
		l.holder.lose(ErrClosed)
	}
}

// maxRenewAhead is how much too early a lease may be renewed, so that one pipeline
// renews several.
const maxRenewAhead = 100 * time.Millisecond

// maxRenewals is how many renewals go into one pipeline.
const maxRenewals = 100

// runDue renews the leases that are due and reports the holds whose lease ended. It
// returns when the next lease is due; ok is false if there is none.
func (w *watchdog) runDue() (next time.Time, ok bool) {
	w.mu.Lock()
	now := time.Now()
	var lost []loss
	var due []renewal
	for len(w.queue) > 0 && !w.queue[0].due().After(now) {
		l := w.queue[0]
		if !l.until.After(now) {
			heap.Pop(&w.queue)
			lost = append(lost, loss{l.holder, errors.Join(errLeaseExpired, l.err)})
			continue
		}
		due = w.addDue(due, l, now)
	}
	if len(due) > 0 {
		for len(w.queue) > 0 && len(due) < maxRenewals && w.queue[0].renewableAt(now) {
			due = w.addDue(due, w.queue[0], now)
		}
	}
	switch {
	case len(w.queue) > 0:
		w.armed = w.queue[0].due()
	case !w.armed.After(now): // if not, the timer stays set: the next lock can use it
		w.armed = time.Time{}
	}
	next = w.armed
	w.mu.Unlock()
	for _, x := range lost {
		x.holder.lose(x.err)
	}
	for len(due) > 0 {
		n := min(maxRenewals, len(due))
		chunk := due[:n]
		due = due[n:]
		w.c.goBackground(func() { w.renewPerNode(chunk) })
	}
	return next, !next.IsZero()
}

// renewableAt reports whether l may be renewed at now, together with leases that are
// due: a thirtieth of its length too early, at most maxRenewAhead.
func (l *lease) renewableAt(now time.Time) bool {
	return l.watched && !l.due().After(now.Add(min(maxRenewAhead, l.length/30)))
}

// loss is a hold whose lease ended. It is reported after watchdog.mu is unlocked.
type loss struct {
	holder leaseHolder
	err    error
}

// renewal is a renewal to send. The lease may be replaced before it is answered.
type renewal struct {
	lease  *lease
	length time.Duration
	call   call
}

// addDue appends a renewal of l to due. Until a renewal is answered, runDue sends
// another one every twelfth of the lease, because the connection may hang.
func (w *watchdog) addDue(due []renewal, l *lease, now time.Time) []renewal {
	l.renewAt = now.Add(max(l.length/12, time.Millisecond))
	heap.Fix(&w.queue, l.pos)
	return append(due, renewal{l, l.length, l.holder.renewal(l.length)})
}

var (
	errLeaseExpired = errors.New("lease expired")
	errNotOwner     = errors.New("lock deleted, or acquired by another owner")
)

// renewPerNode sends the renewals in one pipeline for each node, so that a node that
// hangs does not delay the replies of the others.
func (w *watchdog) renewPerNode(due []renewal) {
	if w.c.topo.single || w.c.topo.nodeFor == nil {
		w.renew(due)
		return
	}
	nodes := map[node][]renewal{}
	for _, r := range due {
		n, err := w.c.topo.nodeFor(context.WithoutCancel(w.c.ctx), r.call.key())
		if err != nil {
			n = nil // go-redis may find the node when it sends
		}
		nodes[n] = append(nodes[n], r)
	}
	for _, renewals := range nodes {
		w.c.goBackground(func() { w.renew(renewals) })
	}
}

// renew sends the renewals in one pipeline and records the replies.
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
		case o.err != nil || !isInt: // runDue retries until the lease ends
			w.renewalFailed(l, o.err)
		case n == 1:
			w.renewalConfirmed(due[i], sent)
			l.holder.renewed()
		default:
			if w.remove(l) {
				l.holder.lose(errNotOwner)
			}
		}
	}
}

// renewalConfirmed records that a renewal was answered. If the lease was replaced
// meanwhile, the renewal may have set the old length on the server; then another
// renewal is sent at once.
func (w *watchdog) renewalConfirmed(r renewal, sent time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch l := r.lease; {
	case l.pos < 0:
	case l.length == r.length:
		if sent.Add(l.length).After(l.until) { // if not, a later renewal was answered first
			w.restart(l, sent)
		}
	default:
		l.renewAt = sent
		heap.Fix(&w.queue, l.pos)
		w.arm()
	}
}

// renewalFailed records the error of a renewal.
func (w *watchdog) renewalFailed(l *lease, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l.err = err
}

// leaseQueue is a heap ordered by due.
type leaseQueue []*lease

func (q leaseQueue) Len() int           { return len(q) }
func (q leaseQueue) Less(i, j int) bool { return q[i].due().Before(q[j].due()) }
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
