package store

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// ParseFloat reads a double as Redis 7.0 does (util.c string2d, C's strtod). It
// accepts decimal and hexadecimal numbers, and "inf" and "infinity" in any case. It
// refuses spaces, NaN and anything after the number. It also refuses a number that
// is too large for a double, or so small that it would become zero.
func ParseFloat(b []byte) (f float64, ok bool) {
	if n, ok := resp.ParseInt(b); ok && -1<<53 <= n && n <= 1<<53 {
		return float64(n), true
	}
	s := string(b)
	if s == "" || strings.Contains(s, "_") { // Go accepts underscores, C does not
		return 0, false
	}
	if hexFloat(s) && !strings.ContainsAny(s, "pP") {
		s += "p0" // Go demands an exponent, C does not
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax) || math.IsInf(f, 0) && err != nil || math.IsNaN(f):
		return 0, false
	case f == 0 && !zeroMantissa(s):
		return 0, false
	}
	return f, true
}

// hexFloat reports whether s begins as a hexadecimal number does.
func hexFloat(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x'
}

// zeroMantissa reports whether the number s is exactly zero, and not only rounded
// to zero. s must be a valid number.
func zeroMantissa(s string) bool {
	end, digits := "eE", "123456789"
	if hexFloat(s) {
		end, digits = "pP", "123456789abcdefABCDEF"
		s = strings.TrimLeft(s, "+-")[2:]
	}
	if i := strings.IndexAny(s, end); i >= 0 {
		s = s[:i]
	}
	return !strings.ContainsAny(s, digits)
}
