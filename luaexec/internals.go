package luaexec

import (
	"reflect"
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// internals holds the offsets, in bytes, of the private fields of gopher-lua
// that this package reads or writes. gopher-lua has no public access to any of
// them. The comments say what needs each field, and what fails without it.
type internals struct {
	// LTable.array []LValue, and LTable.k2i map[LValue]int: the keys outside the
	// array part. next(t, k) must throw for a key that t never had, and must go on
	// from a key that the traversal itself has removed. LTable.Next accepts any
	// key. Without these fields resp2.facts fails at "pcall(next, {}, 1)".
	//
	// The length of LTable.array and LTable.k2i also tell whether a script has changed KEYS or
	// ARGV (vector.go). Without the first both must be emptied before they are filled, which
	// takes 6 ns more in a run with one key and two arguments.
	tableArray  uintptr
	tablePlaces uintptr

	// LState.hasErrorFunc bool, and LState.uvcache *Upvalue, the list of open
	// upvalues by ascending index, with Upvalue.next and Upvalue.index. pcall must
	// close the captured variables of the functions that an error leaves, and of
	// no others (see protect.go). Without them upvalues.facts fails.
	hasErrorFunc uintptr
	openUpvalues uintptr
	upvalueNext  uintptr
	upvalueIndex uintptr
	// callFrame.LocalBase int: the register from which pcall closes upvalues.
	// Without it resp2.facts fails at "n = n + 10 inc() return n".
	localBase uintptr

	// LState.currentFrame *callFrame, callFrame.Parent, .Fn and .Pc: the
	// instruction that each open function is at. coroutine.yield throws when
	// Go code is in between, and resume passes as many values as yield's call
	// takes. LState.GetStack gives the line only. Without them resp2.facts and
	// language.facts fail in the coroutine section.
	//
	// redis.call uses them too, to see that its result is discarded and needs no
	// conversion: without that "redis.call('set', …)" as a statement takes 1.2 µs
	// and 9 allocations more (BenchmarkDiscardedReply).
	currentFrame uintptr
	frameParent  uintptr
	frameFn      uintptr
	framePc      uintptr
	// callFrame.Idx int: the depth of the call stack, in one read. The ticker
	// compares it with the limit every 16 instructions. LState.GetStack, the only
	// public way, walks the frames: 27 µs at a depth of 15,000.
	frameIndex uintptr
}

// layout is constant: it depends only on the gopher-lua version in the binary.
var layout = internals{
	tableArray:   offsetOf[lua.LTable, []lua.LValue]("array"),
	tablePlaces:  offsetOf[lua.LTable, map[lua.LValue]int]("k2i"),
	hasErrorFunc: offsetOf[lua.LState, bool]("hasErrorFunc"),
	openUpvalues: offsetOf[lua.LState, *lua.Upvalue]("uvcache"),
	upvalueNext:  offsetOf[lua.Upvalue, *lua.Upvalue]("next"),
	upvalueIndex: offsetOf[lua.Upvalue, int]("index"),
	localBase:    frameOffset("LocalBase", reflect.Int),
	currentFrame: framePointer().Offset,
	frameParent:  frameOffset("Parent", reflect.Pointer),
	frameFn:      frameOffset("Fn", reflect.Pointer),
	framePc:      frameOffset("Pc", reflect.Int),
	frameIndex:   frameOffset("Idx", reflect.Int),
}

// offsetOf returns the offset of a field. It panics, when the program starts, if
// this version of gopher-lua has no field of that name and type.
func offsetOf[Struct, Field any](name string) uintptr {
	f, ok := reflect.TypeFor[Struct]().FieldByName(name)
	if !ok || f.Type != reflect.TypeFor[Field]() {
		panic("luaexec: gopher-lua has no field " + reflect.TypeFor[Struct]().String() + "." + name +
			" of type " + reflect.TypeFor[Field]().String())
	}
	return f.Offset
}

// framePointer is the field of LState that points to the running function's call
// frame. The frame's type has no name outside gopher-lua.
func framePointer() reflect.StructField {
	f, ok := reflect.TypeFor[lua.LState]().FieldByName("currentFrame")
	if !ok || f.Type.Kind() != reflect.Pointer {
		panic("luaexec: gopher-lua has no pointer LState.currentFrame")
	}
	return f
}

// frameOffset is offsetOf for a field of the call frame.
func frameOffset(name string, kind reflect.Kind) uintptr {
	f, ok := framePointer().Type.Elem().FieldByName(name)
	if !ok || f.Type.Kind() != kind {
		panic("luaexec: gopher-lua has no field callFrame." + name + " of kind " + kind.String())
	}
	return f.Offset
}

// frame is a gopher-lua call frame. The zero frame means that there is none.
type frame struct{ p unsafe.Pointer }

// topFrame is the frame of the running function.
func topFrame(L *lua.LState) frame {
	return frame{*(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(L), layout.currentFrame))}
}

