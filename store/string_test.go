package store

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTheEncodingOfAStringDependsOnHowItWasWritten(t *testing.T) {
	for _, c := range []struct {
		name string
		s    *String
		want string
	}{
		{"an integer", ParseString([]byte("12345678901")), "int"},
		{"the largest integer", ParseString([]byte("9223372036854775807")), "int"},
		{"the smallest integer", ParseString([]byte("-9223372036854775808")), "int"},
		{"one more than the largest", ParseString([]byte("9223372036854775808")), "embstr"},
		{"a leading zero", ParseString([]byte("01")), "embstr"},
		{"a minus zero", ParseString([]byte("-0")), "embstr"},
		{"nothing", ParseString(nil), "embstr"},
		{"44 bytes", ParseString([]byte(strings.Repeat("x", 44))), "embstr"},
		{"45 bytes", ParseString([]byte(strings.Repeat("x", 45))), "raw"},
		{"a text of digits", NewText([]byte("12")), "embstr"},
		{"zeros", NewZeros(3), "raw"},
	} {
		if got := c.s.Encoding(); got != c.want {
			t.Errorf("the encoding of %s is %s, want %s", c.name, got, c.want)
		}
		if got := c.s.Clone().Encoding(); got != c.want {
			t.Errorf("the encoding of the clone of %s is %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAWriteInPlaceMakesAStringRawAndSetIntMakesItAnInteger(t *testing.T) {
	s := ParseString([]byte("12"))
	if s.Append([]byte("3")) != 3 || s.Encoding() != "raw" || string(s.Bytes(nil)) != "123" {
		t.Errorf("after Append it is %s %q", s.Encoding(), s.Bytes(nil))
	}
	if n, ok := s.Int(); !ok || n != 123 || s.IsInt() {
		t.Errorf("Int returns %d, %v", n, ok)
	}
	s.SetInt(124)
	if s.Encoding() != "int" || s.Len() != 3 {
		t.Errorf("after SetInt it is %s of %d", s.Encoding(), s.Len())
	}
	if s.Overwrite(5, []byte("x")) != 6 || string(s.Bytes(nil)) != "124\x00\x00x" {
		t.Errorf("after Overwrite it is %q", s.Bytes(nil))
	}
	if !s.Clone().(*String).Equal(s) {
		t.Error("the clone is not equal")
	}
}

func TestOnlyTheDecimalFormOfAnIntegerIsAnInteger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := rapid.SampledFrom([]int64{0, math.MaxInt64, math.MinInt64})
		n := rapid.OneOf(rapid.Int64(), limits).Draw(t, "n")
		if got := ParseString(strconv.AppendInt(nil, n, 10)); !got.IsInt() || got.n != n {
			t.Fatalf("%d reads as %+v", n, got)
		}
		text := rapid.StringMatching(`[-+ ]?[0-9]{0,20}[ x]?`).Draw(t, "text")
		got := ParseString([]byte(text))
		n, ok := got.Int()
		if ok != got.IsInt() || ok != (strconv.FormatInt(n, 10) == text) {
			t.Fatalf("%q reads as %+v", text, got)
		}
	})
}

func TestParseFloatAcceptsExactlyWhatRedisAccepts(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "-5": -5, "+5": 5, ".5": 0.5, "5.": 5, "3.0e3": 3000, "1E-5": 1e-5, "-0": 0,
		"0x10": 16, "0x1p3": 8, "0x.8": 0.5, "0X1.": 1, "-0x10": -16,
		"inf": math.Inf(1), "-INF": math.Inf(-1), "Infinity": math.Inf(1),
		"123456789012345": 123456789012345, "1234567890123456789": 1234567890123456789, "4e-320": 4e-320,
		"0e99999": 0, "0.000": 0, "0x0p5": 0,
	} {
		if got, ok := ParseFloat([]byte(text)); !ok || got != want {
			t.Errorf("%q reads as %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"", " 1", "1 ", "1_0", "0x_1", "nan", "-nan", "nan(1)", "1e", "1e+", "0x", "0x.", ".", "abc",
		"1e400", "-1e400", "1e-400", "+-5", "in", "1x", "1\x00", "0x1p",
	} {
		if got, ok := ParseFloat([]byte(text)); ok {
			t.Errorf("%q reads as %v", text, got)
		}
	}
}
