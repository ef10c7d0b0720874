package control

import (
	"strings"
	"sync"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

var errTurnRange = resp.Error("ERR value is out of range")

// clocks are the clocks of all servers of the process. All doors share them.
type clocks struct {
	servers []backdoor.Inside
	mu      sync.Mutex // held during a turn: turns follow each other
}

// turn carries out CONTROL TURN. A turn ends early when the door is closed.
func (d *Door) turn(words resp.Args) resp.Reply {
	target, failure := parseTurn(words)
	if failure.IsError() {
		return failure
	}
	d.clocks.mu.Lock()
	defer d.clocks.mu.Unlock()
	return d.clocks.turn(target, d.isClosed)
}

func (d *Door) isClosed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

// parseTurn parses BY ms, TO unix-time-ms or REAL. target returns the time to which a clock that
// shows now is turned.
func parseTurn(words resp.Args) (target func(now time.Time) time.Time, failure resp.Reply) {
	if len(words) == 0 {
		return nil, errControl
	}
	kind := strings.ToLower(words.String(0))
	switch {
	case kind == "real" && len(words) == 1:
		machine := time.Now()
		return func(time.Time) time.Time { return machine }, resp.OK
	case len(words) != 2 || kind != "by" && kind != "to":
		return nil, errControl
	}
	ms, ok := resp.ParseInt(words[1])
	if !ok || ms < 0 || ms >= expiry.End.UnixMilli() {
		return nil, errTurnRange
	}
	if kind == "by" {
		return func(now time.Time) time.Time { return now.Add(time.Duration(ms) * time.Millisecond) }, resp.OK
	}
	return func(time.Time) time.Time { return time.UnixMilli(ms) }, resp.OK
}

// turn turns each clock to its target. closed reports whether the turn has to end early.
func (c *clocks) turn(target func(now time.Time) time.Time, closed func() bool) resp.Reply {
	all := make([]inspect.Clock, len(c.servers))
	for i, s := range c.servers {
		from := s.Inspector.EndDue() // leases that are over before the turn have ended by themselves
		all[i] = inspect.Clock{Inspector: s.Inspector, From: from, To: target(from)}
		if to := all[i].To; to.UnixMilli() <= 0 || !to.Before(expiry.End) {
			return errTurnRange
		}
	}
	for i, s := range c.servers {
		if all[i].To.Before(all[i].From) {
			s.PutClock(all[i].To)
			all[i].From = all[i].To
		}
	}
	var turned inspect.Turned
	inspect.TurnTogether(all, func(i int, to time.Time) (more, ok bool) {
		step := all[i].Turn(to, true, time.Now())
		turned.Add(step)
		c.servers[i].Settle()
		return step.More, !closed()
	})
	for i := range all {
		all[i].Enter(func(v inspect.View) { turned.Add(v.Lapse(all[i].From.UnixMilli(), true, time.Now())) })
		c.servers[i].Settle()
	}
	return turnedReply(all[0].EndDue(), &turned)
}

// turnedReply returns what CLOCK.ADVANCE replies: turnReply of command/lock, which this package
// does not import.
func turnedReply(now time.Time, t *inspect.Turned) resp.Reply {
	ended := make([]resp.Reply, len(t.Ended))
	for i, name := range t.Ended {
		ended[i] = resp.BulkString(name)
	}
	return resp.Map(
		resp.BulkString("now"), resp.Int(now.UnixMilli()),
		resp.BulkString("ended"), resp.Array(ended...),
		resp.BulkString("woken"), resp.Int(int64(t.Woken)))
}
