package engine

import (
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/command"
)

// postpone runs a command of s and expects that CLIENT PAUSE postpones it.
func postpone(t *testing.T, e *Engine, s *command.Session, list ...string) {
	t.Helper()
	ran := true
	e.Do(&Caller{}, func() { ran = e.Execute(s, words(list...)) })
	if ran {
		t.Fatalf("%q ran", list)
	}
}

func TestAHeldClientThatSendsMoreKeepsItsTurn(t *testing.T) {
	e, _ := newClocked(t)
	admin, _ := connect(e)
	a, wokeA := connect(e)
	b, wokeB := connect(e)
	c, wokeC := connect(e)
	send(e, admin, "CLIENT", "PAUSE", "100000", "WRITE")
	postpone(t, e, a, "SET", "k", "1")
	postpone(t, e, b, "SET", "k", "2")
	postpone(t, e, a, "SET", "k", "1") // more bytes arrived, so the connection runs it again
	postpone(t, e, c, "SET", "k", "3")
	if n := e.pausing.Postponed(); n != 3 {
		t.Errorf("%d clients are postponed", n)
	}
	send(e, admin, "CLIENT", "UNPAUSE")
	if n := e.pausing.Postponed(); n != 3 {
		t.Errorf("%d clients are postponed after the pause, want 3", n)
	}
	for _, turn := range []struct {
		s     *command.Session
		tape  *tape
		value string
	}{{a, wokeA, "1"}, {b, wokeB, "2"}, {c, wokeC, "3"}} {
		if turn.tape.woken != 1 {
			t.Fatalf("the client of %s was woken %d times", turn.value, turn.tape.woken)
		}
		if turn.s.State() != command.Postponed {
			t.Fatalf("the client of %s is not postponed", turn.value)
		}
		expectReply(t, send(e, turn.s, "SET", "k", turn.value), "+OK\r\n")
	}
	if n := e.pausing.Postponed(); n != 0 {
		t.Errorf("%d clients are postponed", n)
	}
	if wokeA.woken+wokeB.woken+wokeC.woken != 3 {
		t.Error("a client was woken twice")
	}
}

func TestAClientWokenForItsTurnWaitsForTheEndOfANewPause(t *testing.T) {
	e, clock := newClocked(t)
	admin, _ := connect(e)
	a, wokeA := connect(e)
	b, wokeB := connect(e)
	send(e, admin, "CLIENT", "PAUSE", "100", "WRITE")
	postpone(t, e, a, "SET", "k", "1")
	postpone(t, e, b, "SET", "k", "2")
	send(e, admin, "CLIENT", "UNPAUSE")
	send(e, admin, "CLIENT", "PAUSE", "100", "WRITE")
	postpone(t, e, a, "SET", "k", "1")
	if wokeB.woken != 1 {
		t.Fatalf("b was woken %d times", wokeB.woken)
	}
	postpone(t, e, b, "SET", "k", "2")
	clock.Advance(100 * time.Millisecond)
	e.Outside(e.EndDue)
	expectReply(t, send(e, a, "SET", "k", "1"), "+OK\r\n")
	expectReply(t, send(e, b, "SET", "k", "2"), "+OK\r\n")
	if wokeA.woken != 2 || wokeB.woken != 2 || e.pausing.Postponed() != 0 {
		t.Errorf("woken %d and %d times, %d postponed", wokeA.woken, wokeB.woken, e.pausing.Postponed())
	}
}

func TestWhenAHeldClientLeavesTheNextClientIsWoken(t *testing.T) {
	e, _ := newClocked(t)
	admin, _ := connect(e)
	a, _ := connect(e)
	b, wokeB := connect(e)
	send(e, admin, "CLIENT", "PAUSE", "100000")
	postpone(t, e, a, "SET", "k", "1")
	postpone(t, e, b, "SET", "k", "2")
	e.Do(&Caller{}, func() {
		e.env.Pausing.Unpause()
		e.Leave(a)
	})
	if wokeB.woken != 1 || e.pausing.Postponed() != 1 {
		t.Fatalf("b was woken %d times, %d are postponed", wokeB.woken, e.pausing.Postponed())
	}
}
