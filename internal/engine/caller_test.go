package engine

import (
	"runtime"
	"testing"
	"time"
)

func TestAnIdleEngineKeepsNoClientThatHasGone(t *testing.T) {
	e, _ := newClocked(t)
	loop, other := &Caller{}, &Caller{}
	gone := make(chan struct{})
	func() {
		s, _ := connect(e)
		runtime.AddCleanup(s, func(c chan struct{}) { close(c) }, gone)
		send(e, s, "EVAL", "return 1", "0")
		send(e, s, "SET", "k", "v")
		e.Run(loop, s, &sourceOf{})
		e.Do(other, func() { e.LeaveUnread(s, &sourceOf{}) })
	}()
	for deadline := time.After(10 * time.Second); ; {
		runtime.GC()
		select {
		case <-gone:
			runtime.KeepAlive(loop)
			runtime.KeepAlive(other)
			return
		case <-deadline:
			t.Fatal("the session of a client that has left is still in use")
		case <-time.After(time.Millisecond):
		}
	}
}
