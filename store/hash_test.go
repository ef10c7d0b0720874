package store

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// smallLimits are so low that generated values exceed every limit.
func smallLimits() Limits {
	return Limits{HashEntries: 4, HashValue: 8, SetIntEntries: 4}
}

func hashContents(h *Hash) (m map[string]string, order []string) {
	m = map[string]string{}
	h.Each(func(field, value []byte) bool {
		m[string(field)] = string(value)
		order = append(order, string(field))
		return true
	})
	return m, order
}

func TestAHashBehavesAsAMapThatKeepsTheOrder(t *testing.T) {
	text := rapid.StringMatching(`[a-c]{0,2}|x{7,10}`)
	rapid.Check(t, func(t *rapid.T) {
		lim := smallLimits()
		h, want, order := new(Hash), map[string]string{}, []string(nil)
		table := false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			field, value := text.Draw(t, "field"), text.Draw(t, "value")
			_, had := want[field]
			if rapid.Bool().Draw(t, "set") {
				if h.Set([]byte(field), []byte(value), &lim) == had {
					t.Fatalf("Set of %q reports added %v", field, had)
				}
				want[field] = value
				if !had {
					order = append(order, field)
				}
				table = table || len(field) > 8 || len(value) > 8 || len(want) > 4
			} else {
				if h.Delete([]byte(field)) != had {
					t.Fatalf("Delete of %q reports %v", field, !had)
				}
				delete(want, field)
				order = slices.DeleteFunc(order, func(f string) bool { return f == field })
			}
			got, gotOrder := hashContents(h)
			if !maps.Equal(got, want) || h.Len() != len(want) {
				t.Fatalf("the hash has %v, want %v", got, want)
			}
			if !table && !slices.Equal(gotOrder, order) {
				t.Fatalf("order %v, want %v", gotOrder, order)
			}
			if (h.Encoding() == "hashtable") != table {
				t.Fatalf("the encoding is %s, want a table: %v", h.Encoding(), table)
			}
			for f, v := range want {
				if got, ok := h.Get([]byte(f)); !ok || string(got) != v || !h.Has([]byte(f)) {
					t.Fatalf("Get(%q) returns %q, %v", f, got, ok)
				}
			}
			if clone, _ := hashContents(h.Clone().(*Hash)); !maps.Equal(clone, want) {
				t.Fatalf("the clone has %v, want %v", clone, want)
			}
		}
	})
}

func TestAtReturnsEveryPairOfAHashOnce(t *testing.T) {
	for _, n := range []int{3, 600} {
		h, seen := hashOf(n), map[string]bool{}
		for i := range h.Len() {
			field, value := h.At(i)
			seen[string(field)] = bytes.Equal(value, []byte("1"))
		}
		if len(seen) != n {
			t.Errorf("%d different fields of %d", len(seen), n)
		}
	}
}

func TestFitArgumentsMakesATableOfAHashWithALongArgument(t *testing.T) {
	lim := DefaultLimits()
	h := new(Hash)
	h.FitArguments([][]byte{[]byte("f"), []byte(strings.Repeat("v", 64))}, &lim)
	if h.Encoding() != "listpack" {
		t.Errorf("64 bytes: the encoding is %s, want listpack", h.Encoding())
	}
	h.FitArguments([][]byte{[]byte("f"), []byte(strings.Repeat("v", 65))}, &lim)
	if h.Encoding() != "hashtable" {
		t.Errorf("65 bytes: the encoding is %s, want hashtable", h.Encoding())
	}
}
