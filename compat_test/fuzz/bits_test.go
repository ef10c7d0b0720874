package fuzz

import (
	"strings"
	"testing"
)

// FuzzBitfieldProgramsAnswerAsInRedis runs the words of an input as one BITFIELD on a text,
// then the same words without the writes as BITFIELD_RO.
func FuzzBitfieldProgramsAnswerAsInRedis(f *testing.F) {
	for _, program := range []string{
		"", "GET u8 0 GET i8 #1", "SET u8 0 300 GET u8 0", "OVERFLOW SAT INCRBY i5 #3 -100",
		"OVERFLOW FAIL INCRBY u63 7 9223372036854775807 SET i64 1 -9223372036854775808 GET u1 70",
		"OVERFLOW SAT SET i8 0 -9223372036854775700", "SET i64 100 -1 OVERFLOW WRAP INCRBY i63 99 1",
		"GET u64 0", "SET u8 -1 1", "OVERFLOW NO", "GET u8 #1152921504606846976", "SET u8", "SET u8 0 1.5 GET",
	} {
		f.Add([]byte("text"), program)
		f.Add([]byte("123"), program)
	}
	o := newOracle(f)
	var w *world
	f.Fuzz(func(t *testing.T, text []byte, program string) {
		if len(text)+len(program) > maxBytes || distant(program) {
			return
		}
		defer watch(program)()
		if w == nil || w.over {
			w = newWorld(t)
		}
		w.t = t
		words := strings.Fields(program)
		o.same(t, w, asItIs, "SET", "k", string(text))
		o.same(t, w, asItIs, append([]string{"BITFIELD_RO", "k"}, words...)...)
		o.same(t, w, asItIs, append([]string{"BITFIELD", "k"}, words...)...)
		o.same(t, w, asItIs, "GET", "k")
		o.same(t, w, asItIs, append([]string{"BITPOS", "k"}, words...)...)
		o.same(t, w, asItIs, append([]string{"BITCOUNT", "k"}, words...)...)
	})
}

// distant reports whether a program may name a bit that is megabytes away. The engine of
// newWorld allows only short strings.
func distant(program string) bool {
	for _, word := range strings.Fields(program) {
		if digits := strings.TrimLeft(word, "#"); len(digits) > 5 && len(digits) < 16 {
			return true
		}
	}
	return false
}
