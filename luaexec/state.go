package luaexec

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
)

// Limits of C Lua that scripts can reach, and the registers that they need here.
const (
	maxLuaCalls = 20000   // LUAI_MAXCALLS, "stack overflow"
	registryMin = 4096    // registers a state starts with
	registryMax = 1 << 20 // registers that a state can grow to: 50 for each call
	registryAdd = 16384   // registers that a state grows by
)

// gopher-lua fills the array part of a table up to a new key if the key is below
// MaxArrayIndex. By default t[6e7] = 1 would allocate 1 GB. MaxArrayIndex is a
// variable of the whole process.
func init() { lua.MaxArrayIndex = 1 << 24 }

// machine is a Lua state and its environment. The runtime drops it after a panic or
// a kill, which may leave it inconsistent, and builds a new one.
type machine struct {
	L       *lua.LState
	opts    Options
	globals *lua.LTable // the environment of every function
	sandbox *sandbox

	names    names        // of globals
	numbered []lua.LValue // the values of the names by number; nil, or beyond the end: see globals

	keys, argv vector

	slow     operatorFunctions
	original loop // gopher-lua's
	plain    loop // loop
	counting loop // countingLoop

	redisCall *lua.LFunction // call

	onError *lua.LFunction // noteFault
	fault   fault          // the place of the error that ends the script

	chunk  string // scriptName or libraryName
	name   string // of the running script or function, in errors
	proto  int    // RESP version of command replies: 2, or set by redis.setresp
	ticker ticker
	inCall bool // a command is running, or has panicked
	broken bool // the state may be inconsistent

	panicked bool // OnPanic was called in this run

	args       [][]byte // redis.call's arguments, reused
	digits     []byte   // the texts of number arguments, reused
	text       []byte   // the result of a concatenation, reused
	values     *slab
	nesting    int            // nested protected calls and coroutines
	bases      []int          // the first register of each pcall, innermost last
	unwind     *lua.LFunction // unwindUpvalues
	stringMeta *lua.LTable    // getmetatable's answer for a string

	sources    map[string]string // by chunkID, the name given to loadstring
	active     []*lua.LState     // running coroutines, innermost last
	visited    *lua.LTable       // the table of the last next, nil if there was none
	visitedKey lua.LValue        // the key that it returned
	elems      int               // elements of the script's reply so far
	replyBytes int               // bytes of the strings of the reply so far
	taken      int               // bytes of replies that no safe point has counted
	threads    int               // coroutines that this run has made

	coCreate, coResume lua.LGFunction // gopher-lua's coroutine functions

	loading *loading         // nil unless the code of a library runs
	loadEnv *loadEnvironment // nil in the state of scripts
}

// newMachine builds a Lua state for scripts, or for libraries of functions: chunk is
// scriptName or libraryName. random is the sequence of math.random.
func newMachine(chunk string, opts Options, random *lualib.Random) *machine {
	L := lua.NewState(lua.Options{
		CallStackSize:    maxLuaCalls + callReserve,
		RegistrySize:     registryMin,
		RegistryMaxSize:  registryMax,
		RegistryGrowStep: registryAdd,
		SkipOpenLibs:     true,
	})
	m := &machine{
		L: L, chunk: chunk, opts: opts, values: newSlab(),
	}
	m.ticker.init(L, opts.growth)
	m.installLoop()
	m.globals = L.Get(lua.GlobalsIndex).(*lua.LTable)
	m.openLibraries(random)
	m.onError = L.NewFunction(m.noteFault)
	m.unwind = L.NewFunction(m.unwindUpvalues)
	return m
}

// openLibraries fills the environment: gopher-lua's libraries with lualib's
// corrections, Redis's libraries, this package's functions, and then the sandbox
// around all of them.
func (m *machine) openLibraries(random *lualib.Random) {
	L, limits := m.L, lualib.Limits{MaxString: m.opts.MaxString, Watch: m.ticker.watch}
	open(L, lua.BaseLibName, lua.OpenBase)
	open(L, lua.TabLibName, lua.OpenTable)
	open(L, lua.StringLibName, lua.OpenString)
	open(L, lua.MathLibName, lua.OpenMath)
	lualib.Patch(L, limits)
	lualib.SetRandom(L, random)
	m.globals.RawSetString("cjson", lualib.OpenCJSON(L, limits))
	m.globals.RawSetString("cmsgpack", lualib.OpenCMsgpack(L, limits))
	m.globals.RawSetString("struct", lualib.OpenStruct(L, limits))
	m.globals.RawSetString("bit", lualib.OpenBit(L))
	m.globals.RawSetString("redis", m.redisLibrary())
	m.globals.RawSetString("coroutine", m.coroutineLibrary())
	m.openBase()
	newSandbox(m)
}

// open opens a library of gopher-lua.
func open(L *lua.LState, name string, lib lua.LGFunction) {
	L.Push(L.NewFunction(lib))
	L.Push(lua.LString(name))
	L.Call(1, 0)
}

// table returns a Lua table of Go functions.
func table(L *lua.LState, functions map[string]lua.LGFunction) *lua.LTable {
	t := L.CreateTable(0, len(functions))
	for name, fn := range functions {
		t.RawSetString(name, L.NewFunction(fn))
	}
	return t
}
