package luaexec

import (
	"crypto/sha1"
	"encoding/hex"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/internal/heapsize"
	"github.com/lockredis/lockredis/resp"
)

// Script is a script that was compiled. It belongs to the runtime that loaded it. Only its code
// changes: the runtime drops it when others need the room, and compiles it again.
type Script struct {
	body  string
	sha   string
	flags Flags
	pace  pace

	proto *lua.FunctionProto // nil: the code was dropped
	bytes int                // estimated size of the code
	used  bool               // it has run since the runtime looked for code to drop

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
// function, can compile further code, or has more than a thousand instructions. Only such
// scripts are interrupted now and then to call Host.Tick.
func (s *Script) Loops() bool { return s.pace != brief }

// textSize estimates the script's memory without its code, in bytes.
func (s *Script) textSize() int {
	return heapsize.Pointers[Script](1) + heapsize.Text(len(s.sha)) + heapsize.Text(len(s.body)) +
		2*heapsize.MapEntry[string, *Script]()
}

// functionSize is the memory of the function of a Lua state that has the code.
var functionSize = heapsize.Pointers[lua.LFunction](1)

// protoSize estimates the memory of code with its inner functions, in bytes.
func protoSize(p *lua.FunctionProto) int {
	// gopher-lua has a string beside each constant, and room for 32 at least.
	n := heapsize.Pointers[lua.FunctionProto](1) + heapsize.Pointers[string](max(len(p.Constants), 32)) +
		heapsize.Slice[uint32](cap(p.Code)) + heapsize.Slice[int](cap(p.DbgSourcePositions)) +
		heapsize.Pointers[lua.LValue](cap(p.Constants)) + heapsize.Pointers[lua.DbgCall](cap(p.DbgCalls)) +
		heapsize.Pointers[string](cap(p.DbgUpvalues)) +
		heapsize.Pointers[*lua.FunctionProto](cap(p.FunctionPrototypes))
	for _, c := range p.Constants {
		switch c := c.(type) {
		case lua.LString: // the parser has copied it
			n += heapsize.Pointers[lua.LString](1) + heapsize.Text(len(c))
		case lua.LNumber:
			n += heapsize.Slice[lua.LNumber](1)
		}
	}
	for _, child := range p.FunctionPrototypes {
		n += protoSize(child)
	}
	return n
}

// compileBody compiles a script with its shebang line. If it does not compile, ok is false
// and failure is the reply of EVAL.
func compileBody(body string, known names, opts Options) (
	c chunk, flags Flags, failure resp.Reply, ok bool,
) {
	flags, source, refusal := parseShebang(body)
	if refusal != "" {
		return c, flags, resp.Error(refusal), false
	}
	c, err := compile(source, scriptName, known, opts.compileMemory(source))
	if err != nil {
		return c, flags, resp.Error("ERR Error compiling script (new function): " + err.Error()), false
	}
	return c, flags, resp.NoReply, true
}

// compileScript returns a new script. ok and failure are as in compileBody.
func compileScript(body string, known names, opts Options) (
	s *Script, failure resp.Reply, ok bool,
) {
	chunk, flags, failure, ok := compileBody(body, known, opts)
	if !ok {
		return nil, failure, false
	}
	d := sha1.Sum([]byte(body))
	return &Script{
		body:  body,
		sha:   hex.EncodeToString(d[:]),
		flags: flags,
		pace:  chunk.pace,
		proto: chunk.proto,
		bytes: protoSize(chunk.proto) + functionSize,
	}, resp.NoReply, true
}