func (f frame) exists() bool { return f.p != nil }

func (f frame) function() *lua.LFunction {
	return *(**lua.LFunction)(unsafe.Add(f.p, layout.frameFn))
}

// parent is the caller's frame.
func (f frame) parent() frame {
	return frame{*(*unsafe.Pointer)(unsafe.Add(f.p, layout.frameParent))}
}

// index is the number of frames below f.
func (f frame) index() int { return *(*int)(unsafe.Add(f.p, layout.frameIndex)) }

// isCall reports whether f is a Lua function at a call instruction. It is false
// for Go functions, and where the instruction runs a metamethod or the iterator
// of a for loop.
func (f frame) isCall() bool {
	if f.function().IsG {
		return false
	}
	op := opcode(f.instruction())
	return op == lua.OP_CALL || op == lua.OP_TAILCALL
}

// results is the number of values that the call at f takes, or -1 when it takes
// all, or when f does not exist. A coroutine's yield must return exactly that
// many, because gopher-lua passes on whatever resume was given.
func (f frame) results() int {
	if !f.exists() || opcode(f.instruction()) != lua.OP_CALL {
		return -1
	}
	return operandC(f.instruction()) - 1
}

// discardsResults reports whether f is a Lua function at a call whose results
// are not used, because the call is a statement. f may not exist.
func (f frame) discardsResults() bool {
	if !f.exists() || f.function().IsG {
		return false
	}
	code := f.instruction()
	return opcode(code) == lua.OP_CALL && operandC(code) == 1
}

// instruction is the instruction that f, a Lua function, is at.
func (f frame) instruction() uint32 {
	return f.function().Proto.Code[*(*int)(unsafe.Add(f.p, layout.framePc))-1]
}

// frameBase is the register of the running function's first argument.
func frameBase(L *lua.LState) int {
	return *(*int)(unsafe.Add(topFrame(L).p, layout.localBase))
}

// hasOrHadKey reports whether t has the key, or had it recently: a traversal may
// remove the keys that it visits.
func hasOrHadKey(t *lua.LTable, key lua.LValue) bool {
	array := *(*[]lua.LValue)(unsafe.Add(unsafe.Pointer(t), layout.tableArray))
	n, ok := key.(lua.LNumber)
	if ok && n >= 1 && n <= lua.LNumber(cap(array)) && n == lua.LNumber(int(n)) {
		return true
	}
	_, ok = places(t)[key]
	return ok
}

// places has each key that the table ever had outside its array part.
func places(t *lua.LTable) map[lua.LValue]int {
	return *(*map[lua.LValue]int)(unsafe.Add(unsafe.Pointer(t), layout.tablePlaces))
}

// arrayLen is the length of a table's array part, trailing nils included.
func arrayLen(t *lua.LTable) int {
	return len(*(*[]lua.LValue)(unsafe.Add(unsafe.Pointer(t), layout.tableArray)))
}

// errorFunc points to the flag that keeps gopher-lua from closing the upvalues
// of every active function when an error is raised (see protect.go).
func errorFunc(L *lua.LState) *bool {
	return (*bool)(unsafe.Add(unsafe.Pointer(L), layout.hasErrorFunc))
}

// closeUpvalues closes the open upvalues of L from register base on. Those of
// the functions below base stay open.
func closeUpvalues(L *lua.LState, base int) {
	link := (**lua.Upvalue)(unsafe.Add(unsafe.Pointer(L), layout.openUpvalues))
	for *link != nil && upvalueIndex(*link) < base {
		link = nextUpvalue(*link)
	}
	for uv := *link; uv != nil; uv = *nextUpvalue(uv) {
		uv.Close()
	}
	*link = nil
}

func upvalueIndex(uv *lua.Upvalue) int {
	return *(*int)(unsafe.Add(unsafe.Pointer(uv), layout.upvalueIndex))
}

func nextUpvalue(uv *lua.Upvalue) **lua.Upvalue {
	return (**lua.Upvalue)(unsafe.Add(unsafe.Pointer(uv), layout.upvalueNext))
}
