package observing

import (
	"testing"
	"time"
)

func TestRatesAreTheMeanOfSixteenSamplesOf100Milliseconds(t *testing.T) {
	s := newServer()
	rates := NewRates(&s.env, s.watch)
	begin := func() { // a unit
		s.watch.Restart()
		if s.watch.Now >= rates.Ends {
			rates.Sample()
		}
	}
	run := func(n int64) {
		begin()
		s.env.Stats.Commands += n
		s.traffic.In += 2 * n
		s.traffic.Out += 3 * n
	}
	after := func(d time.Duration, want int64) {
		t.Helper()
		s.clock.Advance(d)
		begin()
		if n, in, out := rates.PerSecond(); n != want || in != 2*want || out != 3*want {
			t.Errorf("%d commands, %d and %d bytes a second, want %d, %d and %d", n, in, out, want, 2*want, 3*want)
		}
	}
	after(0, 0)
	run(16)
	after(0, 0)                        // the sample has not ended
	after(100*time.Millisecond, 10)    // 160 a second in one of 16 samples
	run(32)                            // in the second sample
	after(250*time.Millisecond, 10+20) // one more sample is empty
	after(1250*time.Millisecond, 10+20)
	after(10*time.Millisecond, 10+20)
	after(90*time.Millisecond, 20) // the first sample is 1.6 seconds old
	after(time.Hour, 0)
	run(160)
	s.clock.SetBack(s.clock.Now().Add(-time.Hour))
	after(0, 0)
	run(16)
	after(100*time.Millisecond, 10)
	rates.Reset()
	after(0, 0)
	after(100*time.Millisecond, 0)
}
