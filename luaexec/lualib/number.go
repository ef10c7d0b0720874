package lualib

import (
	"math"
	"strconv"
	"strings"
)

// maxExactInt is the integer below which %.14g prints all digits.
const maxExactInt = 1e14

// FormatNumber returns the text of n in tostring and "..": C's %.14g, with inf, -inf,
// nan and -nan as glibc prints them.
func FormatNumber(n float64) string {
	if isExactInt(n) {
		return strconv.FormatInt(int64(n), 10)
	}
	var buf [32]byte
	return string(AppendNumber(buf[:0], n))
}

// isExactInt reports whether %.14g prints n as an integer with all digits. It is
// false for -0.
func isExactInt(n float64) bool {
	return n == math.Trunc(n) && math.Abs(n) < maxExactInt && (n != 0 || !math.Signbit(n))
}

// AppendNumber appends FormatNumber(n) to dst.
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
	case prec == 14 && isExactInt(n):
		return strconv.AppendInt(dst, int64(n), 10)
	}
	return strconv.AppendFloat(dst, n, 'g', prec, 64)
}

// ParseNumber converts s to a number as Lua 5.1 does. It accepts the numbers of C's
// strtod (decimal, hexadecimal, inf, nan) with white space around them, and ignores
// everything after a NUL byte, as C does. ok is false for other strings.
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

// parseShortInt converts up to 15 digits, the usual case. ok is false for other
// strings.
func parseShortInt(s string) (f float64, ok bool) {
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

// strtod converts the longest number at the start of s, after white space. end is
// the position after the number, or 0 if there is none.
func strtod(s string) (f float64, end int) {
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
	if end = scanDecimal(s, i); end == 0 {
		return 0, 0
	}
	return parseFloat(s[start:end]), end
}

// parseFloat converts text that a scan has already checked. The only possible error
// is overflow, for which C's result is ParseFloat's infinity too.
func parseFloat(text string) float64 {
	f, _ := strconv.ParseFloat(text, 64)
	return f
}

// readSpecial converts inf, infinity, nan or nan(letters) at s[i:]. end is the
// position after it, or 0 if there is none of them.
func readSpecial(s string, i int) (f float64, end int) {
	if hasPrefixFold(s[i:], "infinity") {
		return math.Inf(1), i + 8
	}
	if hasPrefixFold(s[i:], "inf") {
		return math.Inf(1), i + 3
	}
	if !hasPrefixFold(s[i:], "nan") {
		return 0, 0
	}
	end = i + 3
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
