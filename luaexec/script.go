package luaexec

import (
	"crypto/sha1"
	"encoding/hex"
	"unsafe"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/resp"
)

// Script is a compiled script. It is immutable but for the function value that
// the current Lua state made of it, and belongs to the runtime that loaded it.
type Script struct {
	body   string
	sha    string
	digest digest
	flags  Flags
	proto  *lua.FunctionProto
	loops  bool

	fn    *lua.LFunction // of owner; another state needs another one
	owner *machine
}

// SHA returns the script's name: 40 lower-case hexadecimal digits.
func (s *Script) SHA() string { return s.sha }

// Body returns the source text as it was loaded.
func (s *Script) Body() string { return s.body }

// Flags returns what the script's shebang line declares.
func (s *Script) Flags() Flags { return s.flags }

// Loops reports whether the script can run for ever: it loops, defines
// functions, or can compile further code. Only such scripts reach Caller.Tick.
func (s *Script) Loops() bool { return s.loops }

// size estimates the bytes the script holds: source, code and constants.
func (s *Script) size() int {
	return int(unsafe.Sizeof(*s)) + 2*len(s.sha) + len(s.body) + protoSize(s.proto)
}

func protoSize(p *lua.FunctionProto) int {
	n := int(unsafe.Sizeof(*p)) + 12*cap(p.Code) + 32*len(p.Constants)
	for _, child := range p.FunctionPrototypes {
		n += protoSize(child)
	}
	return n
}

// function returns the script as a function of m's state.
func (s *Script) function(m *machine) *lua.LFunction {
	if s.owner != m {
		s.fn, s.owner = m.L.NewFunctionFromProto(s.proto), m
		m.scripts = append(m.scripts, s)
	}
	return s.fn
}

func compileScript(body string, bound func(string) bool, opts Options) (*Script, resp.Reply, bool) {
	flags, source, failure := parseShebang(body)
	if failure != "" {
		return nil, resp.Error(failure), false
	}
	chunk, err := compile(source, scriptName, bound, opts.compileMemory(source))
	if err != nil {
		return nil, resp.Error("ERR Error compiling script (new function): " + err.Error()), false
	}
	d := digest(sha1.Sum([]byte(body)))
	return &Script{
		body:   body,
		sha:    hex.EncodeToString(d[:]),
		digest: d,
		flags:  flags,
		proto:  chunk.proto,
		loops:  chunk.loops,
	}, resp.NoReply, true
}
