package luaexec

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
)

const (
	maxThreadCalls = 1 << 14 // calls that a coroutine can nest, as in C Lua
	minThreadCalls = 1000    // the least, in a script that makes many coroutines
	threadRegs     = 256     // registers that a coroutine starts with
	// maxAllCalls is the number of calls that all running coroutines may have open
	// together. Coroutines, and metamethods in them, nest on Go's stack, which must
	// not overflow.
	//
	// Differs from Redis: it counts the calls of each coroutine alone.
	maxAllCalls = 120_000
)

// coroutineLibrary returns the global table coroutine. gopher-lua's create and
// resume do the switching. The checks before it, and their error messages, are
// C Lua's.
func (m *machine) coroutineLibrary() *lua.LTable {
	L := m.L
	lib := L.NewTable()
	open(L, lua.CoroutineLibName, lua.OpenCoroutine)
	original := mustLibrary(m.globals, lua.CoroutineLibName)
	m.coCreate = mustFunction(original, "create")
	m.coResume = mustFunction(original, "resume")
	for name, fn := range map[string]lua.LGFunction{
		"create":  m.createThread,
		"resume":  m.resumeThread,
		"wrap":    m.wrapThread,
		"yield":   m.yieldThread,
		"status":  m.threadStatus,
		"running": m.runningThread,
	} {
		lib.RawSetString(name, L.NewFunction(fn))
	}
	return lib
}

// createThread is coroutine.create. A coroutine's stack starts small and grows up
// to a bound. The bound costs memory, so it falls with the number of coroutines
// that the script has made.
func (m *machine) createThread(L *lua.LState) int {
	if f, ok := L.Get(1).(*lua.LFunction); !ok || f.IsG {
		lualib.ArgError(L, 1, "Lua function expected")
	}
	const many = 8
	saved := L.Options
	calls := callReserve + max(minThreadCalls, maxThreadCalls/(1+m.threads/many))
	m.threads++
	L.Options.CallStackSize = calls
	L.Options.MinimizeStackMemory = true
	L.Options.RegistrySize = threadRegs
	L.Options.RegistryGrowStep = 1024
	n := m.coCreate(L)
	L.Options = saved
	thread := L.Get(-1).(*lua.LState)
	thread.Options.CallStackSize = calls
	setFinished(thread, false)
	fieldsOf(thread).mainLoop = fieldsOf(L).mainLoop
	return n
}

// resumeThread is coroutine.resume.
func (m *machine) resumeThread(L *lua.LState) int {
	thread, ok := L.Get(1).(*lua.LState)
	if !ok {
		lualib.ArgError(L, 1, "coroutine expected")
	}
	if msg := m.unresumable(thread); msg != "" {
		return pushFailure(L, lua.LString(msg))
	}
	return m.resume(L, thread)
}

func (m *machine) resume(L *lua.LState, thread *lua.LState) int {
	if m.nesting > maxNesting {
		return pushFailure(L, lua.LString(lualib.ErrCStack))
	}
	if isFinished(thread) {
		return finishThread(L, thread)
	}
	if n := topFrame(thread).results(); n >= 0 {
		L.SetTop(1 + n)
	}
	m.nesting++
	m.active = append(m.active, thread)
	open := topFrame(L).Idx
	m.ticker.below += open
	n := m.coResume(L)
	m.ticker.below -= open
	m.active = m.active[:len(m.active)-1]
	m.nesting--
	if n == 2 && L.Get(-2) == lua.LFalse {
		m.explain(L)
	}
	return n
}

// explain replaces the error of a coroutine by C Lua's message for it.
func (m *machine) explain(L *lua.LState) {
	err := L.Get(-1)
	if err == lua.LString(goStackFull) {
		err = lua.LString(errStackOverflow)
	}
	m.checkPanic(err)
	L.Replace(-1, asCLua(err))
}

// unresumable is the error of resuming thread, "" if it can be resumed.
func (m *machine) unresumable(thread *lua.LState) string {
	if status := m.status(thread); status != "suspended" {
		return "cannot resume " + status + " coroutine"
	}
	return ""
}

func (m *machine) status(thread *lua.LState) string {
	if thread.Dead {
		return "dead"
	}
	for i, t := range m.active {
		if t != thread {
			continue
		}
		if i == len(m.active)-1 {
			return "running"
		}
		return "normal"
	}
	return "suspended"
}

// wrapThread is coroutine.wrap: it returns a function that resumes a coroutine
// and throws the coroutine's errors.
func (m *machine) wrapThread(L *lua.LState) int {
	m.createThread(L)
	thread := L.Get(-1).(*lua.LState)
	L.Push(L.NewFunction(func(L *lua.LState) int {
		if msg := m.unresumable(thread); msg != "" {
			lualib.Raise(L, msg)
		}
		L.Insert(thread, 1)
		n := m.resume(L, thread)
		if L.Get(-n) == lua.LTrue {
			return n - 1
		}
		v := L.Get(-1)
		if text, ok := lualib.AsString(v); ok {
			v = lua.LString(lualib.Position(L, 1) + text)
		}
		L.Error(v, 0)
		return 0
	}))
	return 1
}

// yieldThread is coroutine.yield. It throws if a Go function is open between the
// start of the coroutine and yield, as C Lua throws for a C function: such a
// function cannot be suspended.
func (m *machine) yieldThread(L *lua.LState) int {
	if L.Parent == nil {
		L.Error(lua.LString(errYield), 0)
	}
	caller := topFrame(L).Parent
	for f := caller; f != nil; f = f.Parent {
		if !f.isCall() {
			L.Error(lua.LString(errYield), 0)
		}
	}
	if caller.Idx == 0 && opcode(caller.instruction()) == lua.OP_TAILCALL {
		setFinished(L, true)
	}
	return -1
}

// setFinished marks a coroutine as suspended in "return yield()". The mark is in an
// option that gopher-lua reads only when it makes a state: a coroutine that a library
// keeps needs the mark in a later run.
func setFinished(thread *lua.LState, finished bool) { thread.Options.SkipOpenLibs = finished }

func isFinished(thread *lua.LState) bool { return thread.Options.SkipOpenLibs }

// finishThread resumes a coroutine that is suspended in "return yield()".
// gopher-lua has already dropped its only frame. The coroutine ends, and returns
// the values that resume was given.
func finishThread(L *lua.LState, thread *lua.LState) int {
	thread.Dead = true
	L.Replace(1, lua.LTrue)
	return L.GetTop()
}

func (m *machine) threadStatus(L *lua.LState) int {
	thread, ok := L.Get(1).(*lua.LState)
	if !ok {
		lualib.ArgError(L, 1, "coroutine expected")
	}
	L.Push(lua.LString(m.status(thread)))
	return 1
}

func (m *machine) runningThread(L *lua.LState) int {
	if len(m.active) == 0 {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(m.active[len(m.active)-1])
	return 1
}
