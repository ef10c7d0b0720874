package lualib

import (
	"strconv"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

// jsonKind is the kind of a token. Its name is a part of cjson's errors.
type jsonKind int

const (
	jsonObjBegin jsonKind = iota
	jsonObjEnd
	jsonArrBegin
	jsonArrEnd
	jsonString
	jsonNumber
	jsonBoolean
	jsonNull
	jsonColon
	jsonComma
	jsonEnd
	jsonError
)

func (k jsonKind) String() string {
	return [...]string{
		"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END", "T_STRING", "T_NUMBER",
		"T_BOOLEAN", "T_NULL", "T_COLON", "T_COMMA", "T_END", "T_ERROR",
	}[k]
}

// jsonDecoder reads one document. tok, at, text, num and flag are the current token,
// which next has read.
type jsonDecoder struct {
	*cjsonLib
	L     *lua.LState
	src   string
	pos   int
	depth int
	steps steps
	stack int // slots of C Lua's stack that the C library would use
	tmp   []byte

	tok  jsonKind
	at   int     // position
	text string  // value of a string, or the error of an error token
	num  float64 // value of a number
	flag bool    // value of a boolean
}

func (lib *cjsonLib) decode(L *lua.LState) int {
	if L.GetTop() != 1 {
		ArgError(L, 1, "expected 1 argument")
	}
	d := jsonDecoder{cjsonLib: lib, L: L, src: CheckString(L, 1), stack: 1}
	if len(d.src) >= 2 && (d.src[0] == 0 || d.src[1] == 0) {
		Raise(L, "JSON parser does not support UTF-16 or UTF-32")
	}
	d.next()
	v := d.value()
	d.next()
	if d.tok != jsonEnd {
		d.expected("the end")
	}
	d.steps.end(L, valueBytes)
	L.Push(v)
	return 1
}

// expected throws the parse error for a token that is not what.
func (d *jsonDecoder) expected(what string) {
	found := d.tok.String()
	if d.tok == jsonError {
		found = d.text
	}
	Raise(d.L, "Expected "+what+" but found "+found+" at character "+strconv.Itoa(d.at+1))
}

// value reads a value, which begins with the current token.
func (d *jsonDecoder) value() lua.LValue {
	d.steps.add(d.L, 1, valueBytes)
	switch d.tok {
	case jsonString:
		return lua.LString(d.text)
	case jsonNumber:
		return lua.LNumber(d.num)
	case jsonBoolean:
		return lua.LBool(d.flag)
	case jsonNull:
		return d.null
	case jsonObjBegin:
		return d.object()
	case jsonArrBegin:
		return d.array()
	}
	d.expected("value")
	return lua.LNil
}

// descend enters an object or array, for which the C library needs slots on C Lua's
// stack. It throws above decode_max_depth, or when C Lua's stack would be full, which a
// script that raises the maximum depth can reach.
func (d *jsonDecoder) descend(slots int) {
	d.depth++
	if d.depth > d.decodeMaxDepth || d.stack+slots > maxCStack {
		at := " at character " + strconv.Itoa(d.pos)
		Raise(d.L, "Found too many nested data structures ("+strconv.Itoa(d.depth)+")"+at)
	}
	d.stack += slots - 1
}

func (d *jsonDecoder) ascend(slots int) {
	d.depth--
	d.stack -= slots - 1
}

func (d *jsonDecoder) object() lua.LValue {
	d.descend(3)
	t := d.L.CreateTable(0, 1)
	d.next()
	for d.tok != jsonObjEnd {
		if d.tok != jsonString {
			d.expected("object key string")
		}
		key := d.text
		d.next()
		if d.tok != jsonColon {
			d.expected("colon")
		}
		d.next()
		t.RawSetString(key, d.value())
		if !d.another(jsonObjEnd, "comma or object end") {
			break
		}
	}
	d.ascend(3)
	return t
}

func (d *jsonDecoder) array() lua.LValue {
	d.descend(2)
	d.next()
	if d.tok == jsonArrEnd {
		d.ascend(2)
		return d.L.CreateTable(0, 0)
	}
	t := d.L.CreateTable(2, 0)
	for {
		t.Append(d.value())
		if !d.another(jsonArrEnd, "comma or array end") {
			break
		}
	}
	d.ascend(2)
	return t
}

// another reads the token after an element. It returns false at the end of the
// container. After a comma it reads the first token of the next element and returns
// true. For any other token it throws an error that expects what. The end of an array
// after a comma is an error in value.
func (d *jsonDecoder) another(end jsonKind, what string) bool {
	d.next()
	if d.tok == end {
		return false
	}
	if d.tok != jsonComma {
		d.expected(what)
	}
	d.next()
	if d.tok == jsonObjEnd && end == jsonObjEnd {
		d.expected("object key string")
	}
	return true
}

// peek is the byte at i, NUL after the end.
func (d *jsonDecoder) peek(i int) byte {
	if i < len(d.src) {
		return d.src[i]
	}
	return 0
}

// set sets the current token, which has width bytes.
func (d *jsonDecoder) set(kind jsonKind, width int) {
	d.tok = kind
	d.pos += width
}

// bad makes the current token an error token.
func (d *jsonDecoder) bad(what string) {
	d.tok, d.at, d.text = jsonError, d.pos, what
}

// next reads the next token. A NUL byte is the end, as in the C library.
func (d *jsonDecoder) next() {
	for c := d.peek(d.pos); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = d.peek(d.pos) {
		d.pos++
	}
	d.at = d.pos
	switch c := d.peek(d.pos); c {
	case 0:
		d.set(jsonEnd, 0)
	case '{':
		d.set(jsonObjBegin, 1)
	case '}':
		d.set(jsonObjEnd, 1)
	case '[':
		d.set(jsonArrBegin, 1)
	case ']':
		d.set(jsonArrEnd, 1)
	case ',':
		d.set(jsonComma, 1)
	case ':':
		d.set(jsonColon, 1)
	case '"':
		d.string()
	default:
		d.word(c)
	}
}

// word reads numbers and the names true, false, null.
func (d *jsonDecoder) word(c byte) {
	rest := d.src[d.pos:]
	switch {
	case c == '-' || isDigit(c):
		if d.decodeInvalid == 0 && d.invalidNumber() {
			d.bad("invalid number")
			return
		}
		d.number()
	case hasPrefix(rest, "true"):
		d.flag = true
		d.set(jsonBoolean, 4)
	case hasPrefix(rest, "false"):
		d.flag = false
		d.set(jsonBoolean, 5)
	case hasPrefix(rest, "null"):
		d.set(jsonNull, 4)
	case d.decodeInvalid == 1 && startsNumber(c) && d.invalidNumber():
		d.number()
	default:
		d.bad("invalid token")
	}
}

func hasPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && s[:len(prefix)] == prefix
}

