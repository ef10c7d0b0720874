package glob

// Match reports whether s matches pattern by the rules of Redis 7.0.15 (util.c,
// stringmatchlen). A pattern may contain * and ?, classes with ranges, ^ and
// escapes, and \ before a literal byte. nocase folds ASCII letters.
//
// A class without a closing bracket extends to the end of the pattern. The
// empty string matches only the empty pattern: "*" does not match it.
//
// The time is bounded by len(pattern) * len(s). After a mismatch Match
// retries from the last * only: if an earlier * took more bytes, that could not help.
// There is no recursion, so a pattern of any length is safe.
func Match(pattern, s string, nocase bool) bool {
	p, i := 0, 0
	star, mark := -1, 0 // pattern[star:] follows the last *; it is tried at s[mark:]
	for {
		switch {
		case p == len(pattern):
			if i == len(s) {
				return true
			}
		case i == len(s):
			return false // a retry would have even less of s left for the same pattern
		case pattern[p] == '*':
			p = skipStars(pattern, p)
			if p == len(pattern) {
				return true
			}
			star, mark = p, i
			continue
		default:
			next, ok := matchOne(pattern, p, s[i], nocase)
			if !ok {
				break
			}
			p, i = next, i+1
			if i == len(s) {
				p = skipStars(pattern, p)
			}
			continue
		}
		if star < 0 || mark+1 == len(s) {
			return false
		}
		mark++
		p, i = star, mark
	}
}

func skipStars(pattern string, p int) int {
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p
}

// matchOne matches c against the pattern element at offset p. next is the
// offset of the next element.
func matchOne(pattern string, p int, c byte, nocase bool) (next int, ok bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return matchClass(pattern, p+1, c, nocase)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, same(pattern[p], c, nocase)
}

// matchClass matches c against a class. p is the offset after the opening bracket.
// An escaped byte is compared without folding its case, even with nocase.
func matchClass(pattern string, p int, c byte, nocase bool) (next int, ok bool) {
	not := p < len(pattern) && pattern[p] == '^'
	if not {
		p++
	}
	for p < len(pattern) && pattern[p] != ']' {
		left := len(pattern) - p
		switch {
		case left >= 2 && pattern[p] == '\\':
			p++
			ok = ok || pattern[p] == c
		case left >= 3 && pattern[p+1] == '-':
			ok = ok || inRange(pattern[p], pattern[p+2], c, nocase)
			p += 2
		default:
			ok = ok || same(pattern[p], c, nocase)
		}
		p++
	}
	return min(p+1, len(pattern)), ok != not
}

// inRange reports whether c lies between from and to. Bytes compare as C's
// signed char: bytes from 0x80 on are negative. Bounds in the wrong order are
// swapped before case is folded.
func inRange(from, to, c byte, nocase bool) bool {
	start, end := int8(from), int8(to)
	if start > end {
		start, end = end, start
	}
	if nocase {
		start, end, c = int8(lower(byte(start))), int8(lower(byte(end))), lower(c)
	}
	return start <= int8(c) && int8(c) <= end
}

func same(a, b byte, nocase bool) bool {
	return a == b || nocase && lower(a) == lower(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
