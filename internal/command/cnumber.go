package command

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Redis parses some arguments with functions of the C library. The functions below accept
// and refuse the same input.

// CText returns b up to its first NUL byte: the part that C functions read.
func CText(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// SmallestNormal is the smallest float64 with full precision, DBL_MIN in C.
const SmallestNormal = 0x1p-1022

// Strtod parses all of b, up to a NUL byte, as C's strtod does. Leading white space,
// hexadecimal numbers and inf are allowed, empty input is zero, NaN is refused. inRange is
// false when strtod reports ERANGE: the number is too large, or too small for full precision.
func Strtod(b []byte) (f float64, inRange, ok bool) {
	b = CText(b)
	if len(b) == 0 {
		return 0, true, true
	}
	s := strings.TrimLeft(string(b), " \t\n\v\f\r")
	if strings.Contains(s, "_") {
		return 0, false, false
	}
	digits := strings.ToLower(strings.TrimLeft(s, "+-"))
	if strings.HasPrefix(digits, "0x") && !strings.Contains(digits, "p") {
		s += "p0" // ParseFloat demands an exponent
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(f) {
		return 0, false, false
	}
	underflow := math.Abs(f) < SmallestNormal &&
		strings.ContainsAny(mantissa(s), "123456789abcdefABCDEF")
	return f, err == nil && !underflow, true
}

// mantissa returns the number s without its exponent.
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

// Atoi parses the integer at the beginning of b as C's atoi does: white space and a sign can
// precede it. The result is 0 if there is no integer. atoi stops above 2^20, because no
// command line has so many arguments.
func Atoi(b []byte) (n int) {
	b = bytes.TrimLeft(b, " \t\n\v\f\r")
	negative := len(b) > 0 && b[0] == '-'
	if negative || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<20 {
			break
		}
		n = n*10 + int(c-'0')
	}
	if negative {
		return -n
	}
	return n
}

// AddOverflows reports whether a + b is out of int64's range.
func AddOverflows(a, b int64) bool {
	return b > 0 && a > math.MaxInt64-b || b < 0 && a < math.MinInt64-b
}
