package engine

import (
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/command"
)

// holdBack runs a command of s and expects that CLIENT PAUSE holds it back.
func holdBack(t *testing.T, e *Engine, s *command.Session, list ...string) {
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
	holdBack(t, e, a, "SET", "k", "1")
	holdBack(t, e, b, "SET", "k", "2")
	holdBack(t, e, a, "SET", "k", "1") // more bytes arrived, so the connection runs it again
	holdBack(t, e, c, "SET", "k", "3")
	if n := e.pausing.Held(); n != 3 {
		t.Errorf("%d clients are held", n)
	}
	send(e, admin, "CLIENT", "UNPAUSE")
	if n := e.pausing.Held(); n != 3 {
		t.Errorf("%d clients are held after the pause, want 3", n)
	}
	for _, turn := range []struct {
		s     *command.Session
		tape  *tape
		value string
	}{{a, wokeA, "1"}, {b, wokeB, "2"}, {c, wokeC, "3"}} {
		if turn.tape.woken != 1 {
			t.Fatalf("the client of %s was woken %d times", turn.value, turn.tape.woken)
		}
		if turn.s.State() != command.Held {
			t.Fatalf("the client of %s is not held", turn.value)
		}
		expectReply(t, send(e, turn.s, "SET", "k", turn.value), "+OK\r\n")
	}
	if n := e.pausing.Held(); n != 0 {
		t.Errorf("%d clients are held", n)
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
	holdBack(t, e, a, "SET", "k", "1")
	holdBack(t, e, b, "SET", "k", "2")
	send(e, admin, "CLIENT", "UNPAUSE")
	send(e, admin, "CLIENT", "PAUSE", "100", "WRITE")
	holdBack(t, e, a, "SET", "k", "1")
	if wokeB.woken != 1 {
		t.Fatalf("b was woken %d times", wokeB.woken)
	}
	holdBack(t, e, b, "SET", "k", "2")
	clock.Advance(100 * time.Millisecond)
	e.Outside(e.EndDue)
	expectReply(t, send(e, a, "SET", "k", "1"), "+OK\r\n")
	expectReply(t, send(e, b, "SET", "k", "2"), "+OK\r\n")
	if wokeA.woken != 2 || wokeB.woken != 2 || e.pausing.Held() != 0 {
		t.Errorf("woken %d and %d times, %d held", wokeA.woken, wokeB.woken, e.pausing.Held())
	}
}

func TestWhenAHeldClientLeavesTheNextClientIsWoken(t *testing.T) {
	e, _ := newClocked(t)
	admin, _ := connect(e)
	a, _ := connect(e)
	b, wokeB := connect(e)
	send(e, admin, "CLIENT", "PAUSE", "100000")
	holdBack(t, e, a, "SET", "k", "1")
	holdBack(t, e, b, "SET", "k", "2")
	e.Do(&Caller{}, func() {
		e.env.Pausing.Unpause()
		e.Leave(a)
	})
	if wokeB.woken != 1 || e.pausing.Held() != 1 {
		t.Fatalf("b was woken %d times, %d are held", wokeB.woken, e.pausing.Held())
	}
}
