package inspect

import "time"

// Clock is the clock of one server in a turn of several clocks. The turn takes it forward from From
// to To.
type Clock struct {
	*Inspector
	From, To time.Time
}

// TurnTogether turns several clocks forward. It stops at the deadlines of all servers, in their
// order. Before a clock reaches a deadline, all clocks are turned to the millisecond before it. So a
// client that wakes at a deadline finds all servers equally far in the turn, to the millisecond. A
// clock that has reached its To stays there.
//
// step turns clock i to a time, or to a deadline before that time, as View.Turn does. more reports
// whether the clock has not reached the time yet. If ok is false, the turn ends where it is. step is
// called outside the engines.
func TurnTogether(clocks []Clock, step func(i int, to time.Time) (more, ok bool)) {
	var passed, length time.Duration
	for _, c := range clocks {
		length = max(length, c.To.Sub(c.From))
	}
	for {
		next, due := nextDeadline(clocks, passed)
		if !due {
			turnAll(clocks, length, step)
			return
		}
		if !turnAll(clocks, next-time.Millisecond, step) || !turnAll(clocks, next, step) {
			return
		}
		passed = next
	}
}

// turnAll turns all clocks until they are passed behind their From. It reports whether the turn goes
// on.
func turnAll(clocks []Clock, passed time.Duration, step func(i int, to time.Time) (more, ok bool)) bool {
	for i, c := range clocks {
		to := c.From.Add(passed)
		if to.After(c.To) {
			to = c.To
		}
		for more := true; more; {
			var ok bool
			if more, ok = step(i, to); !ok {
				return false
			}
		}
	}
	return true
}

// nextDeadline returns how far into the turn the next deadline of all servers is, at least passed.
// due is false if no deadline is left in the turn. It is also false for a single clock, because no
// other clock has to stop at its deadlines.
func nextDeadline(clocks []Clock, passed time.Duration) (next time.Duration, due bool) {
	if len(clocks) == 1 {
		return 0, false
	}
	for _, c := range clocks {
		c.Enter(func(v View) {
			at, ok := v.state.NextDeadline()
			if !ok || time.UnixMilli(at).After(c.To) {
				return
			}
			if in := max(passed, time.UnixMilli(at).Sub(c.From)); !due || in < next {
				next, due = in, true
			}
		})
	}
	return next, due
}
