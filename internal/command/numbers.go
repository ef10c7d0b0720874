package command

import (
	"bytes"
	"errors"
	"math"
	"math/big"
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

// INCRBYFLOAT and HINCRBYFLOAT compute with C's long double of x86-64, which has 64 bits of
// mantissa and 15 of exponent. A big.Float of precision 64 rounds every sum in the same way.
// It has no such bounds of the exponent; the code below checks them.
const (
	longDoubleBits   = 64
	longDoubleMaxExp = 16384    // every value is below 2^16384
	longDoubleMinExp = -16446   // a value up to 2^-16446 rounds to zero
	longDoubleMaxLen = 5 * 1024 // bytes; Redis's MAX_LONG_DOUBLE_CHARS
)

// ParseLongDouble parses a number as Redis 7.0 does (string2ld in util.c, which uses C's
// strtold): decimal or hexadecimal, inf and infinity, no spaces, no NaN. ok is also false
// for a number that is out of range or rounds to zero.
func ParseLongDouble(b []byte) (f *big.Float, ok bool) {
	if len(b) == 0 || len(b) >= longDoubleMaxLen {
		return nil, false
	}
	s, negative := strings.ToLower(string(b)), b[0] == '-'
	if negative || b[0] == '+' {
		s = s[1:]
	}
	if s == "inf" || s == "infinity" {
		return new(big.Float).SetInf(negative), true
	}
	base := 10
	if strings.HasPrefix(s, "0x") {
		base, s = 16, s[2:]
	}
	mantissa, exponent, ok := scanNumber(s, base)
	if !ok {
		return nil, false
	}
	f, ok = roundLongDouble(mantissa, base, exponent)
	if ok && negative {
		f.Neg(f)
	}
	return f, ok
}

// scanNumber parses digits with at most one point and an optional exponent. The value is
// mantissa·10^exponent, or mantissa·2^exponent for base 16.
func scanNumber(s string, base int) (mantissa *big.Int, exponent int, ok bool) {
	mark, perDigit := "e", 1
	if base == 16 {
		mark, perDigit = "p", 4
	}
	digits, power, hasPower := strings.Cut(s, mark)
	if hasPower {
		if exponent, ok = scanExponent(power); !ok {
			return nil, 0, false
		}
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if strings.ContainsAny(whole+fraction, "+-_") {
		return nil, 0, false
	}
	mantissa, ok = new(big.Int).SetString(whole+fraction, base)
	return mantissa, exponent - perDigit*len(fraction), ok
}

// scanExponent parses an exponent. It stops at 100,000, where every number is out of range.
func scanExponent(s string) (n int, ok bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == s {
		digits = strings.TrimPrefix(s, "+")
	}
	for i := range len(digits) {
		d := int(digits[i]) - '0'
		if d < 0 || d > 9 {
			return 0, false
		}
		n = min(n*10+d, 100_000)
	}
	if s[:len(s)-len(digits)] == "-" {
		n = -n
	}
	return n, digits != ""
}

// roundLongDouble returns the value that scanNumber's results stand for. ok is false if it is
// out of range or rounds to zero.
func roundLongDouble(mantissa *big.Int, base, exponent int) (f *big.Float, ok bool) {
	f = new(big.Float).SetPrec(longDoubleBits)
	if mantissa.Sign() == 0 {
		return f, true
	}
	switch {
	case base == 16:
		f.SetMantExp(f.SetInt(mantissa), exponent)
	case exponent > 2*longDoubleMaxLen || exponent < -3*longDoubleMaxLen:
		return nil, false
	case exponent >= 0:
		f.SetInt(mantissa.Mul(mantissa, powerOfTen(exponent)))
	default:
		f.Quo(new(big.Float).SetInt(mantissa), new(big.Float).SetInt(powerOfTen(-exponent)))
	}
	smallest := new(big.Float).SetMantExp(big.NewFloat(1), longDoubleMinExp)
	return f, inLongDouble(f) && f.Cmp(smallest) > 0
}

func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// inLongDouble reports whether f is finite and not too large for a long double.
func inLongDouble(f *big.Float) bool { return !f.IsInf() && f.MantExp(nil) <= longDoubleMaxExp }

// AddLongDouble returns a + b. ok is false when the sum is infinite or not a number.
func AddLongDouble(a, b *big.Float) (sum *big.Float, ok bool) {
	if a.IsInf() || b.IsInf() {
		return nil, false
	}
	sum = new(big.Float).SetPrec(longDoubleBits).Add(a, b)
	return sum, inLongDouble(sum)
}

// FormatLongDouble formats f as C's %.17Lf without trailing zeros, as Redis does (ld2string
// with LD_STR_HUMAN in util.c).
func FormatLongDouble(f *big.Float) []byte {
	text := f.Append(nil, 'f', 17)
	text = bytes.TrimRight(text, "0")
	text = bytes.TrimSuffix(text, []byte("."))
	if string(text) == "-0" {
		return text[1:]
	}
	return text
}
