package lualib

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	maxCaptures = 32
	// maxMatchDepth limits the recursion of the matcher, which is one level for each
	// item of a pattern. C Lua's stack overflows at a lower depth; Go's does not
	// overflow at this one.
	maxMatchDepth = 100000

	// longClass is the length in bytes above which a class counts as more than one
	// step.
	longClass = 32

	capUnfinished = -1 // capture.size before its closing parenthesis
	capPosition   = -2 // capture.size of (), which captures a position

	patternSpecials = "^$*+?.([%-"
)

type capture struct{ start, size int }

// matcher matches one subject against one pattern by backtracking, as Lua 5.1 does: a
// pattern ends at its first NUL byte, and %f and %b are supported.
type matcher struct {
	L        *lua.LState
	src, pat string
	level    int
	depth    int
	steps    steps
	caps     [maxCaptures]capture
}

// newMatcher returns a matcher. If anchors is true, it removes a leading ^ from the
// pattern, and anchored reports whether there was one.
func newMatcher(L *lua.LState, src, pat string, anchors bool) (m matcher, anchored bool) {
	if i := strings.IndexByte(pat, 0); i >= 0 {
		pat = pat[:i]
	}
	if anchors && pat != "" && pat[0] == '^' {
		pat, anchored = pat[1:], true
	}
	return matcher{L: L, src: src, pat: pat}, anchored
}

// start matches the whole pattern at src[s:]. It returns the end of the match, or -1
// if there is no match.
func (m *matcher) start(s int) int {
	m.level, m.depth = 0, 0
	return m.match(s, 0)
}

// at is the pattern's byte at p, NUL after its end.
func (m *matcher) at(p int) byte {
	if p < len(m.pat) {
		return m.pat[p]
	}
	return 0
}

// match matches the items from pat[p] on at src[s:], one level deeper. It returns the
// end of the match, or -1.
func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxMatchDepth {
		Raise(m.L, "pattern too complex")
	}
	m.steps.add(m.L, 1, 0)
	end := m.walk(s, p)
	m.depth--
	return end
}

// walk is match without the count of levels. It loops over the items, and recurses
// for items that have more than one way to match.
func (m *matcher) walk(s, p int) int {
	for p < len(m.pat) {
		switch m.pat[p] {
		case '(':
			if m.at(p+1) == ')' {
				return m.openCapture(s, p+2, capPosition)
			}
			return m.openCapture(s, p+1, capUnfinished)
		case ')':
			return m.closeCapture(s, p+1)
		case '$':
			if p+1 == len(m.pat) {
				if s == len(m.src) {
					return s
				}
				return -1
			}
		case '%':
			if next, width := m.special(s, p); width > 0 {
				if next < 0 {
					return -1
				}
				s, p = next, p+width
				continue
			}
		}
		ep := m.classEnd(p)
		if ep-p > longClass {
			m.steps.add(m.L, ep-p, 0)
		}
		switch m.at(ep) {
		case '?':
			if m.matchesOne(s, p, ep) {
				if end := m.match(s+1, ep+1); end >= 0 {
					return end
				}
			}
			p = ep + 1
			continue
		case '*':
			return m.maxExpand(s, p, ep)
		case '+':
			if !m.matchesOne(s, p, ep) {
				return -1
			}
			return m.maxExpand(s+1, p, ep)
		case '-':
			return m.minExpand(s, p, ep)
		}
		if !m.matchesOne(s, p, ep) {
			return -1
		}
		s, p = s+1, ep
	}
	return s
}

// special matches %b, %f and %1 to %9 at pat[p]. next is the end of the match, or -1.
// width is the length of the item, or 0 if the item is an ordinary class.
func (m *matcher) special(s, p int) (next, width int) {
	switch c := m.at(p + 1); {
	case c == 'b':
		return m.balance(s, p+2), 4
	case c == 'f':
		p += 2
		if m.at(p) != '[' {
			Raise(m.L, "missing '[' after '%f' in pattern")
		}
		ep := m.classEnd(p)
		if m.inSet(m.byteAt(s-1), p, ep-1) || !m.inSet(m.byteAt(s), p, ep-1) {
			s = -1
		}
		return s, ep - p + 2
	case isDigit(c):
		return m.backReference(s, c), 2
	}
	return 0, 0
}

// byteAt is the subject's byte at s, NUL before its start and after its end.
func (m *matcher) byteAt(s int) byte {
	if s >= 0 && s < len(m.src) {
		return m.src[s]
	}
	return 0
}

// classEnd is the position after the single-character class at p.
func (m *matcher) classEnd(p int) int {
	c := m.pat[p]
	p++
	if c == '%' {
		if p == len(m.pat) {
			Raise(m.L, "malformed pattern (ends with '%')")
		}
		return p + 1
	}
	if c != '[' {
		return p
	}
	if m.at(p) == '^' {
		p++
	}
	for first := true; first || m.at(p) != ']'; first = false {
		if p >= len(m.pat) {
			Raise(m.L, "malformed pattern (missing ']')")
		}
		if m.pat[p] == '%' && p+1 < len(m.pat) {
			p++
		}
		p++
	}
	return p + 1
}

