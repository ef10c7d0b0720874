package luaexec

import lua "github.com/yuin/gopher-lua"

// vector is KEYS or ARGV: one Lua table that is filled anew for every run
// without allocating. Its strings alias the command's arguments, which outlive
// the run; nothing of a run can hold them longer.
type vector struct {
	table *lua.LTable
	boxes []lua.LString
	n     int
}

// fill sets the table to items. It reports true when the table is a new one,
// because the last script left something in it that cannot be taken out.
func (v *vector) fill(items [][]byte) (replaced bool) {
	if v.table == nil || v.tainted() {
		v.table, v.n, replaced = &lua.LTable{Metatable: lua.LNil}, 0, true
	}
	if cap(v.boxes) < len(items) {
		v.boxes = make([]lua.LString, len(items))
	}
	v.boxes = v.boxes[:cap(v.boxes)]
	for i, item := range items {
		v.boxes[i] = lua.LString(stringOf(item))
		v.table.RawSetInt(i+1, boxString(&v.boxes[i]))
	}
	for ; v.n > len(items); v.n-- {
		v.table.Remove(-1)
	}
	v.n = len(items)
	return replaced
}

// tainted reports whether a script changed the table in any other way than by
// setting the elements that fill sets again.
func (v *vector) tainted() bool {
	if v.table.Metatable != lua.LNil || arrayLen(v.table) != v.n {
		return true
	}
	last := lua.LNil
	if v.n > 0 {
		last = lua.LNumber(v.n)
	}
	key, _ := v.table.Next(last)
	return key != lua.LNil
}

// release lets go of the arguments of a run that had many.
func (v *vector) release() {
	const kept = 256
	if v.n > kept {
		v.table, v.boxes, v.n = nil, nil, 0
	}
}
