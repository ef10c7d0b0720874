package luaexec

import lua "github.com/yuin/gopher-lua"

const (
	// ticksPerCheck is the number of ticks between two checks by Host.Tick. A tick is a round
	// of a loop, a call, or in long code an instruction.
	ticksPerCheck = 500
	// ticksPerPause is the number of ticks between two checks of the stack's depth.
	ticksPerPause = 16
	// callReserve is the number of frames that are free when "stack overflow" is
	// thrown: for calls until the next check, and for error handlers.
	callReserve = 100
)

// ticker counts the ticks of scripts that can loop, and passes safe points.
type ticker struct {
	main   *lua.LState
	host   Host // of the run; nil: nothing runs
	soon   int  // ticks until the next pause
	left   int  // ticks from there to the next safe point, a multiple of ticksPerPause
	below  int  // open calls of the coroutines that wait for the running one
	killed bool
	ending string // the error of a script that Host.Tick kills
	reason string // the error that a killed script ends with
	memory heapWatch

	ops   *operations       // of the running code: one of paces
	paces [paces]operations // by pace and opcode
	least pace              // what setPace sets at least
}

// setPace sets the pace of the running code.
func (t *ticker) setPace(p pace) { t.ops = &t.paces[max(p, t.least)] }

func (t *ticker) init(main *lua.LState, growth func(heap uint64) uint64) {
	t.main, t.ending, t.memory.allowed = main, errKilled, growth
}

func (t *ticker) start(h Host) {
	t.host, t.below, t.killed = h, 0, false
	t.memory.start()
}

// rest starts the count to the next safe point.
func (t *ticker) rest() {
	t.soon = ticksPerCheck % ticksPerPause
	t.left = ticksPerCheck - t.soon
}

// count counts a tick.
func (t *ticker) count(L *lua.LState) {
	if t.soon--; t.soon <= 0 {
		t.pause(L)
	}
}

// rush makes the next tick pass a safe point.
func (t *ticker) rush() { t.soon, t.left = 1, 0 }

// pause checks the depth of the stack, and passes a safe point when it is time or there was a
// garbage collection. If the script is killed, it throws now and before every later
// instruction, so that a pcall in the script cannot continue.
func (t *ticker) pause(L *lua.LState) {
	if !t.killed {
		t.checkDepth()
	}
	if t.left > 0 && !t.memory.collected.Load() {
		t.soon = ticksPerPause
		t.left -= ticksPerPause
		return
	}
	t.rest()
	if t.safePoint(0) {
		L.RaiseError("%s", t.reason)
	}
}

// safePoint calls Host.Tick and checks the heap, to which the script is about to
// add bytes. It reports whether the script is killed. After that every
// instruction passes a safe point.
func (t *ticker) safePoint(bytes int) (killed bool) {
	switch {
	case t.killed:
	case t.host.Tick():
		t.killed, t.reason = true, t.ending
	case t.memory.exceeded(bytes):
		t.killed, t.reason = true, errMemory
	}
	if t.killed {
		t.setPace(long)
		t.rush()
	}
	return t.killed
}

// watch is lualib.Limits.Watch: the safe point within a long library call.
func (t *ticker) watch(L *lua.LState, bytes int) {
	if t.host != nil && t.safePoint(bytes) {
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
	open := topFrame(L).Idx
	if open >= L.Options.CallStackSize-callReserve || t.below+open >= maxAllCalls {
		L.RaiseError(errStackOverflow)
	}
}
