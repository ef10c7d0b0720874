package wire

import (
	"strconv"
	"strings"
)

// Kind is the type byte in front of a reply on the wire.
type Kind byte

// The types of RESP2, then the types that RESP3 added.
const (
	SimpleString Kind = '+'
	SimpleError  Kind = '-'
	Integer      Kind = ':'
	BulkString   Kind = '$'
	Array        Kind = '*'

	Null      Kind = '_'
	Double    Kind = ','
	Boolean   Kind = '#'
	BlobError Kind = '!'
	Verbatim  Kind = '='
	BigNumber Kind = '('
	Map       Kind = '%'
	Set       Kind = '~'
	Attribute Kind = '|'
	Push      Kind = '>'
)

// Value is one reply. The zero Value is no reply and renders as "(none)".
type Value struct {
	Kind Kind
	// IsNil is true for RESP2's null bulk and null array and for RESP3's null.
	IsNil bool
	// Str holds the content of a scalar. For a one-line type it is the text after the type
	// byte: ":12" gives "12", ",inf" gives "inf". For a bulk type it is the payload.
	Str []byte
	// Elems holds the elements of an aggregate. A Map or an Attribute has its keys at even
	// indexes and its values at odd indexes. The last element of an Attribute is the value
	// that it describes.
	Elems []Value
	// Raw is the reply exactly as received, elements included. No later read changes it.
	Raw []byte
}

// Int returns the number of an Integer. It returns false for every other kind, and for a
// text that is not a 64-bit integer.
func (v Value) Int() (int64, bool) {
	if v.Kind != Integer {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v.Str), 10, 64)
	return n, err == nil
}

// IsError reports whether the reply is an error of either form.
func (v Value) IsError() bool { return v.Kind == SimpleError || v.Kind == BlobError }

// IsAggregate reports whether the reply has elements. A null array has none.
func (v Value) IsAggregate() bool {
	switch v.Kind {
	case Array, Map, Set, Attribute, Push:
		return !v.IsNil
	}
	return false
}

// String renders the reply on one line so that two replies render alike exactly
// when they are alike:
//
//	+OK  -ERR text  :12            simple string, error, integer
//	"a\x00b"  (nil)                bulk string, null bulk
//	["a" :1]  (nil array)          array, null array
//	(null)  ,1.5  #t  (12345       RESP3 null, double, boolean, big number
//	="txt:text"  !"ERR text"       verbatim string, blob error
//	%{"k" => "v"}  ~{"a" "b"}      map, set
//	>["message" "c" "m"]           push
//	|{"k" => "v"} "described"      attribute and the value it stands before
//	[-"ERR text" +OK]              inside an aggregate, texts of several words are quoted
//
// Bytes outside printable ASCII are escaped as in Quote.
func (v Value) String() string {
	var b strings.Builder
	if v.IsAggregate() {
		v.write(&b)
	} else {
		v.writeScalar(&b, false)
	}
	return b.String()
}

// Pretty renders like String, but an aggregate wider than width columns gets one line for
// each element, indented by two spaces a level. Only the first line of a reply begins at
// the left edge, so that several replies can stand below one another.
func (v Value) Pretty(width int) string {
	var b strings.Builder
	v.pretty(&b, width, "")
	return b.String()
}

// brackets returns the text before and after the elements of an aggregate.
func (v Value) brackets() (open, shut string) {
	switch v.Kind {
	case Map:
		return "%{", "}"
	case Set:
		return "~{", "}"
	case Attribute:
		return "|{", "}"
	case Push:
		return ">[", "]"
	}
	return "[", "]"
}

func (v Value) write(b *strings.Builder) {
	if !v.IsAggregate() {
		v.writeScalar(b, true)
		return
	}
	open, shut := v.brackets()
	elems, described := v.split()
	b.WriteString(open)
	for i, e := range elems {
		if i > 0 {
			b.WriteString(v.separator(i))
		}
		e.write(b)
	}
	b.WriteString(shut)
	if described != nil {
		b.WriteByte(' ')
		described.write(b)
	}
}

// split separates the value that an attribute describes from the attribute's own pairs.
func (v Value) split() (elems []Value, described *Value) {
	if v.Kind != Attribute || len(v.Elems) == 0 {
		return v.Elems, nil
	}
	last := len(v.Elems) - 1
	return v.Elems[:last], &v.Elems[last]
}

func (v Value) separator(i int) string {
	if (v.Kind == Map || v.Kind == Attribute) && i%2 == 1 {
		return " => "
	}
	return " "
}

// writeScalar writes a reply that has no elements. Inside an aggregate, a text that could
// be read as several elements is quoted.
func (v Value) writeScalar(b *strings.Builder, inside bool) {
	switch {
	case v.Kind == 0:
		b.WriteString("(none)")
	case v.Kind == Null:
		b.WriteString("(null)")
	case v.IsNil && v.Kind == Array:
		b.WriteString("(nil array)")
	case v.IsNil:
		b.WriteString("(nil)")
	case v.Kind == BulkString:
		b.WriteString(Quote(v.Str))
	case v.Kind == Verbatim || v.Kind == BlobError || inside && !isWord(v.Str):
		b.WriteByte(byte(v.Kind))
		b.WriteString(Quote(v.Str))
	default:
		b.WriteByte(byte(v.Kind))
		b.WriteString(escape(v.Str, false))
	}
}

// isWord reports whether a one-line text needs no quotes between blanks and brackets.
func isWord(s []byte) bool {
	for _, c := range s {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '-',
			c == '+':
		default:
			return false
		}
	}
	return len(s) > 0
}

func (v Value) pretty(b *strings.Builder, width int, indent string) {
	line := v.String()
	if !v.IsAggregate() || v.Kind == Attribute || len(v.Elems) == 0 || len(indent)+len(line) <= width {
		b.WriteString(line)
		return
	}
	open, shut := v.brackets()
	b.WriteString(open)
	for i, e := range v.Elems {
		if i > 0 && v.separator(i) == " => " {
			b.WriteString(" => ")
		} else {
			b.WriteString("\n" + indent + "  ")
		}
		e.prettyInside(b, width, indent+"  ")
	}
	b.WriteString(shut)
}

func (v Value) prettyInside(b *strings.Builder, width int, indent string) {
	if v.IsAggregate() {
		v.pretty(b, width, indent)
		return
	}
	v.writeScalar(b, true)
}

// Quote returns bytes as a double-quoted string on one line, with \" \\ \n \r \t, and
// \xNN for everything else outside printable ASCII, as redis-cli does. Split reads it
// back.
func Quote(s []byte) string { return `"` + escape(s, true) + `"` }

func escape(s []byte, quoted bool) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '\\', c == '"' && quoted:
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < 0x20 || c >= 0x7f:
			b.WriteString(`\x`)
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
