package rlock

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/retry"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// maxRenewals is how many renewals go into one pipeline.
const maxRenewals = 100

// renewal is a renewal to send. The lease may be replaced before it is answered.
type renewal struct {
	lease  *lease
	length time.Duration // 0: only verify
	number int64         // among the changes of the lease
	call   sender.Call
}

// addDue appends a renewal of l to due. Until a renewal is answered, runDue sends
// another one every twelfth of the lease, because the connection may hang.
func (w *watchdog) addDue(due []renewal, l *lease, now time.Time) []renewal {
	l.renewAt = now.Add(max(l.length/12, time.Millisecond))
	heap.Fix(&w.queue, l.pos)
	ch := leaseChange{lease: l.length}
	number := w.c.changes.Add(1)
	if l.changed { // a late copy of an Extend may be under way
		ch.place = w.c.place(number)
	}
	return append(due, renewal{l, l.length, number, l.holder.renewal(ch)})
}

// verifications returns a verification of every lease.
func (w *watchdog) verifications() (all []renewal) {
	for _, l := range w.queue {
		if !l.endless {
			all = append(all, renewal{lease: l, call: l.holder.verification()})
		}
	}
	return all
}

// check sends the verifications. If a server does not answer, it asks for another
// round.
func (w *watchdog) check(all []renewal) {
	answered := w.renewPerServer(all)
	w.mu.Lock()
	w.verifying = false
	again := w.suspect
	w.suspect = false
	w.mu.Unlock()
	if again || !answered {
		w.verify()
	}
}

// renewPerServer sends the renewals in pipelines to their servers, all at the same
// time. So a server that hangs does not delay the replies of other servers. It reports
// whether all servers answered.
func (w *watchdog) renewPerServer(due []renewal) bool {
	ctx := w.c.given
	if !w.c.opts.UnlockOnClose { // the holds are lost when Close begins
		ctx = w.c.ctx
	}
	var silent atomic.Bool
	nodes := map[sender.Node][]renewal{}
	for _, r := range due {
		n, err := w.c.sender.NodeOf(ctx, r.call.Key())
		if err != nil {
			w.failed(r, err)
			silent.Store(true)
			continue
		}
		nodes[n] = append(nodes[n], r)
	}
	var wg sync.WaitGroup
	for n, renewals := range nodes {
		for chunk := range slices.Chunk(renewals, maxRenewals) {
			wg.Go(func() {
				if !w.renew(ctx, n, chunk) {
					silent.Store(true)
				}
			})
		}
	}
	wg.Wait()
	return !silent.Load()
}

// renew sends the renewals in one pipeline and records the replies. It reports
// whether the server answered.
func (w *watchdog) renew(ctx context.Context, n sender.Node, due []renewal) bool {
	calls := make([]sender.Call, len(due))
	for i, r := range due {
		calls[i] = r.call
	}
	outcomes, sent, answered := w.c.sender.SendTogether(ctx, n, calls)
	for i, o := range outcomes {
		switch n, isInt := o.Reply.(int64); {
		case o.Err != nil || !isInt: // runDue retries until the lease ends
			w.failed(due[i], o.Err)
		case n == 1:
			w.confirmed(due[i], sent)
		case n == 2: // a later change has run
		default:
			if _, ok := w.remove(due[i].lease); ok {
				due[i].lease.holder.lose(errNotOwner)
			}
		}
	}
	return answered
}

// confirmed records that a renewal was answered. If the lease was replaced
// meanwhile, the renewal may have set the old length on the server; then another
// renewal is sent at once.
func (w *watchdog) confirmed(r renewal, sent time.Time) {
	l := r.lease
	w.update(l, func() {
		l.confirm(sent)
		switch {
		case r.length == 0 || !l.watched:
		case l.length != r.length:
			l.renewAt = sent
		case l.confirmLonger(r.number, trustUntil(sent, l.length)):
			l.renewLater(sent)
		}
	})
	if r.length != 0 {
		l.holder.renewed()
	}
}

// confirm asks the server at once whether it still has a hold. It does not block.
func (w *watchdog) confirm(g *holding) {
	w.c.goBackground(func() {
		w.renewPerServer([]renewal{{lease: &g.lease, call: g.verification()}})
	})
}

// failed records the error of a renewal, and makes the next one come sooner.
func (w *watchdog) failed(r renewal, err error) {
	if r.length == 0 || sender.IsOver(err) && w.c.ctx.Err() != nil {
		return
	}
	l := r.lease
	w.update(l, func() {
		l.err = err
		l.failures++
		// The pool may have many broken connections, so the next renewal comes soon.
		if soon := time.Now().Add(retry.Backoff(l.failures)); l.watched && soon.Before(l.renewAt) {
			l.renewAt = soon
		}
	})
	l.holder.renewalFailed(err)
}
