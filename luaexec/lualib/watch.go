package lualib

import lua "github.com/yuin/gopher-lua"

// A library call is one instruction to the Lua machine, however long it takes
// and however much memory it asks for. So those calls that may take long pass a
// safe point of their own, where Limits.Watch is asked, and those that build
// something large say so there first.

const (
	// watchKey is Limits.Watch's place in the registry, which no script sees.
	watchKey = "lualib.watch"
	// watchedBytes is the size from which a string is announced to Limits.Watch.
	watchedBytes = 64 << 10
	// builtBytes is that size for a string that is built piece by piece.
	builtBytes = 1 << 20
	// watchedSteps is how many steps of a matcher, decoder or the like pass
	// between two safe points: a millisecond's worth, at most.
	watchedSteps = 1 << 13
	// valueBytes is about what a decoded value takes.
	valueBytes = 64
)

func setWatch(L *lua.LState, watch func(L *lua.LState, bytes int)) {
	if watch != nil {
		L.G.Registry.RawSetString(watchKey, &lua.LUserData{Value: watch})
	}
}

// Announce passes a safe point before bytes of memory are taken; below 64 KB it
// is none.
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

// steps counts the steps of a library call that may take long.
type steps int

// add counts n steps, each taking so many bytes, and passes safe points.
func (s *steps) add(L *lua.LState, n, bytes int) {
	if *s += steps(n); *s >= watchedSteps {
		safePoint(L, int(*s)*bytes)
		*s = 0
	}
}

// end passes a last one for what the steps that are left have taken, if that is
// much: a loop of such calls would pass none.
func (s *steps) end(L *lua.LState, bytes int) {
	Announce(L, int(*s)*bytes)
	*s = 0
}
