package luaexec

import (
	"context"
	"time"

	lua "github.com/yuin/gopher-lua"
)

const (
	// ticksPerCheck is the number of Lua instructions between two safe points.
	ticksPerCheck = 1000
	// depthMask makes the ticker check the depth of the stack every 16 instructions.
	depthMask = 15
	// callReserve is the number of frames that are free when "stack overflow" is
	// thrown: for calls until the next check, and for error handlers.
	callReserve = 100
)

// ticker counts instructions and passes safe points. It is the context.Context of
// every script that can loop. gopher-lua calls Done before each instruction, which
// is its only hook, so Done counts. Scripts that cannot loop run without a context.
type ticker struct {
	main   *lua.LState
	caller Caller
	left   int // instructions until the next safe point
	below  int // open calls of the coroutines that wait for the running one
	killed bool
	ending string // the error of a script that Caller.Tick kills
	reason string // the error that a killed script ends with
	memory heapWatch
	closed chan struct{} // always closed
}

func newTicker(main *lua.LState, growth func(heap uint64) uint64) *ticker {
	t := &ticker{main: main, ending: errKilled, closed: make(chan struct{})}
	t.memory.allowed = growth
	close(t.closed)
	return t
}

func (t *ticker) start(c Caller) {
	t.caller, t.left, t.below, t.killed = c, ticksPerCheck, 0, false
	t.memory.start()
}

// Done returns a closed channel when the script is killed, else nil. After that
// every instruction fails, so that a pcall in the script cannot go on.
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
	if t.safePoint(0) {
		return t.closed
	}
	return nil
}

// safePoint calls Caller.Tick and checks the heap, to which the script is about to
// add bytes. It reports whether the script is killed. After that every
// instruction passes a safe point.
func (t *ticker) safePoint(bytes int) (killed bool) {
	switch {
	case t.killed:
	case t.caller.Tick():
		t.killed, t.reason = true, t.ending
	case t.memory.exceeded(bytes):
		t.killed, t.reason = true, errMemory
	}
	if t.killed {
		t.left = 0
	}
	return t.killed
}

// watch is lualib.Limits.Watch: the safe point within a long library call.
func (t *ticker) watch(L *lua.LState, bytes int) {
	if t.caller != nil && t.safePoint(bytes) {
		L.Error(lua.LString(t.reason), 0)
	}
}

// checkDepth throws before gopher-lua's call stack is full. A full stack has no
// room for an error handler, and gopher-lua's traceback of it takes time that
// grows with the square of the depth.
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

// Err belongs to context.Context. It is called only when Done's channel is closed.
func (t *ticker) Err() error { return context.Canceled }

// Deadline belongs to context.Context: there is none.
func (t *ticker) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value belongs to context.Context: there are no values.
func (t *ticker) Value(any) any { return nil }
