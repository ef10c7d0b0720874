package luaexec

import (
	"context"
	"time"

	lua "github.com/yuin/gopher-lua"
)

const (
	// ticksPerCheck is how many Lua instructions pass between two safe points.
	ticksPerCheck = 1000
	// depthMask: the depth of the stack is looked at every 16 instructions.
	depthMask = 15
	// callReserve are the frames left when "stack overflow" is thrown: for the
	// calls until the next look, and for error handlers.
	callReserve = 100
)

// ticker is the context that scripts run under that can loop. gopher-lua asks a
// context for Done before every instruction: that is the only hook it has, so
// Done counts. Scripts without a loop run without a context.
type ticker struct {
	main   *lua.LState
	caller Caller
	left   int
	below  int // open calls of those that resumed the running coroutine
	killed bool
	reason string // the error that a killed script ends with
	memory heapWatch
	closed chan struct{}
}

func newTicker(main *lua.LState, growth func(heap uint64) uint64) *ticker {
	t := &ticker{main: main, closed: make(chan struct{})}
	t.memory.allowed = growth
	close(t.closed)
	return t
}

func (t *ticker) start(c Caller) {
	t.caller, t.left, t.below, t.killed = c, ticksPerCheck, 0, false
	t.memory.start()
}

// Done returns a closed channel once the script is to be killed. From then on
// every instruction fails, so that a script's pcall cannot hold it up.
func (t *ticker) Done() <-chan struct{} {
	t.left--
	if t.left&depthMask == 0 {
		t.checkDepth()
		if t.memory.collected.Load() {
			t.left = 0
		}
	}
	if t.left > 0 {
		return nil
	}
	t.left = ticksPerCheck
	if t.dies(0) {
		return t.closed
	}
	return nil
}

// dies is the safe point. It reports whether the script is to end; from then on
// the next instruction comes here again.
func (t *ticker) dies(bytes int) bool {
	switch {
	case t.killed:
	case t.caller.Tick():
		t.killed, t.reason = true, errKilled
	case t.memory.exceeded(bytes):
		t.killed, t.reason = true, errMemory
	}
	if t.killed {
		t.left = 0
	}
	return t.killed
}

// watch is lualib's safe point within a long library call.
func (t *ticker) watch(L *lua.LState, bytes int) {
	if t.caller != nil && t.dies(bytes) {
		L.Error(lua.LString(t.reason), 0)
	}
}

// checkDepth throws before gopher-lua's call stack is full. A full one leaves no
// room for an error handler, and gopher-lua then walks it for a traceback in a
// time that grows with its square.
func (t *ticker) checkDepth() {
	L := t.main
	if running := L.G.CurrentThread; running != nil {
		L = running
	}
	open := topFrame(L).index()
	if open >= L.Options.CallStackSize-callReserve || t.below+open >= maxAllCalls {
		L.RaiseError(errStackOverflow)
	}
}

// Err is the reason Done's channel is closed.
func (t *ticker) Err() error { return context.Canceled }

// Deadline says that there is none.
func (t *ticker) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value has nothing for any key.
func (t *ticker) Value(any) any { return nil }
