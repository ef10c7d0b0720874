package store

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// packedElems returns copies of the elements, read forward.
func packedElems(p Packed) [][]byte {
	var out [][]byte
	for pos := p.First(); pos >= 0; {
		var elem []byte
		elem, pos = p.Elem(pos)
		out = append(out, bytes.Clone(elem))
	}
	return out
}

func checkPacked(t *rapid.T, p Packed, want [][]byte) {
	if p.Len() != len(want) {
		t.Fatalf("Len is %d, want %d", p.Len(), len(want))
	}
	equal := func(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }
	if got := packedElems(p); !equal(got, want) {
		t.Fatalf("read forward: %q, want %q", got, want)
	}
	var back [][]byte
	for pos := p.Last(); pos >= 0; pos = p.Prev(pos) {
		back = append(back, p.At(pos))
	}
	slices.Reverse(back)
	if !equal(back, want) {
		t.Fatalf("read backward: %q, want %q", back, want)
	}
	for i := range want {
		if !bytes.Equal(p.At(p.Seek(i)), want[i]) || !bytes.Equal(p.At(p.Seek(i-len(want))), want[i]) {
			t.Fatalf("Seek(%d) or Seek(%d) finds another element", i, i-len(want))
		}
	}
	if p.Seek(len(want)) != -1 || p.Seek(-len(want)-1) != -1 {
		t.Fatal("Seek out of range returns a position")
	}
}

// packedElem draws an element. Its length is near a change of the encoding.
func packedElem(t *rapid.T) []byte {
	lengths := []int{0, 1, 2, 5, 60, 126, 127, 128, 130, 16380, 16384, 16390}
	n := rapid.SampledFrom(lengths).Draw(t, "length")
	return bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, n)
}

func TestAPackedBehavesAsASliceOfByteStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Packed
		var want [][]byte
		at := func() (i, pos int) {
			i = rapid.IntRange(0, len(want)-1).Draw(t, "index")
			return i, p.Seek(i)
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch op := rapid.IntRange(0, 5).Draw(t, "op"); {
			case op == 0 || len(want) == 0:
				a, b := packedElem(t), packedElem(t)
				p.Append(a, b)
				want = append(want, a, b)
			case op == 1:
				a := packedElem(t)
				p.Prepend(a)
				want = slices.Insert(want, 0, a)
			case op == 2:
				i, pos := at()
				a := packedElem(t)
				if p.Insert(pos, a) != pos {
					t.Fatalf("Insert at %d returns another position", pos)
				}
				want = slices.Insert(want, i, a)
			case op == 3:
				i, pos := at()
				a := packedElem(t)
				p.Replace(pos, a)
				want[i] = a
			case op == 4:
				i, pos := at()
				n := rapid.IntRange(0, 3).Draw(t, "n")
				next := p.Delete(pos, n)
				want = slices.Delete(want, i, min(i+n, len(want)))
				if next != p.Seek(i) {
					t.Fatalf("Delete returned %d, want %d", next, p.Seek(i))
				}
			default:
				i, _ := at()
				skip := rapid.IntRange(0, 2).Draw(t, "skip")
				first := -1
				for j := 0; j < len(want); j += skip + 1 {
					if bytes.Equal(want[j], want[i]) {
						first = p.Seek(j)
						break
					}
				}
				if got := p.Find(p.First(), want[i], skip); got != first {
					t.Fatalf("Find returns %d, want %d", got, first)
				}
				if got := p.Find(-1, want[i], skip); got != -1 {
					t.Fatalf("Find from -1 returns %d", got)
				}
			}
			checkPacked(t, p, want)
		}
	})
}

func TestAPackedCountsMoreElementsThanItsHeaderCan(t *testing.T) {
	var p Packed
	for range 65540 {
		p.Append([]byte("x"))
	}
	if p.Len() != 65540 {
		t.Fatalf("Len is %d", p.Len())
	}
	p.Delete(p.First(), 10)
	if p.Len() != 65530 {
		t.Fatalf("Len is %d after Delete", p.Len())
	}
	p.Append([]byte("x"))
	if p.Len() != 65531 {
		t.Fatalf("Len is %d after Append", p.Len())
	}
}

func TestAPackedRedissonLockTakesAtMost48Bytes(t *testing.T) {
	var p Packed
	p.Append([]byte("8743c9c0-0795-4907-87fd-6c719a6b4586:1234"), []byte("1"))
	if cap(p) > 48 {
		t.Fatalf("a packed lock takes %d bytes", cap(p))
	}
}
