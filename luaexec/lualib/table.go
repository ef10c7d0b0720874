package lualib

import (
	"iter"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// lowestInsert is the lowest position that table.insert accepts. C Lua moves the
// elements through all positions from the end down to the new one.
const lowestInsert = -1 << 20

type tableLib struct {
	limits    Limits
	maxString int
}

func patchTable(L *lua.LState, limits Limits) {
	lib := &tableLib{limits: limits, maxString: limits.maxString()}
	L.SetFuncs(library(L, "table"), map[string]lua.LGFunction{
		"concat":   lib.concat,
		"foreach":  lib.foreach,
		"foreachi": lib.foreachi,
		"getn":     tableGetn,
		"insert":   lib.insert,
		"maxn":     tableMaxn,
		"remove":   lib.remove,
		"setn":     tableSetn,
		"sort":     lib.sort,
	})
}

// getIndex is t's element i, without metamethods. RawGetInt reads the array part
// only; RawGet reads other keys too, but allocates.
func getIndex(t *lua.LTable, i int) lua.LValue {
	if i >= 1 && i < lua.MaxArrayIndex {
		return t.RawGetInt(i)
	}
	return t.RawGet(lua.LNumber(i))
}

func tableGetn(L *lua.LState) int {
	L.Push(lua.LNumber(CheckTable(L, 1).Len()))
	return 1
}

func tableSetn(L *lua.LState) int {
	CheckTable(L, 1)
	Raise(L, "'setn' is obsolete")
	return 0
}

func tableMaxn(L *lua.LState) int {
	t, highest := CheckTable(L, 1), lua.LNumber(0)
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if n, ok := k.(lua.LNumber); ok && n > highest {
			highest = n
		}
	}
	L.Push(highest)
	return 1
}

// call calls fn with two arguments and returns its first result.
func (l Limits) call(L *lua.LState, fn *lua.LFunction, a, b lua.LValue) lua.LValue {
	L.Push(fn)
	L.Push(a)
	L.Push(b)
	l.callLua(L, 2, 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

func (lib *tableLib) foreach(L *lua.LState) int {
	t, fn := CheckTable(L, 1), CheckFunction(L, 2)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if r := lib.limits.call(L, fn, k, v); r != lua.LNil {
			L.Push(r)
			return 1
		}
	}
	return 0
}

func (lib *tableLib) foreachi(L *lua.LState) int {
	t := CheckTable(L, 1)
	n := t.Len()
	fn := CheckFunction(L, 2)
	for i := 1; i <= n; i++ {
		k := lua.LNumber(i)
		if r := lib.limits.call(L, fn, k, t.RawGet(k)); r != lua.LNil {
			L.Push(r)
			return 1
		}
	}
	return 0
}

func (lib *tableLib) insert(L *lua.LState) int {
	t := CheckTable(L, 1)
	n := t.Len()
	switch L.GetTop() {
	case 2:
		t.RawSetInt(n+1, L.Get(2))
	case 3:
		pos := checkInt(L, 2)
		insertAt(L, t, n, pos, L.Get(3))
	default:
		Raise(L, "wrong number of arguments to 'insert'")
	}
	return 0
}

func insertAt(L *lua.LState, t *lua.LTable, n, pos int, v lua.LValue) {
	switch {
	case pos > n:
		t.RawSetInt(pos, v)
	case pos >= 1:
		t.Insert(pos, v)
	case pos < lowestInsert:
		Raise(L, "position out of bounds")
	default:
		var moved steps
		for i := n + 1; i > pos; i-- {
			moved.add(L, 1, valueBytes)
			t.RawSetInt(i, getIndex(t, i-1))
		}
		t.RawSetInt(pos, v)
	}
}

func (lib *tableLib) remove(L *lua.LState) int {
	t := CheckTable(L, 1)
	n := t.Len()
	pos := OptInt(L, 2, n)
	if pos < 1 || pos > n {
		return 0
	}
	v := getIndex(t, pos)
	t.Remove(pos)
	L.Push(v)
	return 1
}

func (lib *tableLib) concat(L *lua.LState) int {
	var built growth
	sep, t := OptString(L, 2, ""), CheckTable(L, 1)
	i := OptInt(L, 3, 1)
	last := 0
	if L.Get(4) == lua.LNil {
		last = t.Len()
	} else {
		last = checkInt(L, 4)
	}
	var small [256]byte
	out := small[:0]
	if size := concatSize(t, i, last, len(sep)); size > len(small) {
		checkSize(L, size, lib.maxString)
		out = make([]byte, 0, size)
	}
	for i := range span(i, last) {
		switch v := getIndex(t, i).(type) {
		case lua.LString:
			built.check(L, len(out)+len(v), lib.maxString)
			out = append(out, v...)
		case lua.LNumber:
			out = AppendNumber(out, float64(v))
		default:
			at := " at index " + strconv.Itoa(i) + " in table for 'concat'"
			Raise(L, "invalid value ("+v.Type().String()+")"+at)
		}
		if i < last {
			built.check(L, len(out)+len(sep), lib.maxString)
			out = append(out, sep...)
		}
	}
	L.Push(lua.LString(out))
	return 1
}

// span yields the integers from first to last. last may be the greatest int.
func span(first, last int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := first; i <= last && yield(i) && i < last; i++ {
		}
	}
}

// concatSize is the approximate length of the elements i to last with separators
// between them. sep is the length of the separator. It stops before the first
// element that is neither a string nor a number.
func concatSize(t *lua.LTable, i, last, sep int) (size int) {
	for i := range span(i, last) {
		switch v := getIndex(t, i).(type) {
		case lua.LString:
			size += len(v) + sep
		case lua.LNumber:
			size += sep
		default:
			return size
		}
	}
	return max(size-sep, 0)
}
