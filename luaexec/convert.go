package luaexec

import (
	"math"
	"strings"
	"unsafe"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/resp"
)

// toLua converts a command's reply. It copies every string that it keeps, because
// the next command may change the memory that the reply points to.
func (m *machine) toLua(r resp.Reply) lua.LValue {
	switch r.Kind() {
	case resp.KindInt:
		return m.values.num(r.Int())
	case resp.KindBulk, resp.KindRaw:
		m.take(len(r.Text()))
		return m.values.str(cloned(r.Text()))
	case resp.KindStatus:
		return m.oneField("ok", m.values.str(cloned(r.Text())))
	case resp.KindError:
		return errorTable(m.L, cloned(r.Text()), true)
	case resp.KindArray, resp.KindPush, resp.KindSequence:
		return m.arrayToLua(r.Elems())
	case resp.KindMap, resp.KindSet:
		return m.aggregateToLua(r)
	case resp.KindBool, resp.KindDouble, resp.KindBigNumber, resp.KindVerbatim:
		return m.scalar3ToLua(r)
	}
	if m.proto >= 3 {
		return lua.LNil
	}
	return lua.LFalse
}

const (
	// elemBytes is the least memory that one value of a reply takes.
	elemBytes = 64
	// announcedBytes is the amount of memory from which a conversion passes a
	// safe point.
	announcedBytes = 64 << 10
)

// take counts the memory of a value that is converted from a command's reply. It
// passes a safe point, which may throw, for every announcedBytes.
func (m *machine) take(bytes int) {
	if m.taken += bytes + elemBytes; m.taken >= announcedBytes {
		m.taken, bytes = 0, m.taken
		lualib.Announce(m.L, bytes)
	}
}

// takeReply is take for the script's own reply. It reports whether the safe point
// has killed the script.
func (m *machine) takeReply(bytes int) (killed bool) {
	if m.taken += bytes + elemBytes; m.taken < announcedBytes {
		return false
	}
	m.taken, bytes = 0, m.taken
	return m.ticker.safePoint(bytes)
}

func (m *machine) arrayToLua(elems []resp.Reply) lua.LValue {
	m.take(16 * len(elems))
	t := m.L.CreateTable(len(elems), 0)
	for i := range elems {
		t.RawSetInt(i+1, m.toLua(elems[i]))
	}
	return t
}

// aggregateToLua converts a map or set: to {map = …} or {set = …} after
// redis.setresp(3), to an array before.
func (m *machine) aggregateToLua(r resp.Reply) lua.LValue {
	if m.proto < 3 {
		return m.arrayToLua(r.Elems())
	}
	elems := r.Elems()
	t := m.L.NewTable()
	if r.Kind() == resp.KindSet {
		for i := range elems {
			setField(t, m.toLua(elems[i]), lua.LTrue)
		}
		return m.oneField("set", t)
	}
	for i := 0; i+1 < len(elems); i += 2 {
		setField(t, m.toLua(elems[i]), m.toLua(elems[i+1]))
	}
	return m.oneField("map", t)
}

func setField(t *lua.LTable, key, value lua.LValue) {
	if key != lua.LNil {
		t.RawSet(key, value)
	}
}

// scalar3ToLua converts the types that only RESP3 has. Before redis.setresp(3)
// scripts get them in the form of RESP2.
func (m *machine) scalar3ToLua(r resp.Reply) lua.LValue {
	switch r.Kind() {
	case resp.KindBool:
		if m.proto >= 3 {
			return lua.LBool(r.Int() != 0)
		}
		return m.values.num(r.Int())
	case resp.KindDouble:
		if m.proto >= 3 {
			return m.oneField("double", lua.LNumber(r.Double()))
		}
		return m.values.str(string(r.AppendDigits(nil)))
	}
	text := m.values.str(cloned(r.Text()))
	switch {
	case m.proto < 3:
		return text
	case r.Kind() == resp.KindBigNumber:
		return m.oneField("big_number", text)
	}
	verbatim := m.L.CreateTable(0, 2)
	verbatim.RawSetString("string", text)
	verbatim.RawSetString("format", lua.LString("txt"))
	return m.oneField("verbatim_string", verbatim)
}

func (m *machine) oneField(name string, v lua.LValue) lua.LValue {
	t := m.L.CreateTable(0, 1)
	t.RawSetString(name, v)
	return t
}

// cloned copies s, which may point into the store.
func cloned(s string) string { return strings.Clone(s) }

// maxReplyDepth is the depth of nesting at which Redis's conversion exceeds the
// stack of C Lua: a table at this depth becomes an error.
const maxReplyDepth = 7995

