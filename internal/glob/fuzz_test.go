package glob

import "testing"

// element is one part of a parsed pattern: a *, or a set of bytes that matches
// one byte of the text.
type element struct {
	star bool
	set  [256]bool
}

// elements parses a pattern.
func elements(pattern string, nocase bool) (list []element) {
	for pattern != "" {
		var e element
		c := pattern[0]
		pattern = pattern[1:]
		switch {
		case c == '*':
			e.star = true
		case c == '?':
			e.add(0, 255)
		case c == '[':
			pattern = e.class(pattern, nocase)
		case c == '\\' && pattern != "":
			c, pattern = pattern[0], pattern[1:]
			e.letter(c, nocase)
		default:
			e.letter(c, nocase)
		}
		list = append(list, e)
	}
	return list
}

func (e *element) add(from, to int) {
	for c := from; c <= to; c++ {
		e.set[uint8(c)] = true
	}
}

func (e *element) letter(c byte, nocase bool) {
	e.set[c] = true
	if nocase && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
		e.set[c^0x20] = true
	}
}

// class parses a class, up to and including its closing bracket. p begins after
// the opening bracket. It returns the rest of the pattern.
func (e *element) class(p string, nocase bool) string {
	negated := p != "" && p[0] == '^'
	if negated {
		p = p[1:]
	}
	for p != "" && p[0] != ']' {
		switch {
		case p[0] == '\\' && len(p) > 1:
			e.set[p[1]] = true
			p = p[2:]
		case len(p) > 2 && p[1] == '-':
			e.between(p[0], p[2], nocase)
			p = p[3:]
		default:
			e.letter(p[0], nocase)
			p = p[1:]
		}
	}
	for c := range e.set {
		e.set[c] = e.set[c] != negated
	}
	if p != "" {
		p = p[1:]
	}
	return p
}

// between adds a range of signed bytes. The bounds are put in order first, and
// folded to lower case after that.
func (e *element) between(a, b byte, nocase bool) {
	low, high := min(int8(a), int8(b)), max(int8(a), int8(b))
	fold := func(c int) int {
		if nocase && c >= 'A' && c <= 'Z' {
			return c + 0x20
		}
		return c
	}
	for c := -128; c < 128; c++ {
		if fold(c) >= fold(int(low)) && fold(c) <= fold(int(high)) {
			e.set[uint8(c)] = true
		}
	}
}

// reference is a plain matcher to compare Match with. For each element in turn
// it computes which prefixes of s the elements so far match.
func reference(pattern, s string, nocase bool) bool {
	if s == "" {
		return pattern == ""
	}
	matched := make([]bool, len(s)+1) // matched[i]: the elements so far match s[:i]
	matched[0] = true
	for _, e := range elements(pattern, nocase) {
		next := make([]bool, len(s)+1)
		for i := range next {
			if e.star {
				next[i] = matched[i] || i > 0 && next[i-1]
			} else {
				next[i] = i > 0 && matched[i-1] && e.set[s[i-1]]
			}
		}
		matched = next
	}
	return matched[len(s)]
}

func FuzzMatchAgreesWithAPlainMatcher(f *testing.F) {
	for _, pattern := range []string{
		"a*b?c", "[^a-c]*", `\[*[\]a`, "[", "*[*", "[a-", "**?", "[z-A]", "[\x7f-\x80]",
		`[\B]`, `a\`, "[]", "[^]", "*",
	} {
		f.Add(pattern, "abcabc", false)
		f.Add(pattern, "]-ABC", true)
		f.Add(pattern, "", true)
	}
	f.Fuzz(func(t *testing.T, pattern, s string, nocase bool) {
		if got, want := Match(pattern, s, nocase), reference(pattern, s, nocase); got != want {
			t.Errorf("Match(%q, %q, %v) is %v, want %v", pattern, s, nocase, got, want)
		}
	})
}
