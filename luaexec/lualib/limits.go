package lualib

import lua "github.com/yuin/gopher-lua"

// DefaultMaxString is the length in bytes of the longest string that a library
// function builds if Limits.MaxString is zero: Redis's proto-max-bulk-len, 512 MB.
const DefaultMaxString = 512 << 20

// maxCStack is C Lua's LUAI_MAXCSTACK. A C function that needs more slots fails;
// scripts see errors such as "too many results to unpack".
const maxCStack = 8000

// ErrTooLarge is the error of a result above Limits.MaxString. C Lua has no such
// error: redis-server aborts when its allocator fails.
const ErrTooLarge = "resulting string too large"

// Limits limits the memory, nesting and time of library calls. The zero value has
// the default limits.
type Limits struct {
	// MaxString is the length in bytes of the longest string that string.rep,
	// table.concat, string.format, gsub, cjson, cmsgpack and struct return; zero
	// means DefaultMaxString. A lower value protects a small machine. With a higher
	// value scripts can build strings that no command accepts.
	MaxString int
	// Watch is a safe point. A library function that takes long calls it about
	// every millisecond, with the bytes allocated since. A function that is about
	// to allocate a large string calls it with the length. It may throw. nil means
	// that there are no safe points.
	Watch func(L *lua.LState, bytes int)

	nesting *int // open calls from library functions into Lua
}

// ErrCStack is C Lua's error for C calls that are nested too deep.
const ErrCStack = "C stack overflow"

// maxNesting is C Lua's limit of 200 nested C calls (LUAI_MAXCCALLS), less the
// calls that Redis needs to start a script.
const maxNesting = 198

// callLua is L.Call for library functions. It throws ErrCStack when calls are nested
// deeper than in C Lua: gopher-lua's own limit is so deep that it needs minutes to unwind.
func (l Limits) callLua(L *lua.LState, nargs, nret int) {
	if *l.nesting >= maxNesting {
		L.Error(lua.LString(ErrCStack), 0)
	}
	*l.nesting++
	defer func() { *l.nesting-- }()
	L.Call(nargs, nret)
}

func (l Limits) maxString() int {
	if l.MaxString <= 0 {
		return DefaultMaxString
	}
	return l.MaxString
}

// optionalMaxString is the maximum string length of an Open function's optional
// argument.
func optionalMaxString(limits []Limits) int {
	if len(limits) == 0 {
		return DefaultMaxString
	}
	return limits[0].maxString()
}

// checkSize throws ErrTooLarge if n, a length in bytes, is above maxBytes. It
// announces a large n.
func checkSize(L *lua.LState, n, maxBytes int) {
	if n > maxBytes {
		Raise(L, ErrTooLarge)
	}
	if n >= builtBytes {
		Announce(L, n)
	}
}

// growth checks the size of a string that is built piece by piece. Its value is the
// number of bytes that were announced.
type growth int

// check is checkSize for a string that now has n bytes. It announces each megabyte
// once.
func (g *growth) check(L *lua.LState, n, maxBytes int) {
	if n > maxBytes {
		Raise(L, ErrTooLarge)
	}
	if more := n - int(*g); more >= builtBytes {
		*g = growth(n)
		Announce(L, more)
	}
}

// ErrReadOnly is Redis's error for a change of a read-only table.
const ErrReadOnly = "Attempt to modify a readonly table"
