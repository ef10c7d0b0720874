package tracking

import (
	"slices"
	"unsafe"

	"github.com/lockredis/lockredis/internal/heapsize"
	"github.com/lockredis/lockredis/internal/shrink"
)

// Table has the keys that clients have read, each with the ids of these clients. The zero
// Table is empty.
//
// An entry stays until the key changes. So the table may name a client that has left: its
// id is of no use to anybody, because ids are not used twice. Forget removes such ids.
type Table struct {
	entries []entry
	index   map[string]int // position in entries
	peak    int            // of index, see shrink.Delete
	items   int
	names   int64 // estimated memory of the keys without their ids
}

// entry is a key and its readers' ids in ascending order.
type entry struct {
	key string
	ids []int64
}

// Len returns the number of keys.
func (t *Table) Len() int { return len(t.entries) }

// Items returns the number of ids of all keys together.
func (t *Table) Items() int { return t.items }

// Bytes estimates the memory of the table.
func (t *Table) Bytes() int64 {
	const id = 12 // in a slice that append may have made larger
	return t.names + id*int64(t.items)
}

// keyBytes estimates the memory of a key of the table.
func keyBytes(key string) int64 {
	const each = int(unsafe.Sizeof(entry{})) * 4 / 3 // append makes entries larger
	return int64(heapsize.Text(len(key)) + each + heapsize.MapEntry[string, int]())
}

// Key returns the key at position i, which is less than Len.
func (t *Table) Key(i int) string { return t.entries[i].key }

// Remember adds id to the readers of key, and reports whether it is new.
func (t *Table) Remember(key []byte, id int64) (added bool) {
	i, known := t.index[string(key)]
	if !known {
		if t.index == nil {
			t.index = map[string]int{}
		}
		i = len(t.entries)
		t.entries = append(t.entries, entry{key: string(key)})
		t.index[t.entries[i].key] = i
		t.names += keyBytes(t.entries[i].key)
	}
	e := &t.entries[i]
	at, found := slices.BinarySearch(e.ids, id)
	if found {
		return false
	}
	if e.ids == nil {
		e.ids = []int64{id} // most keys have one reader: no room for more
	} else {
		e.ids = slices.Insert(e.ids, at, id)
	}
	t.items++
	return true
}

// Take removes the key and returns its readers in the order of their ids, nil if there are
// none.
func (t *Table) Take(key string) []int64 {
	i, known := t.index[key]
	if !known {
		return nil
	}
	ids := t.entries[i].ids
	t.drop(i)
	return ids
}

// drop removes the entry at position i. The last entry takes its place.
func (t *Table) drop(i int) {
	t.items -= len(t.entries[i].ids)
	t.names -= keyBytes(t.entries[i].key)
	shrink.Delete(&t.index, t.entries[i].key, &t.peak)
	last := len(t.entries) - 1
	if i != last {
		t.entries[i] = t.entries[last]
		t.index[t.entries[i].key] = i
	}
	t.entries = shrink.Pop(t.entries)
}

// Forget removes every id for which gone returns true. It visits the whole table.
func (t *Table) Forget(gone func(id int64) bool) {
	for i := len(t.entries) - 1; i >= 0; i-- {
		e := &t.entries[i]
		before := len(e.ids)
		e.ids = slices.DeleteFunc(e.ids, gone)
		t.items -= before - len(e.ids)
		if len(e.ids) == 0 {
			t.drop(i)
		}
	}
}

// Clear removes everything and gives the memory back.
func (t *Table) Clear() { *t = Table{} }
