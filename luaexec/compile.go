package luaexec

import (
	"errors"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/internal/collector"
	"github.com/lockredis/lockredis/luaexec/syntax"
)

// The names of chunks. They stand before the line in every message about a script or a
// library. After the message of an error they have an "@" before them.
const (
	scriptName  = "user_script"
	libraryName = "user_function"
)

// chunk is a compiled piece of Lua: a script, or the argument of loadstring.
type chunk struct {
	proto *lua.FunctionProto
	pace  pace
}

// compile compiles source. name stands before the line in error messages: in the
// returned error, and in errors when the chunk runs. known are the names of the
// environment. memory limits the bytes that
// compiling may allocate; 0 means no limit.
func compile(source, name string, known names, memory int) (chunk, error) {
	block, err := syntax.Parse(source, syntax.Options{Name: name, Bound: known.has, Memory: memory})
	if err != nil {
		return chunk{}, err
	}
	proto, err := lua.Compile(block.Stmts, name)
	if err != nil {
		var ce *lua.CompileError
		if errors.As(err, &ce) {
			err = syntax.Errorf(name, max(ce.Line, 1), "%s", errTooComplex)
		}
		return chunk{}, err
	}
	if hasLongJump(proto) {
		return chunk{}, syntax.Errorf(name, max(proto.LastLineDefined, 1), "%s", errTooLong)
	}
	if len(block.Marks) > 0 {
		setMarks(proto, block.Marks)
	}
	dropArgTable(proto)
	known.useNumbers(proto)
	finish(proto)
	c := chunk{proto: proto}
	switch {
	case isLong(proto):
		c.pace = long
	case block.Loops:
		c.pace = looping
	}
	return c, nil
}

// maxStraight is the number of instructions up to which a function needs no ticks between
// its loops and calls. Many more of them could take much memory in small pieces.
const maxStraight = 1000

// isLong reports whether p or an inner function has more than maxStraight instructions.
func isLong(p *lua.FunctionProto) bool {
	return len(p.Code) > maxStraight || slices.ContainsFunc(p.FunctionPrototypes, isLong)
}

// finish completes the work of gopher-lua's compiler on p and its inner functions:
//
//   - It removes the library from the names of called functions, which appear in
//     errors such as "bad argument #1 to 'rep'".
//   - It corrects table constructors.
//   - It frees unused capacity, 12 KB of code and 7 KB of the rest for a function,
//     and the names of local variables, which nothing reads.
func finish(p *lua.FunctionProto) {
	for i, call := range p.DbgCalls {
		p.DbgCalls[i].Name = lastPart(call.Name)
	}
	fixConstructors(p)
	p.Code = slices.Concat(p.Code)
	p.Constants = slices.Concat(p.Constants)
	p.FunctionPrototypes = slices.Concat(p.FunctionPrototypes)
	p.DbgSourcePositions = slices.Concat(p.DbgSourcePositions)
	p.DbgCalls = slices.Concat(p.DbgCalls)
	p.DbgUpvalues = slices.Concat(p.DbgUpvalues)
	p.DbgLocals = nil
	for _, child := range p.FunctionPrototypes {
		finish(child)
	}
}

// unlimitedSource is the length in bytes up to which a source is compiled without
// a limit of memory.
const unlimitedSource = 32 << 10

// compileMemory is the number of bytes that compiling source may allocate; 0 means
// no limit.
func (o Options) compileMemory(source string) int {
	if len(source) <= unlimitedSource {
		return 0
	}
	return int(o.growth(collector.Size()))
}

// lastPart returns "call" for "redis.call", and a name without a dot unchanged.
func lastPart(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

// maxJump is the greatest distance of a jump. gopher-lua checks it for some jumps
// only; the others would jump to a wrong instruction.
const maxJump = 1<<17 - 1

// hasLongJump reports whether p or an inner function has jumps and is so long that one of
// them may exceed maxJump.
func hasLongJump(p *lua.FunctionProto) bool {
	if len(p.Code) > maxJump && slices.ContainsFunc(p.Code, jumps) {
		return true
	}
	for _, child := range p.FunctionPrototypes {
		if hasLongJump(child) {
			return true
		}
	}
	return false
}

// dropArgTable saves an allocation of 2.6 KB in every run. The main function is
// vararg, so gopher-lua would build Lua 5.0's table "arg" for it. Scripts get no
// arguments, and "arg" is an undefined global in Redis. Inner functions keep it.
func dropArgTable(p *lua.FunctionProto) { p.IsVarArg &^= lua.VarArgNeedsArg }