// startsNumber reports whether cjson's scanner allows c as the first character of a
// number that JSON does not have.
func startsNumber(c byte) bool {
	return c == '+' || c == 'i' || c == 'I' || c == 'n' || c == 'N'
}

// invalidNumber reports whether there is a number that JSON does not have: with a
// plus, hexadecimal, with leading zeros, inf or nan.
func (d *jsonDecoder) invalidNumber() bool {
	i := d.pos
	if d.peek(i) == '+' {
		return true
	}
	if d.peek(i) == '-' {
		i++
	}
	if d.peek(i) == '0' {
		c := d.peek(i + 1)
		return c|0x20 == 'x' || isDigit(c)
	}
	if d.peek(i) <= '9' || i >= len(d.src) {
		return false
	}
	return hasPrefixFold(d.src[i:], "inf") || hasPrefixFold(d.src[i:], "nan")
}

func (d *jsonDecoder) number() {
	n, width := strtod(d.src[d.pos:])
	if width == 0 {
		d.bad("invalid number")
		return
	}
	d.num = n
	d.set(jsonNumber, width)
}

// string reads a quoted string. If it has no escapes, its value is a part of src,
// without a copy.
func (d *jsonDecoder) string() {
	d.pos++
	start := d.pos
	for i := start; i < len(d.src); i++ {
		switch d.src[i] {
		case '"':
			d.text = d.src[start:i]
			d.tok, d.pos = jsonString, i+1
			return
		case '\\', 0:
			d.tmp = append(d.tmp[:0], d.src[start:i]...)
			d.pos = i
			d.escapedString()
			return
		}
	}
	d.pos = len(d.src)
	d.bad("unexpected end of string")
}

// escapedString reads the rest of a string from its first escape or NUL on.
func (d *jsonDecoder) escapedString() {
	for c := d.peek(d.pos); c != '"'; c = d.peek(d.pos) {
		switch {
		case c == 0:
			d.bad("unexpected end of string")
			return
		case c != '\\':
			d.tmp = append(d.tmp, c)
			d.pos++
			continue
		case d.peek(d.pos+1) == 'u':
			if !d.unicodeEscape() {
				d.bad("invalid unicode escape code")
				return
			}
			continue
		}
		c = unescape(d.peek(d.pos + 1))
		if c == 0 {
			d.bad("invalid escape code")
			return
		}
		d.tmp = append(d.tmp, c)
		d.pos += 2
	}
	d.text = string(d.tmp)
	d.set(jsonString, 1)
}

// unescape is the byte that c stands for after a backslash, or 0.
func unescape(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return 0
}

// unicodeEscape reads \uXXXX, or a surrogate pair of two of them, and appends the
// character. ok is false if the escape is malformed.
func (d *jsonDecoder) unicodeEscape() (ok bool) {
	r, width := d.hex4(d.pos+2), 6
	if r < 0 {
		return false
	}
	if r&0xF800 == 0xD800 {
		if r&0x400 != 0 || d.peek(d.pos+6) != '\\' || d.peek(d.pos+7) != 'u' {
			return false
		}
		low := d.hex4(d.pos + 8)
		if low < 0 || low&0xFC00 != 0xDC00 {
			return false
		}
		r, width = (r&0x3FF)<<10|low&0x3FF+0x10000, 12
	}
	d.tmp = utf8.AppendRune(d.tmp, rune(r))
	d.pos += width
	return true
}

// hex4 is the value of the four hexadecimal digits at i, or -1.
func (d *jsonDecoder) hex4(i int) int {
	v := 0
	for j := i; j < i+4; j++ {
		c := d.peek(j)
		switch {
		case isDigit(c):
			v = v<<4 | int(c-'0')
		case isHex(c):
			v = v<<4 | int(c|0x20-'a') + 10
		default:
			return -1
		}
	}
	return v
}
