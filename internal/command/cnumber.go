package command

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Redis hands some arguments to C's library as they are. What that makes of
// them is written here.

// cText is the part before a NUL, which is all that C sees of a string.
func cText(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// strtod reads the whole of b as C's strtod does: space in front, hexadecimal
// numbers and inf are allowed, nothing at all is zero, NaN is refused. inRange
// is false for what is too large, or so small that it became zero (ERANGE).
func strtod(b []byte) (f float64, inRange, ok bool) {
	b = cText(b)
	if len(b) == 0 {
		return 0, true, true
	}
	s := strings.TrimLeft(string(b), " \t\n\v\f\r")
	if strings.Contains(s, "_") {
		return 0, false, false
	}
	if digits := strings.ToLower(strings.TrimLeft(s, "+-")); strings.HasPrefix(digits, "0x") && !strings.Contains(digits, "p") {
		s += "p0"
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(f) {
		return 0, false, false
	}
	underflow := f == 0 && strings.ContainsAny(mantissa(s), "123456789abcdefABCDEF")
	return f, err == nil && !underflow, true
}

// mantissa cuts off the exponent of a number that has been read.
func mantissa(s string) string {
	exponent := "eE"
	if strings.ContainsAny(s, "xX") {
		exponent = "pP"
	}
	if i := strings.IndexAny(s, exponent); i >= 0 {
		return s[:i]
	}
	return s
}

// leadingInt is C's atoi for counts: the digits that b begins with.
func leadingInt(b []byte) (n int) {
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<20 {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}

func addOverflows(a, b int64) bool {
	return b > 0 && a > math.MaxInt64-b || b < 0 && a < math.MinInt64-b
}
