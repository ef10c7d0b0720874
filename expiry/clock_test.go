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
