package store

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// elemGen makes elements that are often equal, and sometimes as large as a node.
func elemGen() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		size := rapid.SampledFrom([]int{0, 1, 1, 1, 5, 127, 128, 3000, 9000}).Draw(t, "size")
		return bytes.Repeat([]byte{rapid.SampledFrom([]byte("abc")).Draw(t, "byte")}, size)
	})
}

// listWith returns an empty list with a list-max-listpack-size.
func listWith(size int) *List { return NewList(&Limits{ListSize: size}) }

func listElems(l *List) [][]byte {
	elems := [][]byte{}
	l.Each(func(elem []byte) bool {
		elems = append(elems, bytes.Clone(elem))
		return true
	})
	return elems
}

// removeModel does for the model what List.Remove does.
func removeModel(model [][]byte, elem []byte, count int) (kept [][]byte) {
	back, left := count < 0, max(count, -count)
	if back {
		slices.Reverse(model)
	}
	for _, m := range model {
		if bytes.Equal(m, elem) && (count == 0 || left > 0) {
			left--
			continue
		}
		kept = append(kept, m)
	}
	if back {
		slices.Reverse(kept)
	}
	return kept
}

func TestAListBehavesAsASliceOfElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{-1, -2, 1, 3, 100}).Draw(t, "list-max-listpack-size")
		l, model := listWith(size), [][]byte{}
		index := func() int { return rapid.IntRange(0, len(model)-1).Draw(t, "index") }
		t.Repeat(map[string]func(*rapid.T){
			"push back": func(t *rapid.T) {
				elem := elemGen().Draw(t, "elem")
				l.PushBack(elem)
				model = append(model, elem)
			},
			"push front": func(t *rapid.T) {
				elem := elemGen().Draw(t, "elem")
				l.PushFront(elem)
				model = slices.Insert(model, 0, elem)
			},
			"pop": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("empty")
				}
				got, want := l.PopFront(), model[0]
				model = model[1:]
				if !bytes.Equal(got, want) {
					t.Fatalf("popped %.20q, want %.20q", got, want)
				}
				if len(model) == 0 {
					return
				}
				got, want = l.PopBack(), model[len(model)-1]
				model = model[:len(model)-1]
				if !bytes.Equal(got, want) {
					t.Fatalf("popped %.20q, want %.20q", got, want)
				}
			},
			"insert": func(t *rapid.T) {
				at, elem := rapid.IntRange(0, len(model)).Draw(t, "at"), elemGen().Draw(t, "elem")
				if at == len(model) {
					l.PushBack(elem)
				} else if rapid.Bool().Draw(t, "after") {
					l.InsertAfter(at, elem)
					at++
				} else {
					l.InsertBefore(at, elem)
				}
				model = slices.Insert(model, at, elem)
			},
			"set": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("empty")
				}
				at, elem := index(), elemGen().Draw(t, "elem")
				l.Set(at, elem)
				model[at] = elem
			},
			"remove": func(t *rapid.T) {
				elem, count := elemGen().Draw(t, "elem"), rapid.IntRange(-2, 2).Draw(t, "count")
				before := len(model)
				model = removeModel(model, elem, count)
				if removed := l.Remove(elem, count); removed != before-len(model) {
					t.Fatalf("Remove returned %d, want %d", removed, before-len(model))
				}
			},
			"trim": func(t *rapid.T) {
				from := rapid.IntRange(0, min(3, len(model))).Draw(t, "from")
				to := rapid.IntRange(max(from, len(model)-3), len(model)).Draw(t, "to")
				l.Trim(from, to)
				model = slices.Clone(model[from:to])
			},
			"": func(t *rapid.T) { checkList(t, l, model) },
		})
	})
}

func checkList(t *rapid.T, l *List, model [][]byte) {
	if l.Len() != len(model) {
		t.Fatalf("Len is %d, want %d", l.Len(), len(model))
	}
	if !slices.EqualFunc(listElems(l), model, bytes.Equal) {
		t.Fatalf("the elements are %.20q, want %.20q", listElems(l), model)
	}
	it := l.Iter(l.Len()-1, true)
	for i := len(model) - 1; i >= 0; i-- {
		if elem, ok := it.Next(); !ok || !bytes.Equal(elem, model[i]) || !bytes.Equal(l.At(i), model[i]) {
			t.Fatalf("element %d differs, from the last on", i)
		}
	}
	if err := l.check(); err != nil && len(model) > 0 {
		t.Fatal(err)
	}
}

func TestAClonedListIsIndependent(t *testing.T) {
	l := listWith(-2)
	l.PushBack([]byte("a"))
	c := l.Clone().(*List)
	l.PushBack([]byte("b"))
	l.Set(0, []byte("z"))
	if got := listElems(c); len(got) != 1 || string(got[0]) != "a" {
		t.Fatalf("a change of the list changed the clone to %q", got)
	}
}

func TestAPoppedElementStaysValid(t *testing.T) {
	l := listWith(-2)
	for _, e := range []string{"one", "two", "three"} {
		l.PushBack([]byte(e))
	}
	first := l.PopFront()
	for range 100 {
		l.PushFront([]byte("xxxxx"))
	}
	if string(first) != "one" {
		t.Fatalf("a push changed the popped element to %q", first)
	}
}

func benchList(n int) *List {
	l := listWith(-2)
	for i := range n {
		l.PushBack(fmt.Appendf(nil, "element:%08d", i))
	}
	return l
}

func BenchmarkList(b *testing.B) {
	for _, n := range []int{1e3, 1e6} {
		elem := []byte("element:xxxxxxxx")
		run := func(name string, do func(l *List, i int)) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				l := benchList(n)
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					do(l, i)
				}
			})
		}
		run("PushPopFront", func(l *List, _ int) { l.PushFront(elem); l.PopFront() })
		run("PushBackPopFront", func(l *List, _ int) { l.PushBack(elem); l.PopFront() })
		run("AtMiddle", func(l *List, _ int) { l.At(l.Len() / 2) })
		run("SetMiddle", func(l *List, _ int) { l.Set(l.Len()/2, elem) })
		run("InsertRemoveMiddle", func(l *List, _ int) {
			l.InsertBefore(l.Len()/2, elem)
			l.Trim(1, l.Len())
		})
		run("Range100", func(l *List, _ int) {
			it := l.Iter(l.Len()/2, false)
			for range 100 {
				it.Next()
			}
		})
	}
}
