package rdb

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// readFunctions returns the source texts of a payload, and the error at its end.
func readFunctions(payload []byte) (codes []string, err error) {
	for code, err := range Functions(payload) {
		if err != nil {
			return codes, err
		}
		codes = append(codes, code)
	}
	return codes, nil
}

func TestFunctionsComeBack(t *testing.T) {
	for _, codes := range [][]string{
		nil, {""}, {"#!lua name=a\nreturn 1"},
		{"one", strings.Repeat("two ", 100), strings.Repeat("\x00\xff", 1<<16)},
	} {
		for _, compress := range []bool{false, true} {
			payload := (&Encoder{Compress: compress}).DumpFunctions(codes)
			if err := Verify(payload, Accepts{}); err != nil {
				t.Errorf("%.20q: %v", codes, err)
			}
			got, err := readFunctions(payload)
			if err != nil || !slices.Equal(got, codes) {
				t.Errorf("%.20q comes back as %.20q, %v", codes, got, err)
			}
		}
	}
}

func FuzzFunctions(f *testing.F) {
	for _, body := range []string{
		"", "\xf5\x03abc", "\xf5\xc3\x05\x0a\x04hello", "\xf5\xc0\x05",
		"\xf5\x81\xff\xff\xff\xff\xff\xff\xff\xff",
		"\xf6\x01a\x03LUA\x01\x01d\x01x", "\xf6\x01a\x03LUA\x00\x01x\xf5\x01y", "\xf5\x01a\x00",
		"\xf5\x80\x7f\xff\xff\xff",
		"\xf5\xc3\x01\x81\x00\x00\x00\xff\x00\x00\x00\x00\x00",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		codes, err := readFunctions(new(Encoder).withFoot(slices.Clone(body)))
		var broken *FunctionError
		if err != nil && !errors.Is(err, ErrNoFunction) && !errors.As(err, &broken) {
			t.Fatalf("%q: %v", body, err)
		}
		size := 0
		for _, code := range codes {
			size += len(code)
		}
		// LZF makes 264 bytes of 3 at most.
		if size > 100*len(body) {
			t.Fatalf("%q: %d bytes", body, size)
		}
		again, err := readFunctions(new(Encoder).DumpFunctions(codes))
		if err != nil || !slices.Equal(again, codes) {
			t.Fatalf("%q comes back as %q, %v", codes, again, err)
		}
	})
}
