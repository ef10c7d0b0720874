package lualib

import lua "github.com/yuin/gopher-lua"

// DefaultMaxString is the longest string, in bytes, that a library function
// builds when Limits.MaxString is zero: Redis's proto-max-bulk-len of 512 MB.
const DefaultMaxString = 512 << 20

// maxCStack is C Lua's LUAI_MAXCSTACK: a C function that needs more slots than
// this fails, which scripts see as "too many results to unpack" and the like.
const maxCStack = 8000

// ErrTooLarge is the sentence for a result above the limit. C Lua has none that
// a script could see: redis-server aborts when its allocator fails.
const ErrTooLarge = "resulting string too large"

// Limits bounds what one library call may do. The zero value is usable.
type Limits struct {
	// MaxString is the longest string in bytes that string.rep, table.concat,
	// string.format, gsub, cjson, cmsgpack and struct return; zero means
	// DefaultMaxString. A lower value protects a small machine, a higher one
	// lets a script build values that no command would accept.
	MaxString int
	// ReadOnly reports the tables that rawset, setmetatable and the table library
	// must not change; nil means there are none. These functions pass by the
	// metamethods with which a sandbox protects its tables.
	ReadOnly func(t *lua.LTable) bool
	// Nesting counts the calls from library functions into Lua that are under
	// way; share it with other functions that call back (pcall). At maxNesting the
	// next one throws "C stack overflow", as in C Lua. nil means a counter of the
	// libraries' own.
	Nesting *int
	// Watch is called by library functions that take long, about every
	// millisecond, and by those that are about to take bytes of memory in one
	// piece. It may throw. nil means that nobody watches.
	Watch func(L *lua.LState, bytes int)
}

// ErrCStack is C Lua's sentence for calls that are nested too deep.
const ErrCStack = "C stack overflow"

// maxNesting is C Lua's limit of 200 nested C calls, less those that Redis needs
// to get a script going.
const maxNesting = 198

// callLua is L.Call for library functions. Deeper nesting than C Lua's is refused
// because gopher-lua needs minutes to unwind from its own call limit then.
func (l Limits) callLua(L *lua.LState, nargs, nret int) {
	if *l.Nesting >= maxNesting {
		L.Error(lua.LString(ErrCStack), 0)
	}
	*l.Nesting++
	defer func() { *l.Nesting-- }()
	L.Call(nargs, nret)
}

func (l Limits) maxString() int {
	if l.MaxString <= 0 {
		return DefaultMaxString
	}
	return l.MaxString
}

// firstLimit is the limit of an Open function's optional argument.
func firstLimit(limits []Limits) int {
	if len(limits) == 0 {
		return DefaultMaxString
	}
	return limits[0].maxString()
}

// checkSize raises ErrTooLarge when n bytes are more than maxBytes.
func checkSize(L *lua.LState, n, maxBytes int) {
	if n > maxBytes {
		Raise(L, ErrTooLarge)
	}
	if n >= builtBytes {
		Announce(L, n)
	}
}

// growing is the announced part of a string that is built piece by piece.
type growing int

// to is checkSize for such a string, which is n bytes long now: each megabyte is
// announced once.
func (g *growing) to(L *lua.LState, n, maxBytes int) {
	if n > maxBytes {
		Raise(L, ErrTooLarge)
	}
	if more := n - int(*g); more >= builtBytes {
		*g = growing(n)
		Announce(L, more)
	}
}

// ErrReadOnly is Redis's sentence for a change of a protected table.
const ErrReadOnly = "Attempt to modify a readonly table"

// checkWritable throws ErrReadOnly, without a position as Redis does, when t
// must not be changed.
func (l Limits) checkWritable(L *lua.LState, t *lua.LTable) {
	if l.ReadOnly != nil && l.ReadOnly(t) {
		L.Error(lua.LString(ErrReadOnly), 0)
	}
}
