package control

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

var errTurnRange = resp.Error("ERR value is out of range")

// hands turns the clocks of all servers of the process.
type hands struct {
	servers []backdoor.Inside
	mu      sync.Mutex // of the turn that is under way
}

// turn carries out CONTROL TURN. A turn ends early when the door is closed.
func (d *Door) turn(words resp.Args) resp.Reply {
	target, failure := parseTurn(words)
	if failure.IsError() {
		return failure
	}
	d.hands.mu.Lock()
	defer d.hands.mu.Unlock()
	return d.hands.turn(target, d.isClosed)
}

func (d *Door) isClosed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

// parseTurn returns where a clock is turned to that shows a time.
func parseTurn(words resp.Args) (target func(now time.Time) time.Time, failure resp.Reply) {
	if len(words) == 0 {
		return nil, errControl
	}
	switch kind := strings.ToLower(words.String(0)); {
	case kind == "real" && len(words) == 1:
		real := time.Now()
		return func(time.Time) time.Time { return real }, resp.OK
	case len(words) != 2 || kind != "by" && kind != "to":
		return nil, errControl
	default:
		ms, err := strconv.ParseInt(words.String(1), 10, 64)
		switch {
		case err != nil || ms < 0 || ms >= expiry.End.UnixMilli():
			return nil, errTurnRange
		case kind == "by":
			return func(now time.Time) time.Time { return now.Add(time.Duration(ms) * time.Millisecond) }, resp.OK
		}
		return func(time.Time) time.Time { return time.UnixMilli(ms) }, resp.OK
	}
}

// turn turns the clocks, each to its target.
func (h *hands) turn(target func(now time.Time) time.Time, closed func() bool) resp.Reply {
	all := make([]inspect.Hand, len(h.servers))
	for i, s := range h.servers {
		from := s.Inspector.EndDue() // leases that are over before the turn have ended by themselves
		all[i] = inspect.Hand{Inspector: s.Inspector, From: from, To: target(from)}
		if to := all[i].To; to.UnixMilli() <= 0 || !to.Before(expiry.End) {
			return errTurnRange
		}
	}
	for i, s := range h.servers {
		if all[i].To.Before(all[i].From) {
			s.PutClock(all[i].To)
			all[i].From = all[i].To
		}
	}
	var turned inspect.Turned
	inspect.TurnTogether(all, func(i int, to time.Time) (more, ok bool) {
		step := all[i].Turn(to, true, time.Now())
		turned.Add(step)
		h.servers[i].Settle()
		return step.More, !closed()
	})
	for i := range all {
		all[i].Enter(func(v inspect.View) { turned.Add(v.Lapse(all[i].From.UnixMilli(), true, time.Now())) })
		h.servers[i].Settle()
	}
	return turnedReply(all[0].EndDue(), &turned)
}

// turnedReply returns what CLOCK.ADVANCE replies.
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
