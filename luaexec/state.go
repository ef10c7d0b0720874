package luaexec

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
)

// C Lua's limits, as scripts run into them, and what they cost here.
const (
	maxLuaCalls = 20000   // LUAI_MAXCALLS, "stack overflow"
	registryMin = 4096    // registers a state starts with
	registryMax = 1 << 20 // registers it may grow to: 50 for each call
	registryAdd = 16384   // registers it grows by
)

// gopher-lua fills the array part of a table up to a new key below
// MaxArrayIndex, 1 GB for t[6e7] = 1. It is a variable of the whole process.
func init() { lua.MaxArrayIndex = 1 << 24 }

// machine is a Lua state with everything scripts see in it. It is dropped, and
// built anew, after a panic or a kill left it in the middle of something.
type machine struct {
	L       *lua.LState
	opts    Options
	globals *lua.LTable     // the environment of every function
	bound   map[string]bool // the "library.field" names in globals
	sandbox *sandbox

	keys, argv vector

	onError *lua.LFunction // notes where an error came from
	fault   fault

	caller Caller
	script *Script
	proto  int // what redis.setresp chose for this run
	ticker *ticker
	inCall bool // a command has not returned
	broken bool // something happened that the state may not have survived

	panicked bool // OnPanic was told, in this run

	scripts []*Script // those that have a function of this state

	args       [][]byte // redis.call's arguments, reused
	digits     []byte   // the digits of its numbers
	text       []byte   // the text of a concatenation
	values     *slab
	nesting    int   // protected calls and coroutines inside each other
	bases      []int // the first register of each pcall, innermost last
	unwind     *lua.LFunction
	stringMeta *lua.LTable // what getmetatable("") answers

	sources            map[string]string    // chunk names of loadstring by how messages show them
	active             []*lua.LState        // running coroutines, innermost last
	elems              int                  // of the reply so far
	replyBytes         int                  // of its strings
	taken              int                  // of commands' replies, not announced yet
	finished           map[*lua.LState]bool // coroutines that return what they are resumed with
	threads            int                  // coroutines made in this run
	coCreate, coResume lua.LGFunction
}

func newMachine(opts Options) *machine {
	L := lua.NewState(lua.Options{
		CallStackSize:    maxLuaCalls + callReserve,
		RegistrySize:     registryMin,
		RegistryMaxSize:  registryMax,
		RegistryGrowStep: registryAdd,
		SkipOpenLibs:     true,
	})
	m := &machine{L: L, opts: opts, values: newSlab(), ticker: newTicker(L, opts.growth), bound: make(map[string]bool)}
	m.globals = L.Get(lua.GlobalsIndex).(*lua.LTable)
	m.openLibraries()
	m.onError = L.NewFunction(m.noteFault)
	m.unwind = L.NewFunction(m.unwindUpvalues)
	return m
}

// openLibraries fills the environment: gopher-lua's libraries with lualib's
// corrections, Redis's own, this package's, and at last the sandbox over all.
func (m *machine) openLibraries() {
	L, limits := m.L, lualib.Limits{MaxString: m.opts.MaxString, Watch: m.ticker.watch}
	open(L, lua.BaseLibName, lua.OpenBase)
	open(L, lua.TabLibName, lua.OpenTable)
	open(L, lua.StringLibName, lua.OpenString)
	open(L, lua.MathLibName, lua.OpenMath)
	lualib.Patch(L, limits)
	m.globals.RawSetString("cjson", lualib.OpenCJSON(L, limits))
	m.globals.RawSetString("cmsgpack", lualib.OpenCMsgpack(L, limits))
	m.globals.RawSetString("struct", lualib.OpenStruct(L, limits))
	m.globals.RawSetString("bit", lualib.OpenBit(L))
	m.globals.RawSetString("redis", m.redisLibrary())
	m.globals.RawSetString("coroutine", m.coroutineLibrary())
	m.openBase()
	newSandbox(m)
}

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

func (m *machine) isBound(name string) bool { return m.bound[name] }
