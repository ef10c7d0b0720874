package expiry

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAManualClockFiresATimerWhenItsTimeComes(t *testing.T) {
	start := time.UnixMilli(1000)
	clock := NewManual(start)
	timer := clock.NewTimer()
	timer.Reset(start.Add(10 * time.Millisecond))
	clock.Advance(9 * time.Millisecond)
	select {
	case <-timer.C():
		t.Fatal("the timer fired before its time")
	default:
	}
	clock.Advance(time.Millisecond)
	if at := <-timer.C(); !at.Equal(start.Add(10 * time.Millisecond)) {
		t.Fatalf("the timer fired at %v", at)
	}
}

func TestAManualClockFiresATimerForAPastTimeAtOnce(t *testing.T) {
	clock := NewManual(time.UnixMilli(1000))
	timer := clock.NewTimer()
	timer.Reset(time.UnixMilli(1))
	<-timer.C()
}

func TestAManualClockDoesNotFireAStoppedTimer(t *testing.T) {
	clock := NewManual(time.UnixMilli(1000))
	timer := clock.NewTimer()
	timer.Reset(time.UnixMilli(1001))
	timer.Stop()
	clock.Advance(time.Second)
	select {
	case <-timer.C():
		t.Fatal("a stopped timer fired")
	default:
	}
}

func TestAManualClockNeverGoesBack(t *testing.T) {
	clock := NewManual(time.UnixMilli(1000))
	clock.Set(time.UnixMilli(500))
	if now := clock.Now(); now.UnixMilli() != 1000 {
		t.Fatalf("the clock reads %v", now)
	}
}

func TestANewTimerOfTheSystemClockIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timer := System().NewTimer()
		time.Sleep(24 * time.Hour)
		select {
		case <-timer.C():
			t.Fatal("a timer that was never armed fired")
		default:
		}
	})
}

func TestTheSystemClockFiresATimer(t *testing.T) {
	timer := System().NewTimer()
	timer.Reset(time.Now())
	<-timer.C()
	timer.Stop()
}

func TestSetBackMovesAManualClockIntoThePast(t *testing.T) {
	clock := NewManual(time.UnixMilli(1000))
	timer := clock.NewTimer()
	timer.Reset(time.UnixMilli(1001))
	clock.SetBack(time.UnixMilli(500))
	if now := clock.Now(); now.UnixMilli() != 500 {
		t.Fatalf("the clock reads %v", now)
	}
	select {
	case <-timer.C():
		t.Fatal("the timer fired before its time")
	default:
	}
	clock.Set(time.UnixMilli(1001))
	<-timer.C()
}

func TestATurnedClockGoesOnFromWhereItWasPut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		clock := Turn(System())
		timer := clock.NewTimer()
		clock.Shift(time.Hour)
		time.Sleep(time.Second)
		if now := clock.Now(); now.Sub(start) != time.Hour+time.Second {
			t.Fatalf("the clock reads %v", now.Sub(start))
		}
		if real := clock.Real(); real.Sub(start) != time.Second {
			t.Fatalf("the clients' clock reads %v", real.Sub(start))
		}
		timer.Reset(start.Add(time.Hour + 3*time.Second))
		if at := <-timer.C(); at.Sub(start) != 3*time.Second {
			t.Fatalf("the timer fired after %v", at.Sub(start))
		}
		clock.Shift(-time.Hour)
		if now := clock.Now(); now.Sub(start) != 3*time.Second {
			t.Fatalf("the clock reads %v", now.Sub(start))
		}
	})
}

func TestATurnDoesNotChangeWhatAStopwatchMeasures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := Turn(System())
		start := clock.Now()
		clock.Shift(time.Hour)
		time.Sleep(time.Second)
		if took := clock.(Stopwatch).Since(start); took != time.Second {
			t.Fatalf("%v", took)
		}
	})
}

func TestAManualClockIsTurnable(t *testing.T) {
	manual := NewManual(time.UnixMilli(1000))
	clock := Turn(manual)
	clock.Shift(500 * time.Millisecond)
	clock.Shift(-time.Second)
	if now := manual.Now(); now.UnixMilli() != 500 {
		t.Fatalf("the clock reads %v", now)
	}
}
