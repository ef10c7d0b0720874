package redistest

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPollEndsWhenDoneReturnsTrue(t *testing.T) {
	calls := 0
	if !Poll(time.Minute, func() bool { calls++; return calls == 3 }) || calls != 3 {
		t.Errorf("Poll has called done %d times", calls)
	}
}

func TestPollEndsAtItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if Poll(time.Minute, func() bool { return false }) {
			t.Error("done has returned true")
		}
		if took := time.Since(began); took < time.Minute || took > time.Minute+20*time.Millisecond {
			t.Errorf("Poll ends after %v", took)
		}
	})
}
