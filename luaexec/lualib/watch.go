package lualib

import lua "github.com/yuin/gopher-lua"

// A library call is a single instruction of the Lua machine, even if it runs long
// or allocates much memory. So a call that may run long passes safe points of its
// own: it calls Limits.Watch. A call that allocates a large string announces the
// length there first.

const (
	// watchKey is the key of Limits.Watch in the registry, which scripts cannot see.
	watchKey = "lualib.watch"
	// watchedBytes is the length from which a string is announced to Limits.Watch.
	watchedBytes = 64 << 10
	// builtBytes is the same length for a string that is built piece by piece.
	builtBytes = 1 << 20
	// watchedSteps is the number of steps, of a pattern matcher or a decoder for
	// example, between two safe points. They take a millisecond at most.
	watchedSteps = 1 << 13
	// valueBytes is the approximate memory of a decoded value.
	valueBytes = 64
)

func setWatch(L *lua.LState, watch func(L *lua.LState, bytes int)) {
	if watch != nil {
		L.G.Registry.RawSetString(watchKey, &lua.LUserData{Value: watch})
	}
}

// Announce passes a safe point before the given number of bytes is allocated. It
// does nothing below 64 KB.
func Announce(L *lua.LState, bytes int) {
	if bytes >= watchedBytes {
		safePoint(L, bytes)
	}
}

func safePoint(L *lua.LState, bytes int) {
	if ud, ok := L.G.Registry.RawGetString(watchKey).(*lua.LUserData); ok {
		ud.Value.(func(*lua.LState, int))(L, bytes)
	}
}

// steps is the number of steps since the last safe point of a library call.
type steps int

// add counts n steps, each of which allocates the given bytes. It passes a safe
// point every watchedSteps steps.
func (s *steps) add(L *lua.LState, n, bytes int) {
	if *s += steps(n); *s >= watchedSteps {
		safePoint(L, int(*s)*bytes)
		*s = 0
	}
}

// end ends the count. It announces the memory of the steps since the last safe
// point. Without it a loop of short calls would pass no safe point.
func (s *steps) end(L *lua.LState, bytes int) {
	Announce(L, int(*s)*bytes)
	*s = 0
}
