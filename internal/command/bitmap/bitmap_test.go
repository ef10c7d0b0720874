package bitmap

import (
	"bytes"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// textAndRange draws a text with long rows of equal bytes, and a range of its bits.
func textAndRange(t *rapid.T) (text []byte, from, to int64) {
	for range rapid.IntRange(1, 4).Draw(t, "rows") {
		b := rapid.SampledFrom([]byte{0, 0xff, 0x10, 0xfe}).Draw(t, "byte")
		text = append(text, bytes.Repeat([]byte{b}, rapid.IntRange(1, 70).Draw(t, "length"))...)
	}
	from = rapid.Int64Range(0, 8*int64(len(text))-1).Draw(t, "from")
	return text, from, rapid.Int64Range(from+1, 8*int64(len(text))).Draw(t, "to")
}

func bitAt(text []byte, at int64) bool { return text[at/8]&(0x80>>(at%8)) != 0 }

func TestBitsAreCountedAndFoundAsOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, from, to := textAndRange(t)
		count, first := int64(0), map[bool]int64{true: to, false: to}
		for at := to - 1; at >= from; at-- {
			first[bitAt(text, at)] = at
			if bitAt(text, at) {
				count++
			}
		}
		if got := countBits(text, from, to); got != count {
			t.Errorf("countBits returns %d, want %d", got, count)
		}
		for value, want := range first {
			if got := findBit(text, from, to, value); got != want {
				t.Errorf("findBit(%v) returns %d, want %d", value, got, want)
			}
		}
	})
}

func TestAClearBitIsFoundBehindASetByte(t *testing.T) {
	text := append([]byte{0xff}, make([]byte, 32)...)
	if got := findBit(text, 0, 257, false); got != 8 {
		t.Errorf("findBit returns %d, want 8", got)
	}
}

func TestAFieldIsReadAsItWasWrittenAndItsNeighboursStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), 9, 20).Draw(t, "text")
		width := rapid.UintRange(1, 64).Draw(t, "width")
		at := rapid.Int64Range(0, 8*int64(len(text))-int64(width)).Draw(t, "at")
		value := rapid.Uint64().Draw(t, "value")
		written := bytes.Clone(text)
		writeField(written, at, width, value)
		if got, want := readField(written, at, width), value<<(64-width)>>(64-width); got != want {
			t.Fatalf("readField returns %x, want %x", got, want)
		}
		for i := range 8 * int64(len(text)) {
			if (i < at || i >= at+int64(width)) && bitAt(text, i) != bitAt(written, i) {
				t.Fatalf("bit %d has changed", i)
			}
		}
	})
}

func TestBitsBehindTheEndOfATextAreZero(t *testing.T) {
	for _, at := range []int64{3, 8, 60, 1 << 40} {
		if got := readField([]byte{0xff}, at, 64) << min(at, 8) >> min(at, 8); got != 0 && at >= 8 {
			t.Errorf("the field at bit %d is %x", at, got)
		}
	}
	if got := readField([]byte{0xff}, 3, 8); got != 0xf8 {
		t.Errorf("the field at bit 3 is %x, want f8", got)
	}
}

func TestFieldArithmeticIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := fieldType{rapid.Bool().Draw(t, "signed"), rapid.UintRange(1, 63).Draw(t, "width")}
		v := typ.narrow(rapid.Uint64().Draw(t, "v"))
		by := rapid.Int64().Draw(t, "by")
		sum := new(big.Int).Add(big.NewInt(v), big.NewInt(by))
		want := int64(0)
		switch {
		case sum.Cmp(big.NewInt(typ.limit(1))) > 0:
			want = 1
		case sum.Cmp(big.NewInt(typ.limit(-1))) < 0:
			want = -1
		}
		if got, excess := typ.add(v, by); excess != want || excess == 0 && got != sum.Int64() {
			t.Fatalf("%+v: %d + %d returns %d, excess %d", typ, v, by, got, excess)
		}
	})
}

func TestBitopCombinesTextsOfAnyLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Byte(), 0, len(a)).Draw(t, "b")
		times := rapid.SampledFrom([]int{1, 1, 70}).Draw(t, "times")
		a, b = bytes.Repeat(a, times), bytes.Repeat(b, times)
		for name, one := range map[string]func(x, y byte) byte{
			"and": func(x, y byte) byte { return x & y }, "or": func(x, y byte) byte { return x | y },
			"xor": func(x, y byte) byte { return x ^ y }, "not": func(x, _ byte) byte { return ^x },
		} {
			op, not := parseBitOperation([]byte(name))
			got := bytes.Clone(a)
			if not {
				clear(got)
				op(got, a)
			} else {
				op(got, b)
			}
			for i := range a {
				y := byte(0)
				if i < len(b) {
					y = b[i]
				}
				if want := one(a[i], y); got[i] != want {
					t.Fatalf("%s: byte %d is %x, want %x", name, i, got[i], want)
				}
			}
		}
	})
}
