package engine

import (
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/resp"
)

func TestRatesAreTheMeanOfSixteenSamplesOf100Milliseconds(t *testing.T) {
	clock := expiry.NewManual(time.UnixMilli(1_700_000_000_000))
	e := newTestEngine(clock)
	s, _ := newTestSession(e)
	run := func(n int) {
		for range n {
			e.Do(&Caller{}, func() { e.Execute(s, resp.Args{[]byte("PING")}) })
		}
	}
	after := func(d time.Duration, want int64) {
		t.Helper()
		clock.Advance(d)
		e.Do(&Caller{}, func() {
			e.readClock()
			if got, _, _ := e.rates.PerSecond(); got != want {
				t.Errorf("%d commands a second, want %d", got, want)
			}
		})
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
	clock.SetBack(clock.Now().Add(-time.Hour))
	after(0, 0)
	run(16)
	after(100*time.Millisecond, 10)
	e.Do(&Caller{}, e.rates.Reset)
	after(0, 0)
}
