package store

import (
	"bytes"
	"strconv"

	"github.com/lockredis/lockredis/internal/heapsize"
	"github.com/lockredis/lockredis/resp"
)

// embeddedMax is the length of the longest text with encoding embstr, in bytes.
const embeddedMax = 44

// String is the value of a string key: a 64-bit integer or a text. The command that
// wrote it decides between the two, and between Redis's two encodings of a text.
type String struct {
	text []byte // nil: an integer
	n    int64  // the integer; with a text, 1 means encoding raw whatever the length
}

// ParseString returns b as SET stores it: an integer if b is exactly the decimal
// form of one, otherwise a copy of the text.
func ParseString(b []byte) *String {
	if n, ok := resp.ParseInt(b); ok {
		return &String{n: n}
	}
	return NewText(b)
}

// NewText returns a copy of b as a text, even if b is the decimal form of an
// integer.
func NewText(b []byte) *String {
	text := make([]byte, len(b))
	copy(text, b)
	return &String{text: text}
}

// NewInt returns an integer.
func NewInt(n int64) *String { return &String{n: n} }

// NewZeros returns a raw text of n zero bytes (SETRANGE on a missing key).
func NewZeros(n int) *String { return NewRaw(make([]byte, n)) }

// NewRaw returns a raw text that keeps text.
func NewRaw(text []byte) *String { return &String{text: text, n: 1} }

// Type returns TypeString.
func (s *String) Type() Type { return TypeString }

// Encoding returns "int", "embstr" or "raw".
func (s *String) Encoding() string {
	switch {
	case s.text == nil:
		return "int"
	case s.n == 0 && len(s.text) <= embeddedMax:
		return "embstr"
	}
	return "raw"
}

// Clone returns an independent copy of the same encoding.
func (s *String) Clone() Value {
	c := &String{n: s.n}
	if s.text != nil {
		c.text = append([]byte{}, s.text...)
	}
	return c
}

// MemoryUsage estimates the memory of the value in bytes (see Value).
func (s *String) MemoryUsage(int) int64 {
	return int64(heapsize.Pointers[String](1) + heapsize.Text(cap(s.text)))
}

// Reuse returns the memory of the text, with length 0, if it fits a text of n bytes: it is
// large enough, and at most twice as large. Else it returns nil. The String is then invalid.
func (s *String) Reuse(n int) []byte {
	if cap(s.text) < n || cap(s.text) > 2*n {
		return nil
	}
	return s.text[:0]
}

// IsInt reports whether the encoding is "int".
func (s *String) IsInt() bool { return s.text == nil }

// Int returns the value as an integer. ok is false if it is a text that is not the
// decimal form of an integer.
func (s *String) Int() (n int64, ok bool) {
	if s.text == nil {
		return s.n, true
	}
	return resp.ParseInt(s.text)
}

// SetInt makes the value the integer n, in place.
func (s *String) SetInt(n int64) { s.text, s.n = nil, n }

// SetText makes the value a copy of b as a text, in place.
func (s *String) SetText(b []byte) { *s = *NewText(b) }

// SetRaw makes the value the raw text, which it keeps.
func (s *String) SetRaw(text []byte) { s.text, s.n = text, 1 }

// Len returns the length in bytes.
func (s *String) Len() int {
	if s.text == nil {
		var digits [20]byte
		return len(strconv.AppendInt(digits[:0], s.n, 10))
	}
	return len(s.text)
}

// Bytes returns the text. It writes the digits of an integer to scratch. The result
// is valid until the value or scratch changes.
func (s *String) Bytes(scratch []byte) []byte {
	if s.text == nil {
		return strconv.AppendInt(scratch[:0], s.n, 10)
	}
	return s.text
}

// Append appends b to the text and makes the value raw. It returns the new length in
// bytes.
func (s *String) Append(b []byte) int {
	s.toRaw()
	s.text = append(s.text, b...)
	return len(s.text)
}

// Overwrite writes b at offset and makes the value raw. It fills a gap before offset
// with zero bytes. It returns the new length in bytes.
func (s *String) Overwrite(offset int, b []byte) int {
	text := s.Grow(offset + len(b))
	copy(text[offset:], b)
	return len(text)
}

// Grow makes the value raw, appends zero bytes up to a length of n and returns the
// text, for writes in place. A longer text keeps its length. The text is valid until
// the value changes.
func (s *String) Grow(n int) []byte {
	s.toRaw()
	if n > len(s.text) {
		s.text = append(s.text, make([]byte, n-len(s.text))...)
	}
	return s.text
}

func (s *String) toRaw() {
	if s.text == nil {
		s.text = strconv.AppendInt(nil, s.n, 10)
	}
	s.n = 1
}

// Equal reports whether two values have the same bytes.
func (s *String) Equal(o *String) bool {
	var a, b [20]byte
	return bytes.Equal(s.Bytes(a[:]), o.Bytes(b[:]))
}
