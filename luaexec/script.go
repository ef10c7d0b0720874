package luaexec

import (
	"crypto/sha1"
	"encoding/hex"
	"unsafe"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/resp"
)

// Script is a compiled script. It belongs to the runtime that loaded it. Only its
// function value changes, with the runtime's Lua state.
type Script struct {
	body  string
	sha   string
	flags Flags
	proto *lua.FunctionProto
	loops bool

	fn    *lua.LFunction // the script as a function of owner, nil if none was made
	owner *machine
}

// SHA returns the script's name: 40 lower-case hexadecimal digits.
func (s *Script) SHA() string { return s.sha }

// Body returns the source text as it was loaded.
func (s *Script) Body() string { return s.body }

// Flags returns the flags of the script's shebang line.
func (s *Script) Flags() Flags { return s.flags }

// Loops reports whether the script may run for ever or long: it has a loop or a
// function, can compile further code, or its source is longer than 4 KB. Only such
// scripts are interrupted every thousand instructions to call Caller.Tick.
func (s *Script) Loops() bool { return s.loops }

// size estimates the script's memory in bytes: source, code and constants.
func (s *Script) size() int {
	return int(unsafe.Sizeof(*s)) + 2*len(s.sha) + len(s.body) + protoSize(s.proto)
}

func protoSize(p *lua.FunctionProto) int {
	// gopher-lua has a string beside each constant, and room for 32 at least.
	strings := max(len(p.Constants), 32)
	n := int(unsafe.Sizeof(*p)) + 12*cap(p.Code) + 16*len(p.Constants) + 16*strings
	for _, child := range p.FunctionPrototypes {
		n += protoSize(child)
	}
	return n
}

// function returns the script as a function of m's Lua state.
func (s *Script) function(m *machine) *lua.LFunction {
	if s.owner != m {
		s.fn, s.owner = m.L.NewFunctionFromProto(s.proto), m
		m.scripts = append(m.scripts, s)
	}
	return s.fn
}

// compileScript compiles a script with its shebang line. If it does not compile, ok
// is false and failure is the reply of EVAL.
func compileScript(body string, bound func(string) bool, opts Options) (
	s *Script, failure resp.Reply, ok bool,
) {
	flags, source, refusal := parseShebang(body)
	if refusal != "" {
		return nil, resp.Error(refusal), false
	}
	chunk, err := compile(source, scriptName, bound, opts.compileMemory(source))
	if err != nil {
		return nil, resp.Error("ERR Error compiling script (new function): " + err.Error()), false
	}
	d := sha1.Sum([]byte(body))
	return &Script{
		body:  body,
		sha:   hex.EncodeToString(d[:]),
		flags: flags,
		proto: chunk.proto,
		loops: chunk.loops,
	}, resp.NoReply, true
}
