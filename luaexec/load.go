package luaexec

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/luaexec/syntax"
)

// loadstring compiles its first argument; the second names it in messages.
func (m *machine) loadstring(L *lua.LState) int {
	source := lualib.CheckString(L, 1)
	name := lualib.OptString(L, 2, source)
	return m.loadChunk(L, source, name)
}

// load compiles the pieces that its first argument, a function, returns.
func (m *machine) load(L *lua.LState) int {
	name := lualib.OptString(L, 2, "=(load)")
	fn := lualib.CheckFunction(L, 1)
	var source strings.Builder
	look := firstLook
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
			return pushNilAnd(L, "reader function must return a string")
		}
		if text == "" {
			return m.loadChunk(L, source.String(), name)
		}
		if source.Len()+len(text) > m.maxString() {
			return pushNilAnd(L, lualib.ErrTooLarge)
		}
		source.WriteString(text)
		if source.Len() < look {
			continue
		}
		look = 2 * source.Len()
		if hopeless(source.String(), m.opts.compileMemory(source.String())) {
			return m.loadChunk(L, source.String(), name)
		}
	}
}

// firstLook is when load looks whether what it has read so far can become a
// chunk at all, in bytes; it looks again whenever that has doubled. C Lua reads
// and parses in one, and a reader that never ends is stopped by the first error.
const firstLook = 1024

// hopeless reports whether no continuation makes source a chunk. The last word
// is left out: it may go on.
func hopeless(source string, memory int) bool {
	end := strings.LastIndexAny(source, " \n")
	if end < 0 {
		return false
	}
	_, err := syntax.Parse(source[:end], syntax.Options{Memory: memory})
	return err != nil && !strings.Contains(err.Error(), "<eof>")
}

func (m *machine) loadChunk(L *lua.LState, source, name string) int {
	shown := shownName(name)
	c, err := compile(source, shown, m.isBound, m.opts.compileMemory(source))
	if err != nil {
		return pushNilAnd(L, err.Error())
	}
	if m.sources == nil {
		m.sources = make(map[string]string)
	}
	m.sources[shown] = strings.Clone(name)
	L.Push(L.NewFunctionFromProto(c.proto))
	return 1
}

// chunkSource is the name of a chunk as Lua's debug library gives it: with the
// mark that tells a file name from source text.
func (m *machine) chunkSource(shown string) string {
	if source, ok := m.sources[shown]; ok {
		return source
	}
	return "@" + shown
}

// shownName shortens a chunk's name for messages as C Lua does (luaO_chunkid).
func shownName(name string) string {
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

func pushNilAnd(L *lua.LState, msg string) int {
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

// A script sees a collector that is never behind. Go's own works by itself, and
// a script must not be able to start it.
const (
	reportedKB   = 64
	defaultPause = 200
)

func collectgarbage(L *lua.LState) int {
	option := "collect"
	if L.Get(1) != lua.LNil {
		option, _ = lualib.AsString(L.Get(1))
	}
	switch option {
	case "collect", "stop", "restart":
		L.Push(lua.LNumber(0))
	case "count":
		L.Push(lua.LNumber(reportedKB))
	case "step":
		L.Push(lua.LTrue)
	case "setpause", "setstepmul":
		L.Push(lua.LNumber(defaultPause))
	default:
		lualib.ArgError(L, 1, "invalid option '"+option+"'")
	}
	return 1
}

func gcinfo(L *lua.LState) int {
	L.Push(lua.LNumber(reportedKB))
	return 1
}