// maxReplyElems is the largest number of elements in a script's reply. The total
// length of its strings is limited to maxString. Without limits a small table
// could make a huge reply: one that holds another table twice, and so on, doubles
// the reply with every level.
//
// Differs from Redis: it converts until its memory is used up.
const maxReplyElems = 1 << 23

// toReply converts the value that a script returns. depth is the number of tables
// around it. A table is converted by its first special field (see typedTable),
// else as an array that ends before the first nil.
func (m *machine) toReply(v lua.LValue, depth int) resp.Reply {
	if m.elems++; m.elems > maxReplyElems {
		return resp.Nil
	}
	switch v := v.(type) {
	case lua.LString:
		if m.replyBytes += len(v); m.replyBytes > m.maxString() {
			m.elems = maxReplyElems
		}
		return resp.BulkString(string(v))
	case lua.LNumber:
		return resp.Int(truncate(float64(v)))
	case lua.LBool:
		switch {
		case m.proto >= 3:
			return resp.Bool(bool(v))
		case bool(v):
			return resp.Int(1)
		}
		return resp.Nil
	case *lua.LTable:
		if depth >= maxReplyDepth {
			return resp.Error(errStackLimit)
		}
		return m.tableToReply(v, depth)
	}
	return resp.Nil
}

func (m *machine) tableToReply(t *lua.LTable, depth int) resp.Reply {
	if r, ok := m.typedTable(t, depth); ok {
		return r
	}
	n := 0
	for t.RawGetInt(n+1) != lua.LNil {
		n++
	}
	if m.elems+n > maxReplyElems {
		m.elems = maxReplyElems
		return resp.Nil
	}
	if m.takeReply(n * int(unsafe.Sizeof(resp.Reply{}))) {
		m.elems = maxReplyElems
		return resp.Nil
	}
	elems := make([]resp.Reply, n)
	for i := 0; i < n && m.elems < maxReplyElems; i++ {
		elems[i] = m.toReply(t.RawGetInt(i+1), depth+1)
	}
	return resp.Array(elems...)
}

// typedTable converts a table that has one of the special fields, such as err or
// map. ok is false for any other table. It tries the fields in Redis's order.
func (m *machine) typedTable(t *lua.LTable, depth int) (r resp.Reply, ok bool) {
	if s, ok := t.RawGetString("err").(lua.LString); ok {
		return resp.Error(oneLine(lualib.CText(string(s)))), true
	}
	if s, ok := t.RawGetString("ok").(lua.LString); ok {
		return resp.Status(oneLine(lualib.CText(string(s)))), true
	}
	if n, ok := t.RawGetString("double").(lua.LNumber); ok {
		return resp.Double(float64(n)), true
	}
	if f, ok := t.RawGetString("map").(*lua.LTable); ok {
		return m.mapToReply(f, depth), true
	}
	if f, ok := t.RawGetString("set").(*lua.LTable); ok {
		return m.setToReply(f, depth), true
	}
	if s, ok := t.RawGetString("big_number").(lua.LString); ok {
		return resp.BigNumber(oneLine(string(s))), true
	}
	if f, ok := t.RawGetString("verbatim_string").(*lua.LTable); ok {
		s, hasText := f.RawGetString("string").(lua.LString)
		format, hasFormat := f.RawGetString("format").(lua.LString)
		if hasText && hasFormat {
			return resp.VerbatimAs(string(format), string(s)), true
		}
	}
	return resp.Reply{}, false
}

func (m *machine) mapToReply(t *lua.LTable, depth int) resp.Reply {
	var elems []resp.Reply
	t, _ = m.sandbox.behind(t)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if m.elems >= maxReplyElems {
			break
		}
		elems = append(elems, m.toReply(k, depth+2), m.toReply(v, depth+2))
	}
	return resp.Map(elems...)
}

func (m *machine) setToReply(t *lua.LTable, depth int) resp.Reply {
	var elems []resp.Reply
	t, _ = m.sandbox.behind(t)
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if m.elems >= maxReplyElems {
			break
		}
		elems = append(elems, m.toReply(k, depth+2))
	}
	return resp.Set(elems...)
}

// oneLine replaces line breaks by spaces: a status or error cannot contain them.
func oneLine(s string) string {
	if strings.IndexByte(s, '\r') < 0 && strings.IndexByte(s, '\n') < 0 {
		return s
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}

// truncate is C's (long long) of a double on x86-64, on every machine: a value out
// of range becomes the lowest integer.
func truncate(f float64) int64 {
	if f >= -0x1p63 && f < 0x1p63 {
		return int64(f)
	}
	return math.MinInt64
}
