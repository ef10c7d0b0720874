package engine

import (
	"time"

	"github.com/lockredis/lockredis/expiry"
)

// stopwatch measures commands. A reading costs about as much as a small command, so there is
// one for each command of a client: when the command ends. It is also the time of the
// connection's next command, if that runs in the same batch.
//
// A reading of the clock takes twice as long as one of expiry.Stopwatch. So the clock is read
// once in setFor. The time of a unit in between is the clock's last time plus what the
// expiry.Stopwatch has measured since.
type stopwatch struct {
	clock expiry.Clock
	since expiry.Stopwatch // nil: the clock is none
	start time.Time        // readings are relative to it

	now   int64 // the last reading, in ns since start
	wall  int64 // the clock's time at start, in Unix ns, as of the last reading of the clock
	set   int64 // when that was, in ns since start
	fresh bool  // now is the end of a command, and nothing has run since but its unit
}

// setFor is how long, in ns, units do without a reading of the clock. So long do they run by
// the old time when the machine's clock is turned.
const setFor = 1_000_000

func newStopwatch(clock expiry.Clock) stopwatch {
	w := stopwatch{clock: clock, start: clock.Now(), set: -setFor}
	w.since, _ = clock.(expiry.Stopwatch)
	return w
}

// restart reads the time and returns it in Unix µs.
func (w *stopwatch) restart() int64 {
	w.fresh = false
	if now := w.read(); w.since == nil || now-w.set >= setFor {
		w.wall, w.set = w.clock.Now().UnixNano()-now, now
	}
	return w.micros()
}

// next returns the time in Unix µs of the unit that begins. It is the last reading if that
// is fresh.
func (w *stopwatch) next() int64 {
	if !w.fresh {
		return w.restart()
	}
	w.fresh = false
	return (w.wall + w.now) / 1000
}

// old says that the last reading is no time for the next unit.
func (w *stopwatch) old() { w.fresh = false }

// micros returns the time of the last reading in Unix µs.
func (w *stopwatch) micros() int64 { return (w.wall + w.now) / 1000 }

// unix returns the time of the last reading in Unix seconds.
func (w *stopwatch) unix() int64 { return (w.wall + w.now) / 1e9 }

// read returns the time since start in ns.
func (w *stopwatch) read() int64 {
	if w.since != nil {
		w.now = int64(w.since.Since(w.start))
	} else {
		w.now = int64(w.clock.Now().Sub(w.start))
	}
	return w.now
}
