package lualib

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// newState is a state with the libraries that luaexec opens.
func newState(t testing.TB) *lua.LState {
	L := lua.NewState(lua.Options{
		SkipOpenLibs: true, RegistrySize: 1 << 14, RegistryMaxSize: 1 << 20, CallStackSize: 1000,
	})
	t.Cleanup(L.Close)
	for _, open := range []lua.LGFunction{
		lua.OpenBase, lua.OpenString, lua.OpenTable, lua.OpenMath, lua.OpenCoroutine,
	} {
		L.Push(L.NewFunction(open))
		L.Call(0, 0)
	}
	Patch(L, Limits{MaxString: 64 << 20})
	L.SetGlobal("cjson", OpenCJSON(L))
	L.SetGlobal("struct", OpenStruct(L))
	L.SetGlobal("bit", OpenBit(L))
	L.SetGlobal("cmsgpack", OpenCMsgpack(L))
	return L
}

// evalHere runs code as a chunk named t and renders its results.
func evalHere(L *lua.LState, code string) string {
	fn, err := L.Load(strings.NewReader(code), "t")
	if err != nil {
		return "does not compile"
	}
	top := L.GetTop()
	L.Push(fn)
	if err := L.PCall(0, lua.MultRet, nil); err != nil {
		return "error: " + render(err.(*lua.ApiError).Object, 0)
	}
	parts := []string{}
	for i := top + 1; i <= L.GetTop(); i++ {
		parts = append(parts, render(L.Get(i), 0))
	}
	L.SetTop(top)
	return strings.Join(parts, " ")
}

// renderLua is evalHere in Lua, for redis-server: it runs ARGV[1] and renders the
// results.
const renderLua = `
local function quote(s)
  local function hex(c) return string.format('\\x%02x', string.byte(c)) end
  local escaped = string.gsub(s, '[^%w%p ]', hex)
  return '"' .. escaped:gsub('"', '\\x22') .. '"'
end
local function render(v, d)
  local t = type(v)
  if t == 'number' then return string.format('%.17g', v) end
  if t == 'string' then return quote(v) end
  if t == 'nil' or t == 'boolean' then return tostring(v) end
  if t ~= 'table' then return t end
  if d > 20 then return 'deep' end
  local parts = {}
  for k, x in pairs(v) do
    parts[#parts + 1] = render(k, d + 1) .. '=' .. render(x, d + 1)
  end
  table.sort(parts)
  return '{' .. table.concat(parts, ' ') .. '}'
end
local f, err = loadstring(ARGV[1], '=t')
if not f then return 'does not compile' end
local function pack(...) return {n = select('#', ...), ...} end
local r = pack(pcall(f))
if not r[1] then return 'error: ' .. render(r[2], 0) end
local parts = {}
for i = 2, r.n do parts[i - 1] = render(r[i], 0) end
return table.concat(parts, ' ')`

// render writes a value so that equal values have equal texts.
func render(v lua.LValue, depth int) string {
	switch v := v.(type) {
	case lua.LNumber:
		f := float64(v)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return FormatNumber(f)
		}
		return strconv.FormatFloat(f, 'g', 17, 64)
	case lua.LString:
		return quote(string(v))
	case *lua.LNilType, lua.LBool:
		return v.String()
	case *lua.LTable:
		if depth > 20 {
			return "deep"
		}
		parts := []string{}
		v.ForEach(func(k, x lua.LValue) {
			parts = append(parts, render(k, depth+1)+"="+render(x, depth+1))
		})
		sort.Strings(parts)
		return "{" + strings.Join(parts, " ") + "}"
	}
	return v.Type().String()
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '"' {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// oracle is a connection to a redis-server that runs as long as the test.
type oracle struct {
	t    testing.TB
	conn *wire.Conn
}

func startOracle(t testing.TB) *oracle {
	conn, err := wire.Dial(redistest.StartSocket(t, "--lua-time-limit", "60000").Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetTimeout(2 * time.Minute)
	return &oracle{t, conn}
}

// eval is evalHere on redis-server. An error reply keeps its "-".
func (o *oracle) eval(code string) string {
	v, err := o.conn.Do("EVAL", renderLua, "0", code)
	if err != nil {
		o.t.Fatal(err)
	}
	if v.Kind != wire.BulkString {
		return string(v.Kind) + string(v.Str)
	}
	return string(v.Str)
}
