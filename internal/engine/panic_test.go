package engine

import (
	"runtime"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/command"
)

func TestAUnitThatPanicsGivesTheLockBack(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := join(e)
	bystander, _ := join(e)
	e.Do(&Caller{}, func() { panic("broken") })
	if s.State() != command.Ready || bystander.State() != command.Ready {
		t.Fatal("a client was made to pay")
	}
	e.Do(&Caller{}, func() {
		e.Execute(s, [][]byte{[]byte("PING")})
		panic("broken after a command")
	})
	if s.State() != command.Closing || bystander.State() != command.Ready {
		t.Fatal("the connection whose unit it was is to be closed, and no other")
	}
	expectReply(t, do(e, bystander, "PING"), "+PONG\r\n")
	if e.env.Stats.Unexpected != 2 {
		t.Fatal(e.env.Stats.Unexpected)
	}
}

// badEvents panics whatever there is to announce.
type badEvents struct{ command.Events }

func (badEvents) Notify(command.Class, string, int, string) { panic("broken") }

func TestTheTimerGoesOnAWhileAfterItPanicked(t *testing.T) {
	e, clock := newClocked(t)
	s, _ := join(e)
	do(e, s, "SET", "a", "x", "PX", "10")
	do(e, s, "SET", "b", "x", "PX", "10")
	e.env.Events = badEvents{}
	keys := func() (n int) {
		e.Do(&Caller{background: true}, func() { n = e.env.Space.DB(0).Len() })
		return n
	}
	clock.Set(epoch.Add(10 * time.Millisecond))
	for keys() == 2 {
		runtime.Gosched()
	}
	if n := keys(); n != 1 {
		t.Fatalf("%d keys, want the one that is tried later", n)
	}
	clock.Advance(retryAfter * time.Millisecond)
	for keys() == 1 {
		runtime.Gosched()
	}
}
