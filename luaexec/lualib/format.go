package lualib

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// longString is the length from which %s without a precision copies a string with
// its NUL bytes. A shorter string goes through C's sprintf, which stops at a NUL.
const longString = 100

// formatSpec is one conversion of string.format: C's flags, width (0 if none)
// and precision (-1 if none).
type formatSpec struct {
	minus, plus, space, alt, zero bool
	width, prec                   int
}

func (lib *stringLib) format(L *lua.LState) int {
	f, top, arg := CheckString(L, 1), L.GetTop(), 1
	var small [128]byte
	out := small[:0]
	for i := 0; i < len(f); {
		j := strings.IndexByte(f[i:], '%')
		if j < 0 {
			out = append(out, f[i:]...)
			break
		}
		out = append(out, f[i:i+j]...)
		if i += j + 1; i < len(f) && f[i] == '%' {
			out = append(out, '%')
			i++
			continue
		}
		if arg++; arg > top {
			ArgError(L, arg, "no value")
		}
		spec, end := scanSpec(L, f, i)
		verb := byte(0)
		if end < len(f) {
			verb = f[end]
		}
		out = lib.formatOne(L, out, spec, verb, arg)
		checkSize(L, len(out), lib.maxString)
		i = end + 1
	}
	L.Push(lua.LString(out))
	return 1
}

// scanSpec reads flags, width and precision at f[i:]. It also returns the position of
// the verb.
func scanSpec(L *lua.LState, f string, i int) (formatSpec, int) {
	s, start := formatSpec{prec: -1}, i
	for ; i < len(f) && strings.IndexByte("-+ #0", f[i]) >= 0; i++ {
		s.minus = s.minus || f[i] == '-'
		s.plus = s.plus || f[i] == '+'
		s.space = s.space || f[i] == ' '
		s.alt = s.alt || f[i] == '#'
		s.zero = s.zero || f[i] == '0'
	}
	if i-start >= 6 {
		Raise(L, "invalid format (repeated flags)")
	}
	s.width, i = twoDigits(f, i)
	if i < len(f) && f[i] == '.' {
		s.prec, i = twoDigits(f, i+1)
	}
	if i < len(f) && isDigit(f[i]) {
		Raise(L, "invalid format (width or precision too long)")
	}
	return s, i
}

func twoDigits(f string, i int) (n, end int) {
	for end = i; end < len(f) && end < i+2 && isDigit(f[end]); end++ {
		n = n*10 + int(f[end]-'0')
	}
	return n, end
}

// formatOne appends argument number arg, formatted with s and verb. verb is 0 if the
// format ends before it.
func (lib *stringLib) formatOne(
	L *lua.LState, out []byte, s formatSpec, verb byte, arg int,
) []byte {
	switch verb {
	case 'c':
		// C loses the bytes after a NUL in its buffer, padding included.
		c := byte(toInt32(checkNumber(L, arg)))
		return appendUntilNUL(out, s.pad(nil, "", []byte{c}, false))
	case 'd', 'i':
		return s.appendSigned(out, toInt64(checkNumber(L, arg)))
	case 'o', 'u', 'x', 'X':
		return s.appendUnsigned(out, toUint64(checkNumber(L, arg)), verb)
	case 'e', 'E', 'f', 'g', 'G':
		return s.appendFloat(out, checkNumber(L, arg), verb)
	case 'q':
		str := CheckString(L, arg)
		checkSize(L, len(out)+len(str), lib.maxString)
		return appendQuoted(out, str)
	case 's':
		str := CheckString(L, arg)
		checkSize(L, len(out)+len(str), lib.maxString)
		if s.prec < 0 && len(str) >= longString {
			return append(out, str...)
		}
		if i := strings.IndexByte(str, 0); i >= 0 {
			str = str[:i]
		}
		if s.prec >= 0 && s.prec < len(str) {
			str = str[:s.prec]
		}
		if s.width <= len(str) {
			return append(out, str...)
		}
		return s.pad(out, "", []byte(str), false)
	}
	name := string([]byte{verb})
	if verb == 0 {
		name = ""
	}
	Raise(L, "invalid option '%"+name+"' to 'format'")
	return nil
}

func appendUntilNUL(out, text []byte) []byte {
	if i := bytes.IndexByte(text, 0); i >= 0 {
		text = text[:i]
	}
	return append(out, text...)
}

