package lualib

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// position converts a Lua index, which may be negative, to one that counts from the
// start. It is 0 for an index before the start.
func position(i int64, size int) int64 {
	if i < 0 {
		i += int64(size) + 1
	}
	return max(i, 0)
}

func stringFind(L *lua.LState) int  { return findOrMatch(L, true) }
func stringMatch(L *lua.LState) int { return findOrMatch(L, false) }

func findOrMatch(L *lua.LState, find bool) int {
	src, pat := CheckString(L, 1), CheckString(L, 2)
	init := int(min(max(position(optInteger(L, 3, 1), len(src))-1, 0), int64(len(src))))
	if find && (lua.LVAsBool(L.Get(4)) || isPlain(pat)) {
		return findPlain(L, src, pat, init)
	}
	m, anchored := newMatcher(L, src, pat, true)
	for s := init; s <= len(src); s++ {
		if end := m.start(s); end >= 0 {
			if !find {
				return m.pushCaptures(s, end, true)
			}
			L.Push(lua.LNumber(s + 1))
			L.Push(lua.LNumber(end))
			return m.pushCaptures(s, end, false) + 2
		}
		if anchored {
			break
		}
	}
	L.Push(lua.LNil)
	return 1
}

// isPlain reports whether pat has no special character before its first NUL byte.
// find searches for such a pattern literally, with its NUL bytes.
func isPlain(pat string) bool {
	if i := strings.IndexByte(pat, 0); i >= 0 {
		pat = pat[:i]
	}
	return !strings.ContainsAny(pat, patternSpecials)
}

func findPlain(L *lua.LState, src, pat string, init int) int {
	i := strings.Index(src[init:], pat)
	if i < 0 {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LNumber(init + i + 1))
	L.Push(lua.LNumber(init + i + len(pat)))
	return 2
}

func stringGmatch(L *lua.LState) int {
	src, pat := CheckString(L, 1), CheckString(L, 2)
	next := 0
	L.Push(L.NewFunction(func(L *lua.LState) int {
		m, _ := newMatcher(L, src, pat, false)
		for s := next; s <= len(src); s++ {
			end := m.start(s)
			if end < 0 {
				continue
			}
			next = end
			if end == s {
				next++
			}
			return m.pushCaptures(s, end, true)
		}
		next = len(src) + 1
		return 0
	}))
	return 1
}

func (lib *stringLib) gsub(L *lua.LState) int {
	var size growth
	src, pat := CheckString(L, 1), CheckString(L, 2)
	repl := L.Get(3)
	switch repl.(type) {
	case lua.LString, lua.LNumber, *lua.LTable, *lua.LFunction:
	default:
		ArgError(L, 3, "string/function/table expected")
	}
	limit := OptInt(L, 4, len(src)+1)
	m, anchored := newMatcher(L, src, pat, true)
	var out []byte
	s, copied, n := 0, 0, 0
	for n < limit {
		end := m.start(s)
		if end >= 0 {
			n++
			out = append(out, src[copied:s]...)
			out = lib.replace(&m, out, repl, s, end)
			size.check(L, len(out), lib.maxString)
			copied = end
		}
		if end > s {
			s = end
		} else if s < len(src) {
			s++
		} else {
			break
		}
		if anchored {
			break
		}
	}
	if n == 0 {
		L.Push(lua.LString(src))
	} else {
		size.check(L, len(out)+len(src)-copied, lib.maxString)
		L.Push(lua.LString(append(out, src[copied:]...)))
	}
	L.Push(lua.LNumber(n))
	return 2
}

// replace appends the replacement of the match from s to end.
func (lib *stringLib) replace(m *matcher, out []byte, repl lua.LValue, s, end int) []byte {
	L := m.L
	var v lua.LValue
	switch repl := repl.(type) {
	case *lua.LTable:
		v = L.GetTable(repl, m.captured(0, s, end))
	case *lua.LFunction:
		L.Push(repl)
		lib.limits.callLua(L, m.pushCaptures(s, end, true), 1)
		v = L.Get(-1)
		L.Pop(1)
	default:
		text, _ := AsString(repl)
		return lib.expand(m, out, text, s, end)
	}
	if lua.LVIsFalse(v) {
		return append(out, m.src[s:end]...)
	}
	text, ok := AsString(v)
	if !ok {
		Raise(L, "invalid replacement value (a "+v.Type().String()+")")
	}
	return append(out, text...)
}

// expand appends a replacement text, with the captures in place of %0 to %9.
func (lib *stringLib) expand(m *matcher, out []byte, text string, s, end int) []byte {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '%' {
			out = append(out, c)
			continue
		}
		i++
		switch {
		case i == len(text): // C reads the string's closing NUL here
			out = append(out, 0)
		case !isDigit(text[i]):
			out = append(out, text[i])
		case text[i] == '0':
			out = append(out, m.src[s:end]...)
		default:
			v, _ := AsString(m.captured(int(text[i]-'1'), s, end))
			out = append(out, v...)
		}
		if len(out) > lib.maxString {
			Raise(m.L, ErrTooLarge)
		}
	}
	return out
}
