package replication

import (
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// wait is a client of WAIT.
type wait struct {
	*command.Parked
	offset int64 // behind what the client has changed, and what it has seen
	n      int64 // how many replicas it waits for
}

// ended reports whether the client waits no more: its timeout has ended, or it has left.
func (w *wait) ended() bool { return w.Session.Parked != w.Parked }

// Wait has c's client wait until n replicas have all that it has changed.
func (r *Replication) Wait(c *command.Ctx, n, deadline int64) (have int64, waits bool) {
	have = r.having(c.Session.Written)
	if have >= n || c.DenyBlocking() {
		return have, false
	}
	p := &command.Parked{
		OnTimeout: resp.Int(have), Deadline: deadline, Session: c.Session, Cmd: c.Cmd, DB: c.DB.ID(),
	}
	c.Parking.Park(p)
	if len(r.waits) >= r.mostWaits {
		r.waits = slices.DeleteFunc(r.waits, (*wait).ended)
		r.mostWaits = max(16, 2*len(r.waits))
	}
	r.waits = append(r.waits, &wait{p, c.Session.Written, n})
	r.requestAcks()
	return have, true
}

// requestAcks asks all replicas how far they are, unless nothing was told since the last time.
func (r *Replication) requestAcks() {
	if len(r.replicas) > 0 && r.backlog != nil && !r.asked {
		r.send("REPLCONF", "GETACK", "*")
		r.asked = true
	}
}

// having returns how many replicas have acknowledged the stream up to offset.
func (r *Replication) having(offset int64) (n int64) {
	for _, f := range r.replicas {
		if f.session.Replica.State == command.Online && f.session.Replica.Acked >= offset {
			n++
		}
	}
	return n
}

// acksChanged ends the waits of clients that have waited for the last acknowledgement.
func (r *Replication) acksChanged() {
	r.waits = slices.DeleteFunc(r.waits, func(w *wait) bool {
		if w.ended() {
			return true
		}
		have := r.having(w.offset)
		w.OnTimeout = resp.Int(have)
		return have >= w.n && r.env.Parking.Unpark(w.Session, resp.Int(have))
	})
}
