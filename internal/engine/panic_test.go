package engine

import (
	"runtime"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/command"
)

func TestAUnitThatPanicsReleasesTheLock(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	bystander, _ := connect(e)
	e.Do(&Caller{}, func() { panic("broken") })
	if s.State() != command.Ready || bystander.State() != command.Ready {
		t.Fatal("a unit without a client closed a connection")
	}
	e.Do(&Caller{}, func() {
		e.Execute(s, [][]byte{[]byte("PING")})
		panic("broken after a command")
	})
	if s.State() != command.Failed || bystander.State() != command.Ready {
		t.Fatal("want the connection of the unit closed, and no other")
	}
	expectReply(t, send(e, bystander, "PING"), "+PONG\r\n")
	if e.env.Stats.Unexpected != 2 {
		t.Fatal(e.env.Stats.Unexpected)
	}
}

// badEvents panics for every event.
type badEvents struct{ command.Events }

func (badEvents) Notify(command.Class, string, int, string) { panic("broken") }

func TestTheTimerTriesAgainAWhileAfterAPanic(t *testing.T) {
	e, clock := newClocked(t)
	s, _ := connect(e)
	send(e, s, "SET", "a", "x", "PX", "10")
	send(e, s, "SET", "b", "x", "PX", "10")
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
		t.Fatalf("%d keys are left, want 1: the second key's expiry is tried later", n)
	}
	clock.Advance(retryAfter * time.Millisecond)
	for keys() == 1 {
		runtime.Gosched()
	}
}

// panickyConn is a connection that panics at each write.
type panickyConn struct{ discardConn }

func (*panickyConn) Write([]byte) bool { panic("broken") }

func TestAWaiterIsServedThoughTheUnitOfThePushPanics(t *testing.T) {
	e, _ := newClocked(t)
	waiter, served := connect(e)
	pusher, _ := connect(e)
	send(e, waiter, "BLPOP", "list", "0")
	pusher.Conn = &panickyConn{} // panics when the reply is queued
	e.Do(&Caller{}, func() { e.Execute(pusher, words("RPUSH", "list", "x")) })
	if pusher.State() != command.Failed {
		t.Errorf("the pusher is in state %d, want its connection closed", pusher.State())
	}
	expectReply(t, served.take(), "*2\r\n$4\r\nlist\r\n$1\r\nx\r\n")
}

func TestAPanicWhileAMessageIsDeliveredClosesOnlyTheSubscriber(t *testing.T) {
	e, _ := newClocked(t)
	publisher, _ := connect(e)
	subscriber, _ := connect(e)
	other, heard := connect(e)
	send(e, subscriber, "SUBSCRIBE", "c")
	send(e, other, "SUBSCRIBE", "c")
	subscriber.Conn = &panickyConn{}
	expectReply(t, send(e, publisher, "PUBLISH", "c", "m"), ":2\r\n")
	if subscriber.State() != command.Failed || publisher.State() != command.Ready {
		t.Errorf("subscriber in state %d, publisher in %d", subscriber.State(), publisher.State())
	}
	expectReply(t, heard.take(), "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n")
}
