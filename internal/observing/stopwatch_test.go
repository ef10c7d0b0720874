package observing

import (
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
)

// turnedClock is a machine's clock: passed goes on by itself, turned is what an operator adds.
type turnedClock struct {
	expiry.Clock
	passed, turned time.Duration
	readings       int
}

func (c *turnedClock) Now() time.Time {
	c.readings++
	return time.Unix(1000, 0).Add(c.passed + c.turned)
}

func (c *turnedClock) Since(time.Time) time.Duration { return c.passed }

// micros is what a unit that begins now takes for the time if it reads the clock.
func (c *turnedClock) micros() int64 { return 1000_000_000 + (c.passed + c.turned).Microseconds() }

func TestTheClockIsReadOnceInAMillisecond(t *testing.T) {
	clock := &turnedClock{}
	w := NewStopwatch(clock)
	clock.readings = 0
	for range 100 {
		w.Restart()
		if got, want := w.Micros(), clock.micros(); got != want {
			t.Fatalf("%d µs after %s, want %d", got, clock.passed, want)
		}
		clock.passed += 100 * time.Microsecond
	}
	if clock.readings != 10 {
		t.Errorf("the clock was read %d times in 10 ms, want 10", clock.readings)
	}
}

func TestUnitsFollowAClockThatIsTurned(t *testing.T) {
	for _, turn := range []time.Duration{time.Hour, -time.Hour} {
		clock := &turnedClock{}
		w := NewStopwatch(clock)
		w.Restart()
		clock.turned = turn
		clock.passed = time.Millisecond
		w.Restart()
		if got, want := w.Micros(), clock.micros(); got != want {
			t.Errorf("%d µs after a turn of %s, want %d", got, turn, want)
		}
	}
}
