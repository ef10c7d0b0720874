package lualib

import (
	"math"
	"strconv"
	"strings"
)

// maxExactInt bounds the integers that %.14g prints with all their digits.
const maxExactInt = 1e14

// FormatNumber returns n as Lua 5.1 shows it in tostring and "..": C's %.14g,
// with inf, -inf, nan and -nan as glibc prints them.
func FormatNumber(n float64) string {
	if n == math.Trunc(n) && math.Abs(n) < maxExactInt && (n != 0 || !math.Signbit(n)) {
		return strconv.FormatInt(int64(n), 10)
	}
	var buf [32]byte
	return string(AppendNumber(buf[:0], n))
}

// AppendNumber appends what FormatNumber returns.
func AppendNumber(dst []byte, n float64) []byte {
	return appendG(dst, n, 14)
}

// appendG appends n as C's %.<prec>g does.
func appendG(dst []byte, n float64, prec int) []byte {
	switch {
	case n != n:
		if math.Signbit(n) {
			dst = append(dst, '-')
		}
		return append(dst, "nan"...)
	case math.IsInf(n, 1):
		return append(dst, "inf"...)
	case math.IsInf(n, -1):
		return append(dst, "-inf"...)
	case prec == 14 && n == math.Trunc(n) && math.Abs(n) < maxExactInt && (n != 0 || !math.Signbit(n)):
		return strconv.AppendInt(dst, int64(n), 10)
	}
	return strconv.AppendFloat(dst, n, 'g', prec, 64)
}

// ParseNumber converts s as Lua 5.1 converts strings to numbers: what C's
// strtod reads (decimal, hexadecimal, inf, nan), with white space around it.
// Like C it sees nothing behind a NUL byte. ok is false for anything else.
func ParseNumber(s string) (n float64, ok bool) {
	if n, ok := parseShortInt(s); ok {
		return n, true
	}
	n, end := strtod(s)
	if end == 0 {
		return 0, false
	}
	for end < len(s) && isSpace(s[end]) {
		end++
	}
	if end < len(s) && s[end] != 0 {
		return 0, false
	}
	return n, true
}

// parseShortInt reads the usual case, up to 15 digits and nothing else.
func parseShortInt(s string) (float64, bool) {
	if len(s) == 0 || len(s) > 15 {
		return 0, false
	}
	var n int64
	for i := 0; i < len(s); i++ {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	return float64(n), true
}

// strtod reads the longest number at the start of s, after white space, and
// returns it with the position behind it; 0 when there is none.
func strtod(s string) (float64, int) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	start := i
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	neg := i > start && s[start] == '-'
	if f, end := readSpecial(s, i); end > 0 {
		if neg {
			f = math.Copysign(f, -1)
		}
		return f, end
	}
	if end, hasExp := scanHex(s, i); end > 0 {
		text := s[start:end]
		if !hasExp {
			text += "p0"
		}
		return parseFloat(text), end
	}
	end := scanDecimal(s, i)
	if end == 0 {
		return 0, 0
	}
	return parseFloat(s[start:end]), end
}

// parseFloat reads text that a scan has already found well formed; the only
// error left is overflow, for which ParseFloat's infinity is C's answer too.
func parseFloat(text string) float64 {
	f, _ := strconv.ParseFloat(text, 64)
	return f
}

// readSpecial reads inf, infinity, nan or nan(letters) at s[i:].
func readSpecial(s string, i int) (float64, int) {
	if hasPrefixFold(s[i:], "infinity") {
		return math.Inf(1), i + 8
	}
	if hasPrefixFold(s[i:], "inf") {
		return math.Inf(1), i + 3
	}
	if !hasPrefixFold(s[i:], "nan") {
		return 0, 0
	}
	end := i + 3
	if end < len(s) && s[end] == '(' {
		for j := end + 1; j < len(s); j++ {
			if s[j] == ')' {
				return math.NaN(), j + 1
			}
			if !isAlnum(s[j]) && s[j] != '_' {
				break
			}
		}
	}
	return math.NaN(), end
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// scanHex returns the end of a hexadecimal number at s[i:], 0 if there is none.
func scanHex(s string, i int) (end int, hasExp bool) {
	if i+2 >= len(s) || s[i] != '0' || s[i+1]|0x20 != 'x' {
		return 0, false
	}
	j, digits := i+2, 0
	for ; j < len(s) && isHex(s[j]); j++ {
		digits++
	}
	if j < len(s) && s[j] == '.' {
		k := j + 1
		for ; k < len(s) && isHex(s[k]); k++ {
			digits++
		}
		j = k
	}
	if digits == 0 {
		return 0, false
	}
	if e := scanExponent(s, j, 'p'); e > 0 {
		return e, true
	}
	return j, false
}

// scanDecimal returns the end of a decimal number at s[i:], 0 if there is none.
func scanDecimal(s string, i int) int {
	j, digits := i, 0
	for ; j < len(s) && isDigit(s[j]); j++ {
		digits++
	}
	if j < len(s) && s[j] == '.' {
		for j++; j < len(s) && isDigit(s[j]); j++ {
			digits++
		}
	}
	if digits == 0 {
		return 0
	}
	if e := scanExponent(s, j, 'e'); e > 0 {
		return e
	}
	return j
}

// scanExponent returns the end of an exponent at s[i:], 0 if there is none.
func scanExponent(s string, i int, letter byte) int {
	if i >= len(s) || s[i]|0x20 != letter {
		return 0
	}
	i++
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	start := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i == start {
		return 0
	}
	return i
}
