package inspect

import "time"

// Hand is a server's part in a turn of several clocks: its clock goes forward from one time to another.
type Hand struct {
	*Inspector
	From, To time.Time
}

// TurnTogether turns several clocks forward, by way of the deadlines of all servers in their order. Before a
// deadline is reached, all clocks are turned to a millisecond before it. So a client that a deadline has woken
// finds every server at that time of the turn, to the millisecond. A clock that has arrived stays.
//
// step turns the i-th clock to a time, or to a deadline before it, as View.Turn does. It reports whether the clock
// has not arrived. It is called outside the engines. ok is false if the turn shall end where it is.
func TurnTogether(hands []Hand, step func(i int, to time.Time) (more, ok bool)) {
	var passed, length time.Duration
	for _, h := range hands {
		length = max(length, h.To.Sub(h.From))
	}
	for {
		next, due := nextOf(hands, passed)
		stops := []time.Duration{next - time.Millisecond, next}
		if !due {
			stops = []time.Duration{length}
		}
		for _, stop := range stops {
			for i, h := range hands {
				to := h.From.Add(stop)
				if to.After(h.To) {
					to = h.To
				}
				for more := true; more; {
					var ok bool
					if more, ok = step(i, to); !ok {
						return
					}
				}
			}
		}
		if !due {
			return
		}
		passed = next
	}
}

// nextOf returns how far the next deadline of the servers is from the turn's begin, at least passed. due is false
// if the turn ends before it, and for a clock alone, which nothing has to keep up with.
func nextOf(hands []Hand, passed time.Duration) (next time.Duration, due bool) {
	if len(hands) == 1 {
		return 0, false
	}
	for _, h := range hands {
		h.Enter(func(v View) {
			at, ok := v.state.NextDeadline()
			if !ok || time.UnixMilli(at).After(h.To) {
				return
			}
			if in := max(passed, time.UnixMilli(at).Sub(h.From)); !due || in < next {
				next, due = in, true
			}
		})
	}
	return next, due
}
