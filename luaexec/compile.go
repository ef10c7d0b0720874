package luaexec

import (
	"errors"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/syntax"
)

// scriptName stands before the line in every message about a script.
const scriptName = "user_script"

// scriptSource is what the error frame calls a script.
const scriptSource = "@user_script"

// chunk is a compiled piece of Lua: a script, or the argument of loadstring.
type chunk struct {
	proto *lua.FunctionProto
	loops bool
}

// compile translates source. name stands before the line in error messages,
// those of the compiler (the error returned) and later ones. bound reports
// which "library.field" names the environment has. memory is how many bytes the
// compiler may take, 0 for any number.
func compile(source, name string, bound func(string) bool, memory int) (chunk, error) {
	block, err := syntax.Parse(source, syntax.Options{Name: name, Bound: bound, Memory: memory})
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
	if len(block.Fields) > 0 {
		placeFields(proto, block.Fields)
	}
	dropArgTable(proto)
	tidy(proto)
	return chunk{proto: proto, loops: block.Loops || len(source) > maxStraight}, nil
}

// maxStraight is how long a source without a loop may be, in bytes, to run
// without safe points: a long one can take much memory in many small pieces.
const maxStraight = 4 << 10

// tidy takes the library from the names of called functions, as they appear in
// "bad argument #1 to 'rep'", and gives back what gopher-lua keeps in reserve
// for each function: 12 KB for its code, 7 KB for all else. Nobody asks for the
// names of its local variables.
func tidy(p *lua.FunctionProto) {
	for i, call := range p.DbgCalls {
		p.DbgCalls[i].Name = lastPart(call.Name)
	}
	mendTables(p)
	p.Code = slices.Concat(p.Code)
	p.Constants = slices.Concat(p.Constants)
	p.FunctionPrototypes = slices.Concat(p.FunctionPrototypes)
	p.DbgSourcePositions = slices.Concat(p.DbgSourcePositions)
	p.DbgCalls = slices.Concat(p.DbgCalls)
	p.DbgUpvalues = slices.Concat(p.DbgUpvalues)
	p.DbgLocals = nil
	trimStrings(p)
	for _, child := range p.FunctionPrototypes {
		tidy(child)
	}
}

// unmeasured is the length of a source, in bytes, up to which nobody asks how
// much memory compiling it may take.
const unmeasured = 32 << 10

// compileMemory is how many bytes it may take to compile source, 0 for any
// number.
func (o Options) compileMemory(source string) int {
	if len(source) <= unmeasured {
		return 0
	}
	return int(o.growth(heapBytes()))
}

// lastPart takes the function's own name from one the compiler bound whole.
func lastPart(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

// maxJump is the farthest an instruction can jump. gopher-lua checks it for
// some jumps only, and would jump elsewhere.
const maxJump = 1<<17 - 1

func hasLongJump(p *lua.FunctionProto) bool {
	if len(p.Code) > maxJump {
		return true
	}
	for _, child := range p.FunctionPrototypes {
		if hasLongJump(child) {
			return true
		}
	}
	return false
}

// dropArgTable saves a 2.6 KB allocation per run: the main function is vararg,
// and gopher-lua would build Lua 5.0's "arg" table for it. Scripts get no
// arguments, and "arg" is an undefined global in Redis. Inner functions keep it.
func dropArgTable(p *lua.FunctionProto) { p.IsVarArg &^= lua.VarArgNeedsArg }
