package luaexec

import lua "github.com/yuin/gopher-lua"

// vector is KEYS or ARGV: one Lua table that every run fills again without
// allocating. Its strings share memory with the arguments of the command, which
// outlive the run. Nothing that a script creates outlives the run.
type vector struct {
	table *lua.LTable
	boxes []lua.LString
	n     int // elements that fill has set
	bytes int // of all items of the run
}

// fill sets the table to items. replaced reports that the table is a new one,
// because the last script changed the old one in a way that cannot be undone.
func (v *vector) fill(items [][]byte) (replaced bool) {
	if v.table == nil || v.changed() {
		v.table, v.n, replaced = &lua.LTable{Metatable: lua.LNil}, 0, true
	}
	if cap(v.boxes) < len(items) {
		v.boxes = make([]lua.LString, len(items))
	}
	v.boxes, v.bytes = v.boxes[:cap(v.boxes)], 0
	for i, item := range items {
		v.boxes[i] = lua.LString(stringOf(item))
		v.bytes += len(item)
		v.table.RawSetInt(i+1, boxString(&v.boxes[i]))
	}
	for ; v.n > len(items); v.n-- {
		v.table.Remove(-1)
	}
	v.n = len(items)
	return replaced
}

// weigh notes the bytes of items that the run gets as a copy instead.
func (v *vector) weigh(items [][]byte) {
	v.bytes = 0
	for _, item := range items {
		v.bytes += len(item)
	}
}

// changed reports whether the script has set a metatable or an element that fill
// does not set. Changes of the elements that fill sets do not count.
func (v *vector) changed() bool {
	if v.table.Metatable != lua.LNil || len(tableFieldsOf(v.table).array) != v.n {
		return true
	}
	if len(tableFieldsOf(v.table).k2i) == 0 {
		return false
	}
	last := lua.LNil
	if v.n > 0 {
		last = lua.LNumber(v.n)
	}
	key, _ := v.table.Next(last)
	return key != lua.LNil
}

// release forgets the items, which keep the buffer of the command in memory, and frees the table
// after a run that had many.
func (v *vector) release() {
	clear(v.boxes[:v.n])
	const kept = 256
	if v.n > kept {
		v.table, v.boxes, v.n = nil, nil, 0
	}
}