// pad appends sign and body, padded to the width: with zeros between sign and body if
// zeros is true, else with spaces.
func (s formatSpec) pad(out []byte, sign string, body []byte, zeros bool) []byte {
	fill := s.width - len(sign) - len(body)
	if !s.minus && !zeros {
		out = appendFill(out, ' ', fill)
	}
	out = append(out, sign...)
	if !s.minus && zeros {
		out = appendFill(out, '0', fill)
	}
	out = append(out, body...)
	if s.minus {
		out = appendFill(out, ' ', fill)
	}
	return out
}

func appendFill(out []byte, c byte, n int) []byte {
	for ; n > 0; n-- {
		out = append(out, c)
	}
	return out
}

// sign is the text before the digits of a signed number.
func (s formatSpec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case s.plus:
		return "+"
	case s.space:
		return " "
	}
	return ""
}

func (s formatSpec) appendSigned(out []byte, n int64) []byte {
	u := uint64(n)
	if n < 0 {
		u = -u
	}
	var buf [128]byte
	return s.pad(out, s.sign(n < 0), s.digits(buf[:0], u, 10), s.zero && s.prec < 0)
}

// digits appends u with leading zeros up to the precision. Zero with precision zero
// has no digit.
func (s formatSpec) digits(buf []byte, u uint64, base int) []byte {
	var tmp [24]byte
	d := tmp[:0]
	if u != 0 || s.prec != 0 {
		d = strconv.AppendUint(d, u, base)
	}
	return append(appendFill(buf, '0', s.prec-len(d)), d...)
}

func (s formatSpec) appendUnsigned(out []byte, u uint64, verb byte) []byte {
	base, prefix := 16, ""
	switch verb {
	case 'o':
		base = 8
	case 'u':
		base = 10
	default:
		if s.alt && u != 0 {
			prefix = "0" + string(rune(verb))
		}
	}
	var buf [128]byte
	body := s.digits(buf[:0], u, base)
	if verb == 'o' && s.alt && (len(body) == 0 || body[0] != '0') {
		body = append([]byte{'0'}, body...)
	}
	if verb == 'X' {
		body = bytes.ToUpper(body)
	}
	return s.pad(out, prefix, body, s.zero && s.prec < 0)
}

func (s formatSpec) appendFloat(out []byte, f float64, verb byte) []byte {
	sign, zeros := s.sign(math.Signbit(f)), s.zero
	f = math.Abs(f)
	var buf [512]byte
	body := buf[:0]
	switch {
	case f != f:
		body, zeros = append(body, "nan"...), false
	case f > math.MaxFloat64:
		body, zeros = append(body, "inf"...), false
	default:
		body = s.floatDigits(body, f, verb|0x20)
	}
	if isUpper(verb) {
		body = bytes.ToUpper(body)
	}
	return s.pad(out, sign, body, zeros)
}

func (s formatSpec) floatDigits(body []byte, f float64, verb byte) []byte {
	prec := s.prec
	if prec < 0 {
		prec = 6
	}
	if verb == 'g' && prec == 0 {
		prec = 1
	}
	if !s.alt {
		return strconv.AppendFloat(body, f, verb, prec, 64)
	}
	if verb == 'g' {
		return appendAltG(body, f, prec)
	}
	body = strconv.AppendFloat(body, f, verb, prec, 64)
	if prec > 0 {
		return body
	}
	return withPoint(body)
}

// appendAltG is %#g: prec digits, with trailing zeros and a point.
func appendAltG(body []byte, f float64, prec int) []byte {
	sci := strconv.AppendFloat(nil, f, 'e', prec-1, 64)
	exp, _ := strconv.Atoi(string(sci[bytes.IndexByte(sci, 'e')+1:]))
	if exp < -4 || exp >= prec {
		return append(body, withPoint(sci)...)
	}
	return withPoint(strconv.AppendFloat(body, f, 'f', prec-1-exp, 64))
}

// withPoint adds a point after the digits of a number that has none.
func withPoint(body []byte) []byte {
	if bytes.IndexByte(body, '.') >= 0 {
		return body
	}
	end := bytes.IndexByte(body, 'e')
	if end < 0 {
		return append(body, '.')
	}
	tail := string(body[end:])
	return append(append(body[:end], '.'), tail...)
}

// appendQuoted appends s as a Lua string literal.
func appendQuoted(out []byte, s string) []byte {
	out = append(out, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\', '\n':
			out = append(out, '\\', c)
		case '\r':
			out = append(out, '\\', 'r')
		case 0:
			out = append(out, '\\', '0', '0', '0')
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