// matchesOne reports whether the class pat[p:ep] matches the subject's byte at s.
func (m *matcher) matchesOne(s, p, ep int) bool {
	if ep-p > longClass {
		m.steps.add(m.L, ep-p, 0)
	}
	if s >= len(m.src) {
		return false
	}
	c := m.src[s]
	switch m.pat[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.pat[p+1])
	case '[':
		return m.inSet(c, p, ep-1)
	}
	return m.pat[p] == c
}

// inClass reports whether c is in %class. An upper-case letter is the complement of
// its class. Any other character stands for itself.
func inClass(c, class byte) bool {
	in := false
	switch class | 0x20 {
	case 'a':
		in = isAlpha(c)
	case 'c':
		in = isCntrl(c)
	case 'd':
		in = isDigit(c)
	case 'l':
		in = isLower(c)
	case 'p':
		in = isPunct(c)
	case 's':
		in = isSpace(c)
	case 'u':
		in = isUpper(c)
	case 'w':
		in = isAlnum(c)
	case 'x':
		in = isHex(c)
	case 'z':
		in = c == 0
	default:
		return class == c
	}
	if !isAlpha(class) {
		return class == c
	}
	return in == isLower(class)
}

// inSet reports whether the set pat[p:end+1] contains c. Its [ is at p, its ] at end.
func (m *matcher) inSet(c byte, p, end int) bool {
	want := true
	if m.at(p+1) == '^' {
		want = false
		p++
	}
	for p++; p < end; p++ {
		switch {
		case m.pat[p] == '%':
			p++
			if inClass(c, m.at(p)) {
				return want
			}
		case m.at(p+1) == '-' && p+2 < end:
			if m.pat[p] <= c && c <= m.pat[p+2] {
				return want
			}
			p += 2
		case m.pat[p] == c:
			return want
		}
	}
	return !want
}

// maxExpand matches the class pat[p:ep] as often as possible, and then less often
// until the rest of the pattern matches.
func (m *matcher) maxExpand(s, p, ep int) int {
	first := s
	for m.matchesOne(s, p, ep) {
		s++
	}
	m.steps.add(m.L, s-first, 0)
	for ; s >= first; s-- {
		if end := m.match(s, ep+1); end >= 0 {
			return end
		}
	}
	return -1
}

// minExpand matches the class pat[p:ep] as often as the rest of the pattern needs.
func (m *matcher) minExpand(s, p, ep int) int {
	for {
		if end := m.match(s, ep+1); end >= 0 {
			return end
		}
		if !m.matchesOne(s, p, ep) {
			return -1
		}
		s++
	}
}

func (m *matcher) openCapture(s, p, size int) int {
	if m.level >= maxCaptures {
		Raise(m.L, "too many captures")
	}
	m.caps[m.level] = capture{start: s, size: size}
	m.level++
	end := m.match(s, p)
	if end < 0 {
		m.level--
	}
	return end
}

func (m *matcher) closeCapture(s, p int) int {
	i := m.level - 1
	for ; i >= 0 && m.caps[i].size != capUnfinished; i-- {
	}
	if i < 0 {
		Raise(m.L, "invalid pattern capture")
	}
	m.caps[i].size = s - m.caps[i].start
	end := m.match(s, p)
	if end < 0 {
		m.caps[i].size = capUnfinished
	}
	return end
}

func (m *matcher) backReference(s int, digit byte) int {
	i := int(digit) - '1'
	if i < 0 || i >= m.level || m.caps[i].size == capUnfinished {
		Raise(m.L, "invalid capture index")
	}
	c := m.caps[i]
	if c.size < 0 || !strings.HasPrefix(m.src[s:], m.src[c.start:c.start+c.size]) {
		return -1
	}
	return s + c.size
}

func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pat) {
		Raise(m.L, "unbalanced pattern")
	}
	open, closing := m.pat[p], m.pat[p+1]
	if m.byteAt(s) != open {
		return -1
	}
	for depth, i := 1, s+1; i < len(m.src); i++ {
		switch m.src[i] {
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		case open:
			depth++
		}
	}
	m.steps.add(m.L, len(m.src)-s, 0)
	return -1
}

// captured is capture i, from 0, of a match from s to end. Capture 0 of a pattern
// without captures is the whole match.
func (m *matcher) captured(i, s, end int) lua.LValue {
	if i >= m.level {
		if i != 0 {
			Raise(m.L, "invalid capture index")
		}
		return lua.LString(m.src[s:end])
	}
	c := m.caps[i]
	switch c.size {
	case capUnfinished:
		Raise(m.L, "unfinished capture")
	case capPosition:
		return lua.LNumber(c.start + 1)
	}
	return lua.LString(m.src[c.start : c.start+c.size])
}

// pushCaptures pushes all captures and returns their number. If the pattern has none
// and whole is true, it pushes the whole match.
func (m *matcher) pushCaptures(s, end int, whole bool) int {
	n := m.level
	if n == 0 && whole {
		n = 1
	}
	for i := range n {
		m.L.Push(m.captured(i, s, end))
	}
	return n
}
