package server

import (
	"testing"
	"testing/synctest"
)

func TestAWokenConnectionIsPendingUntilItsCommandsHaveRun(t *testing.T) {
	var pending pendingWakes
	pending.init()
	w := wake{pending: &pending}
	expect := func(state int32, count int) {
		t.Helper()
		if got := w.state.Load(); got != state || pending.count != count {
			t.Fatalf("state %d with %d pending, want %d with %d", got, pending.count, state, count)
		}
	}
	if w.begin() {
		t.Error("begin found a connection woken before set")
	}
	w.end()
	expect(asleep, 0)
	w.set()
	w.set()
	expect(woken, 1)
	if !w.isSet() || !w.begin() {
		t.Error("begin did not find the connection woken")
	}
	expect(running, 1)
	w.set() // while its commands run
	expect(wokenAgain, 1)
	w.end()
	expect(woken, 1)
	w.begin()
	w.end()
	expect(asleep, 0)
	w.set()
	w.abandon()
	expect(asleep, 0)
}

func TestSettleWaitsForTheWokenConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{}
		s.wakes.init()
		w := wake{pending: &s.wakes}
		w.set()
		settled := false
		go func() {
			s.Settle()
			settled = true
		}()
		synctest.Wait()
		if settled {
			t.Error("Settle returned before the commands of the connection had run")
		}
		w.begin()
		w.end()
		synctest.Wait()
		if !settled {
			t.Error("Settle did not return after the commands had run")
		}
	})
}
