package retry

import (
	"testing"
	"time"
)

func TestBackoffIs0ThenDoublesFrom20MsTo1SAndAddsAtMostAQuarter(t *testing.T) {
	for i, want := range []time.Duration{0, 20, 40, 80, 160, 320, 640, 1000, 1000, 1000} {
		want *= time.Millisecond
		for range 20 {
			if got := Backoff(i + 1); got < want || got > want+want/4 {
				t.Errorf("Backoff(%d) is %v", i+1, got)
			}
		}
	}
}
