package luaexec

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/luaexec/syntax"
)

// loadstring compiles its first argument. The second is its name in messages.
func (m *machine) loadstring(L *lua.LState) int {
	source := lualib.CheckString(L, 1)
	name := lualib.OptString(L, 2, source)
	return m.loadChunk(L, source, name)
}

// load compiles the concatenated pieces that its first argument, a function,
// returns.
func (m *machine) load(L *lua.LState) int {
	name := lualib.OptString(L, 2, "=(load)")
	fn := lualib.CheckFunction(L, 1)
	var source strings.Builder
	nextParse := firstParse
	for {
		L.SetTop(0)
		L.Push(fn)
		if err := m.protected(L, 0, m.unwind); err != nil {
			L.Push(lua.LNil)
			L.Push(err)
			return 2
		}
		piece := L.Get(1)
		text, ok := lualib.AsString(piece)
		if piece != lua.LNil && !ok {
			return pushNilError(L, "reader function must return a string")
		}
		if text == "" {
			return m.loadChunk(L, source.String(), name)
		}
		if source.Len()+len(text) > m.maxString() {
			return pushNilError(L, lualib.ErrTooLarge)
		}
		source.WriteString(text)
		if source.Len() < nextParse {
			continue
		}
		nextParse = 2 * source.Len()
		if cannotCompile(source.String(), m.opts.compileMemory(source.String())) {
			return m.loadChunk(L, source.String(), name)
		}
	}
}

// firstParse is the length in bytes from which load checks whether its source can
// still become a chunk. It checks again whenever the length has doubled. C Lua
// parses while it reads, so a syntax error stops a reader that never ends.
const firstParse = 1024

// cannotCompile reports whether source has an error that no continuation can
// repair. It ignores the last word, which may be incomplete.
func cannotCompile(source string, memory int) bool {
	end := strings.LastIndexAny(source, " \n")
	if end < 0 {
		return false
	}
	_, err := syntax.Parse(source[:end], syntax.Options{Memory: memory})
	return err != nil && !strings.Contains(err.Error(), "<eof>")
}

func (m *machine) loadChunk(L *lua.LState, source, name string) int {
	name = lualib.CText(name)
	shown := chunkID(name)
	c, err := compile(source, shown, m.names, m.opts.compileMemory(source))
	if err != nil {
		return pushNilError(L, err.Error())
	}
	if m.sources == nil {
		m.sources = make(map[string]string)
	}
	m.sources[shown] = strings.Clone(name)
	if c.pace == long {
		m.ticker.setPace(long)
		if m.loadEnv != nil { // a function may keep the chunk for a later call
			m.ticker.least = long
		}
	}
	L.Push(L.NewFunctionFromProto(c.proto))
	return 1
}

// chunkSource is the name of a chunk as Lua's debug library gives it: the name
// that load or loadstring was given, or "@" and the name of the script.
func (m *machine) chunkSource(shown string) string {
	if source, ok := m.sources[shown]; ok {
		return source
	}
	return "@" + shown
}

// chunkID shortens a chunk's name for messages as C Lua does (luaO_chunkid).
func chunkID(name string) string {
	const size, frame = 60, len(` [string "..."] `) + 1
	if strings.HasPrefix(name, "=") {
		return name[1:min(len(name), size)]
	}
	if strings.HasPrefix(name, "@") {
		if limit := size - len(" '...' ") - 1; len(name)-1 > limit {
			return "..." + name[len(name)-limit:]
		}
		return name[1:]
	}
	end := len(name)
	if i := strings.IndexAny(name, "\r\n"); i >= 0 {
		end = i
	}
	end = min(end, size-frame)
	if end < len(name) {
		return `[string "` + name[:end] + `..."]`
	}
	return `[string "` + name + `"]`
}

// pushNilError returns nil and a message to Lua.
func pushNilError(L *lua.LState, msg string) int {
	L.Push(lua.LNil)
	L.Push(lua.LString(msg))
	return 2
}

func (m *machine) maxString() int {
	if m.opts.MaxString > 0 {
		return m.opts.MaxString
	}
	return lualib.DefaultMaxString
}

// A script cannot start Go's garbage collector, because it would stop the whole
// server. These are the fixed answers of collectgarbage and gcinfo.
const (
	reportedKB   = 64
	defaultPause = 200
)

var collectOptions = []string{
	"stop", "restart", "collect", "count", "step", "setpause", "setstepmul",
}

func collectgarbage(L *lua.LState) int {
	option := "collect"
	if L.Get(1) != lua.LNil {
		option = collectOptions[lualib.CheckOption(L, 1, collectOptions)]
	}
	lualib.OptInt(L, 2, 0) // throws if it is not a number
	switch option {
	case "count":
		L.Push(lua.LNumber(reportedKB))
	case "step":
		L.Push(lua.LTrue)
	case "setpause", "setstepmul":
		L.Push(lua.LNumber(defaultPause))
	default:
		L.Push(lua.LNumber(0))
	}
	return 1
}

func gcinfo(L *lua.LState) int {
	L.Push(lua.LNumber(reportedKB))
	return 1
}
