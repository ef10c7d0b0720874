package rlock

import (
	"testing"
	"time"
	"unsafe"
)

// afterSuspend returns t as a clock reads it after the machine was suspended for d: the
// wall clock is later, the monotonic clock is not.
func afterSuspend(t time.Time, d time.Duration) time.Time {
	const secondsShift = 30 // in time.Time.wall, if the time has a monotonic reading
	*(*uint64)(unsafe.Pointer(&t)) += uint64(d/time.Second) << secondsShift
	return t
}

func TestALeaseEndsWhileTheMachineIsSuspended(t *testing.T) {
	now := time.Now()
	later := afterSuspend(now, time.Minute)
	if later.Sub(now) != 0 || later.Round(0).Sub(now.Round(0)) != time.Minute {
		t.Skip("time.Time has another layout")
	}
	for length, want := range map[time.Duration]bool{30 * time.Second: true, time.Hour: false} {
		l := &lease{length: length, pos: -1}
		l.restart(now)
		if l.over(now) {
			t.Errorf("a new lease of %v is over", length)
		}
		if l.over(later) != want {
			t.Errorf("a lease of %v is over after a minute: %v", length, !want)
		}
		endless := &lease{endless: true, pos: -1}
		endless.restart(now)
		if endless.over(later) {
			t.Error("a hold without a lease is over")
		}
	}
}

func TestAllLeasesThatEndedWhileSuspendedAreTaken(t *testing.T) {
	w := newWatchdog(&Client{})
	now := time.Now()
	for i, length := range []time.Duration{time.Hour, 30 * time.Second, 45 * time.Second, 2 * time.Hour} {
		l := &lease{length: length, watched: i%2 == 0}
		l.restart(now)
		w.queue.Push(l)
	}
	if lost := w.takeSuspended(now); len(lost) != 0 {
		t.Errorf("%d leases are lost at once", len(lost))
	}
	if lost := w.takeSuspended(afterSuspend(now, time.Minute)); len(lost) != 2 || len(w.queue) != 2 {
		t.Errorf("%d leases are lost, %d are left, not 2 and 2", len(lost), len(w.queue))
	}
}
