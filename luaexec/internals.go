package luaexec

import (
	"reflect"
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// The types in this file have the memory layout of gopher-lua's types, whose fields are
// private. This package reads or writes some of them, because gopher-lua has no public access.
// The comments say what needs each field, and what fails without it. Fields named _ only keep
// the place. init compares the rest with this version of gopher-lua.

// stateFields are the fields of lua.LState.
type stateFields struct {
	_ *lua.Global
	_ *lua.LState
	_ *lua.LTable
	_ func(*lua.LState)
	_ bool
	_ lua.Options
	_ int32
	// reg has the registers, for the instructions of this package (instructions.go, globals.go, bridge.go).
	reg *registryFields
	_   [2]uintptr
	_   *byte
	// currentFrame is the frame of the running function. The loop (loop.go) runs its
	// instructions. coroutine.yield throws when Go code is between it and the start of the
	// coroutine, and resume passes as many values as yield's call takes. LState.GetStack gives
	// the line only. Without it resp2.facts and language.facts fail in the coroutine section.
	currentFrame *frame
	_            bool
	// uvcache is the list of open upvalues by ascending index. pcall must close the captured
	// variables of the functions that an error leaves, and of no others (protect.go). Without
	// it and hasErrorFunc upvalues.facts fails.
	uvcache      *upvalueFields
	hasErrorFunc bool
	// mainLoop runs the current function. loop.go replaces it.
	mainLoop loop
}

// registryFields are the fields of the registers of a state.
type registryFields struct {
	array []lua.LValue
	top   int // registers from here on are free for calls
}

// frame is the call frame of an open function.
type frame struct {
	// Idx is the number of frames below. The ticker compares it with the limit every 16
	// instructions. LState.GetStack, the only public way, walks the frames: 27 µs at a depth
	// of 15,000.
	Idx    int
	Fn     *lua.LFunction
	Parent *frame // the caller's frame, nil if there is none
	Pc     int    // the next instruction
	_      int
	// LocalBase is the register of the first argument, from which pcall closes upvalues.
	// Without it resp2.facts fails at "n = n + 10 inc() return n".
	LocalBase int
}

// upvalueFields are the fields of lua.Upvalue.
type upvalueFields struct {
	next  *upvalueFields
	_     *byte
	index int
}

// tableFields are the fields of lua.LTable.
type tableFields struct {
	_ lua.LValue
	// array is the array part, trailing nils included. k2i has each key that the table ever had
	// outside of it. next(t, k) must throw for a key that t never had, and must continue from a key
	// that the traversal itself has removed. LTable.Next accepts any key. Without these fields
	// resp2.facts fails at "pcall(next, {}, 1)".
	//
	// The lengths of both also tell whether a script has changed KEYS or ARGV (vector.go).
	// Without array both must be emptied before they are filled, which takes 6 ns more in a run
	// with one key and two arguments.
	array []lua.LValue
	_     *byte
	_     *byte
	_     []lua.LValue
	k2i   map[lua.LValue]int
}

func init() {
	state := reflect.TypeFor[lua.LState]()
	mustMirror(reflect.TypeFor[stateFields](), state)
	mustMirror(reflect.TypeFor[registryFields](), pointee(state, "reg"))
	mustMirror(reflect.TypeFor[frame](), pointee(state, "currentFrame"))
	mustMirror(reflect.TypeFor[upvalueFields](), reflect.TypeFor[lua.Upvalue]())
	mustMirror(reflect.TypeFor[tableFields](), reflect.TypeFor[lua.LTable]())
}

// pointee is the type that a field of a struct points to.
func pointee(t reflect.Type, field string) reflect.Type {
	f, _ := t.FieldByName(field)
	return f.Type.Elem()
}

// mustMirror panics if a named field of mirror is not at the same place in real, or has
// another type there. Pointers and functions only need to be such: their types may be private.
func mustMirror(mirror, real reflect.Type) {
	for i := range mirror.NumField() {
		want := mirror.Field(i)
		if want.Name == "_" {
			continue
		}
		f, ok := real.FieldByName(want.Name)
		ok = ok && f.Offset == want.Offset && f.Type.Kind() == want.Type.Kind()
		if kind := want.Type.Kind(); ok && kind != reflect.Pointer && kind != reflect.Func {
			ok = f.Type == want.Type
		}
		if !ok {
			panic("luaexec: gopher-lua has no field " + real.String() + "." + want.Name +
				" like " + mirror.String() + "." + want.Name)
		}
	}
}

func fieldsOf(L *lua.LState) *stateFields { return (*stateFields)(unsafe.Pointer(L)) }

func tableFieldsOf(t *lua.LTable) *tableFields { return (*tableFields)(unsafe.Pointer(t)) }

// topFrame is the frame of the running function, or nil.
func topFrame(L *lua.LState) *frame { return fieldsOf(L).currentFrame }

// isCall reports whether f is a Lua function at a call instruction. It is false
// for Go functions, and where the instruction runs a metamethod or the iterator
// of a for loop.
func (f *frame) isCall() bool {
	if f.Fn.IsG {
		return false
	}
	op := opcode(f.instruction())
	return op == lua.OP_CALL || op == lua.OP_TAILCALL
}

// results is the number of values that the call at f takes, or -1 when it takes
// all, or when f is nil. A coroutine's yield must return exactly that
// many, because gopher-lua passes on whatever resume was given.
func (f *frame) results() int {
	if f == nil || opcode(f.instruction()) != lua.OP_CALL {
		return -1
	}
	return operandC(f.instruction()) - 1
}

// instruction is the instruction that f, a Lua function, is at.
func (f *frame) instruction() uint32 { return f.Fn.Proto.Code[f.Pc-1] }

// hasOrHadKey reports whether t has the key, or had it recently: a traversal may
// remove the keys that it visits.
func hasOrHadKey(t *lua.LTable, key lua.LValue) bool {
	array := tableFieldsOf(t).array
	n, ok := key.(lua.LNumber)
	if ok && n >= 1 && n <= lua.LNumber(cap(array)) && n == lua.LNumber(int(n)) {
		return true
	}
	_, ok = tableFieldsOf(t).k2i[key]
	return ok
}

// closeUpvalues closes the open upvalues of L from register base on. Those of
// the functions below base stay open.
func closeUpvalues(L *lua.LState, base int) {
	link := &fieldsOf(L).uvcache
	for *link != nil && (*link).index < base {
		link = &(*link).next
	}
	for uv := *link; uv != nil; uv = uv.next {
		(*lua.Upvalue)(unsafe.Pointer(uv)).Close()
	}
	*link = nil
}
