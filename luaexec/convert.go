package luaexec

import (
	"math"
	"strings"
	"unsafe"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/resp"
)

// toLua converts a command's reply. It copies what it keeps: the next command
// may change what the reply points to.
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

// elemBytes is what a value of a reply takes at least, and enoughBytes what is
// worth a safe point.
const (
	elemBytes   = 64
	enoughBytes = 64 << 10
)

// take announces the bytes of a command's reply, those of many values at once.
func (m *machine) take(bytes int) {
	if m.taken += bytes + elemBytes; m.taken >= enoughBytes {
		m.taken, bytes = 0, m.taken
		lualib.Announce(m.L, bytes)
	}
}

// dies does the same for the script's own reply, and reports whether there is to
// be none.
func (m *machine) dies(bytes int) bool {
	if m.taken += bytes + elemBytes; m.taken < enoughBytes {
		return false
	}
	m.taken, bytes = 0, m.taken
	return m.ticker.dies(bytes)
}

func (m *machine) arrayToLua(elems []resp.Reply) lua.LValue {
	m.take(16 * len(elems))
	t := m.L.CreateTable(len(elems), 0)
	for i := range elems {
		t.RawSetInt(i+1, m.toLua(elems[i]))
	}
	return t
}

// aggregateToLua converts a map or set: a table of its own kind once the script
// asked for RESP3, an array before.
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

// scalar3ToLua converts the types only RESP3 has; before redis.setresp(3) they
// arrive in the form RESP2 clients get.
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
		return m.values.str(string(resp.AppendFloat(nil, r.Double(), 17)))
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

// maxReplyDepth is where Redis's conversion of nested tables runs out of C Lua
// stack: the table at this depth becomes an error.
const maxReplyDepth = 7995

// maxReplyElems bounds the elements of a script's answer, and the greatest
// length of a string all its strings together. A table that holds another one
// twice, and so on, doubles its answer with every level.
//
// Differs from Redis: it sends until its memory is gone.
const maxReplyElems = 1 << 23

// toReply converts what a script returns. Tables convert by their first special
// field, else as arrays up to the first nil.
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
	if m.dies(n * int(unsafe.Sizeof(resp.Reply{}))) {
		m.elems = maxReplyElems
		return resp.Nil
	}
	elems := make([]resp.Reply, n)
	for i := 0; i < n && m.elems < maxReplyElems; i++ {
		elems[i] = m.toReply(t.RawGetInt(i+1), depth+1)
	}
	return resp.Array(elems...)
}

// cText is what C sees of a string: what stands before a NUL.
func cText(s string) string {
	before, _, _ := strings.Cut(s, "\x00")
	return before
}

// typedTable converts a table that stands for one RESP value. The order of the
// fields is Redis's.
func (m *machine) typedTable(t *lua.LTable, depth int) (resp.Reply, bool) {
	if s, ok := t.RawGetString("err").(lua.LString); ok {
		return resp.Error(oneLine(cText(string(s)))), true
	}
	if s, ok := t.RawGetString("ok").(lua.LString); ok {
		return resp.Status(oneLine(cText(string(s)))), true
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
		if format, hasFormat := f.RawGetString("format").(lua.LString); hasText && hasFormat {
			return resp.VerbatimAs(string(format), string(s)), true
		}
	}
	return resp.Reply{}, false
}

func (m *machine) mapToReply(t *lua.LTable, depth int) resp.Reply {
	var elems []resp.Reply
	t, _ = m.sandbox.behind(t)
	for k, v := t.Next(lua.LNil); k != lua.LNil && m.elems < maxReplyElems; k, v = t.Next(k) {
		elems = append(elems, m.toReply(k, depth+2), m.toReply(v, depth+2))
	}
	return resp.Map(elems...)
}

func (m *machine) setToReply(t *lua.LTable, depth int) resp.Reply {
	var elems []resp.Reply
	t, _ = m.sandbox.behind(t)
	for k, _ := t.Next(lua.LNil); k != lua.LNil && m.elems < maxReplyElems; k, _ = t.Next(k) {
		elems = append(elems, m.toReply(k, depth+2))
	}
	return resp.Set(elems...)
}

// oneLine replaces line breaks, which a status or error cannot hold.
func oneLine(s string) string {
	if strings.IndexByte(s, '\r') < 0 && strings.IndexByte(s, '\n') < 0 {
		return s
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}

// truncate is C's (long long) of a double on x86-64: what does not fit becomes
// the lowest integer, on every machine.
func truncate(f float64) int64 {
	if f >= -0x1p63 && f < 0x1p63 {
		return int64(f)
	}
	return math.MinInt64
}
