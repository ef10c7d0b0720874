package observing

import (
	"time"

	"github.com/lockredis/lockredis/expiry"
)

// Stopwatch says when units and commands begin and end. A reading costs about as much as a small
// command, so there is one when a caller's unit begins, and one for each of its commands: when the
// command ends or is refused. That is also the time of the next command.
//
// A reading of the clock takes twice as long as one of expiry.Stopwatch. So the clock is read
// once in setFor. The time of a unit in between is the clock's last time plus what the
// expiry.Stopwatch has measured since.
type Stopwatch struct {
	Now int64 // the last reading, in ns since start

	clock expiry.Clock
	since expiry.Stopwatch // nil: the clock has only Now
	start time.Time        // readings are relative to it

	wall int64 // the clock's time at start, in Unix ns, as of the last reading of the clock
	set  int64 // when that was, in ns since start
}

// setFor is how long, in ns, units do without a reading of the clock. For at most that long they run
// by the old time when the machine's clock is turned.
const setFor = 1_000_000

// NewStopwatch returns a stopwatch that starts now.
func NewStopwatch(clock expiry.Clock) *Stopwatch {
	w := &Stopwatch{clock: clock, start: clock.Now(), set: -setFor}
	w.since, _ = clock.(expiry.Stopwatch)
	return w
}

// Restart reads the time when a caller's unit begins, and the clock if it was not read for long.
func (w *Stopwatch) Restart() {
	if now := w.Read(); w.since == nil || now-w.set >= setFor {
		w.wall, w.set = w.clock.Now().UnixNano()-now, now
	}
}

// Shifted follows a shift of the clock. The readings go on, and Restart reads the clock.
func (w *Stopwatch) Shifted(by time.Duration) {
	if w.since == nil {
		w.start = w.start.Add(by)
	}
	w.set = w.Now - setFor
}

// Micros returns the time of the last reading in Unix µs.
func (w *Stopwatch) Micros() int64 { return (w.wall + w.Now) / 1000 }

// unix returns the time of the last reading in Unix seconds.
func (w *Stopwatch) unix() int64 { return (w.wall + w.Now) / 1e9 }

// Read returns the time since start in ns.
func (w *Stopwatch) Read() int64 {
	if w.since != nil {
		w.Now = int64(w.since.Since(w.start))
	} else {
		w.Now = int64(w.clock.Now().Sub(w.start))
	}
	return w.Now
}
