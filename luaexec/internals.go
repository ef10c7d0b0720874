package luaexec

import (
	"reflect"
	"slices"
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// gopher-lua keeps some things to itself that this package needs. They are
// reached by their offsets, which are looked up by name and type: a version
// without them fails at the first use, and a test says so.

// internals are the offsets, in bytes.
type internals struct {
	tableArray   uintptr // LTable.array []LValue
	tablePlaces  uintptr // LTable.k2i map[LValue]int, of the keys beside the array
	hasErrorFunc uintptr // LState.hasErrorFunc bool
	openUpvalues uintptr // LState.uvcache *Upvalue, sorted by index
	upvalueNext  uintptr // Upvalue.next *Upvalue
	upvalueIndex uintptr // Upvalue.index int
	currentFrame uintptr // LState.currentFrame *callFrame
	localBase    uintptr // callFrame.LocalBase int
	framePc      uintptr // callFrame.Pc int
	frameIndex   uintptr // callFrame.Idx int
	frameFn      uintptr // callFrame.Fn *LFunction
	frameParent  uintptr // callFrame.Parent *callFrame
	protoStrings uintptr // FunctionProto.stringConstants []string
}

// layout is fixed when the program is built.
var layout = internals{
	tableArray:   offsetOf[lua.LTable, []lua.LValue]("array"),
	tablePlaces:  offsetOf[lua.LTable, map[lua.LValue]int]("k2i"),
	hasErrorFunc: offsetOf[lua.LState, bool]("hasErrorFunc"),
	openUpvalues: offsetOf[lua.LState, *lua.Upvalue]("uvcache"),
	upvalueNext:  offsetOf[lua.Upvalue, *lua.Upvalue]("next"),
	upvalueIndex: offsetOf[lua.Upvalue, int]("index"),
	currentFrame: frameOffset("currentFrame"),
	localBase:    frameOffset("currentFrame", "LocalBase"),
	framePc:      frameOffset("currentFrame", "Pc"),
	frameIndex:   frameOffset("currentFrame", "Idx"),
	frameFn:      frameOffset("currentFrame", "Fn"),
	frameParent:  frameOffset("currentFrame", "Parent"),
	protoStrings: offsetOf[lua.FunctionProto, []string]("stringConstants"),
}

func offsetOf[Struct, Field any](name string) uintptr {
	f, ok := reflect.TypeFor[Struct]().FieldByName(name)
	if !ok || f.Type != reflect.TypeFor[Field]() {
		panic("luaexec: gopher-lua has no field " + reflect.TypeFor[Struct]().String() + "." + name)
	}
	return f.Offset
}

// frameOffset is the offset of a field of LState that points to a call frame,
// or of a field of that frame, whose type has no name outside gopher-lua.
func frameOffset(pointer string, field ...string) uintptr {
	f, ok := reflect.TypeFor[lua.LState]().FieldByName(pointer)
	if ok && len(field) > 0 {
		f, ok = f.Type.Elem().FieldByName(field[0])
	}
	if !ok {
		panic("luaexec: gopher-lua's call frames have changed")
	}
	return f.Offset
}

// frame is a gopher-lua call frame.
type frame struct{ p unsafe.Pointer }

// topFrame is the frame of the running function.
func topFrame(L *lua.LState) frame {
	return frame{*(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(L), layout.currentFrame))}
}

func (f frame) function() *lua.LFunction {
	return *(**lua.LFunction)(unsafe.Add(f.p, layout.frameFn))
}

func (f frame) parent() frame {
	return frame{*(*unsafe.Pointer)(unsafe.Add(f.p, layout.frameParent))}
}

// index is the number of frames below.
func (f frame) index() int { return *(*int)(unsafe.Add(f.p, layout.frameIndex)) }

// calls reports whether the frame is at an instruction that calls a function,
// rather than at one that runs a metamethod or a for loop's iterator.
func (f frame) calls() bool {
	fn := f.function()
	if fn.IsG {
		return false
	}
	op := opcode(f.instruction())
	return op == lua.OP_CALL || op == lua.OP_TAILCALL
}

// wanted is how many values the call that the frame is at has use for, -1 if it
// takes all. There may be no frame. A coroutine that is resumed gets neither more
// nor fewer: gopher-lua passes on what there is.
func (f frame) wanted() int {
	if f.p == nil || opcode(f.instruction()) != lua.OP_CALL {
		return -1
	}
	return operandC(f.instruction()) - 1
}

// discards reports whether the frame is at a call that is a statement: its
// results go nowhere. There may be no frame.
func (f frame) discards() bool {
	if f.p == nil || f.function().IsG {
		return false
	}
	code := f.instruction()
	return opcode(code) == lua.OP_CALL && operandC(code) == 1
}

// instruction is the one that the frame of a Lua function is at.
func (f frame) instruction() uint32 {
	return f.function().Proto.Code[*(*int)(unsafe.Add(f.p, layout.framePc))-1]
}

// frameBase is the register of the running function's first argument.
func frameBase(L *lua.LState) int {
	return *(*int)(unsafe.Add(topFrame(L).p, layout.localBase))
}

// hasHad reports whether a table has the key, or has had it lately: a traversal
// may take out what it meets.
func hasHad(t *lua.LTable, key lua.LValue) bool {
	array := *(*[]lua.LValue)(unsafe.Add(unsafe.Pointer(t), layout.tableArray))
	if n, ok := key.(lua.LNumber); ok && n >= 1 && n <= lua.LNumber(cap(array)) && n == lua.LNumber(int(n)) {
		return true
	}
	_, ok := (*(*map[lua.LValue]int)(unsafe.Add(unsafe.Pointer(t), layout.tablePlaces)))[key]
	return ok
}

// arrayLen is the length of a table's array part, trailing nils included.
func arrayLen(t *lua.LTable) int {
	return len(*(*[]lua.LValue)(unsafe.Add(unsafe.Pointer(t), layout.tableArray)))
}

// trimStrings gives back what is reserved for further string constants.
func trimStrings(p *lua.FunctionProto) {
	s := (*[]string)(unsafe.Add(unsafe.Pointer(p), layout.protoStrings))
	*s = slices.Concat(*s)
}

// errorFunc points to the flag that keeps gopher-lua from closing the upvalues
// of every active function when an error is raised (see protect.go).
func errorFunc(L *lua.LState) *bool {
	return (*bool)(unsafe.Add(unsafe.Pointer(L), layout.hasErrorFunc))
}

// closeUpvalues closes the open upvalues of L from register base on, and leaves
// those of the functions below alone.
func closeUpvalues(L *lua.LState, base int) {
	link := (**lua.Upvalue)(unsafe.Add(unsafe.Pointer(L), layout.openUpvalues))
	for *link != nil && *(*int)(unsafe.Add(unsafe.Pointer(*link), layout.upvalueIndex)) < base {
		link = (**lua.Upvalue)(unsafe.Add(unsafe.Pointer(*link), layout.upvalueNext))
	}
	for uv := *link; uv != nil; uv = *(**lua.Upvalue)(unsafe.Add(unsafe.Pointer(uv), layout.upvalueNext)) {
		uv.Close()
	}
	*link = nil
}
