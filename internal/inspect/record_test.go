package inspect_test

import (
	"fmt"
	"testing"

	"github.com/lockredis/lockredis/internal/inspect"
)

func TestEntriesKeepFewAndMany(t *testing.T) {
	var e inspect.Entries
	name := func(i int) []byte { return fmt.Append(nil, "owner:", i) }
	expect := func(i int, since int64) {
		t.Helper()
		if entry, ok := e.Get(name(i)); ok != (since > 0) || entry.Since != since {
			t.Fatalf("%d: %+v, %v", i, entry, ok)
		}
	}
	const n = 24 // three times as many as are kept without a map
	for i := range n {
		expect(i, 0)
		e.Add(name(i)).Since = int64(i + 1)
		e.Find(name(i)).Since = int64(i + 100)
		if e.Len() != i+1 {
			t.Fatalf("%d entries of %d", e.Len(), i+1)
		}
		for k := range i + 1 {
			expect(k, int64(k+100))
		}
	}
	for i := range n {
		e.Drop(name(i))
		e.Drop(name(i))
		expect(i, 0)
		if e.Len() != n-i-1 {
			t.Fatalf("%d entries of %d", e.Len(), n-i-1)
		}
	}
	e.Add(name(1)).Since = 7
	expect(1, 7)
}

func TestEntriesThatAreResetAreEmpty(t *testing.T) {
	for _, n := range []int{1, 3, 20} {
		var e inspect.Entries
		for i := range n {
			e.Add(fmt.Append(nil, "owner:", i)).Since = 1
		}
		e.Reset()
		e.Add([]byte("x")).Since = 2
		if _, ok := e.Get([]byte("owner:0")); ok || e.Len() != 1 {
			t.Errorf("%d entries: %d are left", n, e.Len()-1)
		}
		if entry, ok := e.Get([]byte("x")); !ok || entry.Since != 2 {
			t.Errorf("%d entries: the next one is %+v", n, entry)
		}
		if entry, isNew := e.Again([]byte("x")); entry == nil || isNew || entry.Since != 2 {
			t.Errorf("%d entries: an owner that stays is %+v, %v", n, entry, isNew)
		}
		e.Drop([]byte("x"))
		if entry, isNew := e.Again([]byte("x")); entry == nil || !isNew || entry.Since != 0 || e.Len() != 1 {
			t.Errorf("%d entries: an owner that comes again is %+v, %v", n, entry, isNew)
		}
		if entry, _ := e.Again([]byte("y")); entry != nil {
			t.Errorf("%d entries: an unknown owner has an entry", n)
		}
	}
}
