package store

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func checkTable(t interface{ Fatal(...any) }, table *keyTable) {
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
	for _, p := range table.index.parts {
		if p.used > partSlots/4*3 {
			t.Fatal("slots in use of a part:", p.used)
		}
	}
}

func TestATableFindsItsKeysAsItGrowsAndShrinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, model, next := newKeyTable(), map[string]*Entry{}, 0
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for range rapid.IntRange(0, 3000).Draw(t, "add") {
				key := []byte(fmt.Sprint("key", next))
				e := newEntry(key, nil)
				table.add(keyHash(key), e)
				model[e.Key()] = e
				next++
			}
			checkTable(t, &table)
			remove := rapid.IntRange(0, 3000).Draw(t, "remove")
			for range min(remove, len(table.entries)) {
				e := table.entries[next*7919%len(table.entries)]
				table.remove(e)
				if table.find(keyHash([]byte(e.Key())), []byte(e.Key())) != nil {
					t.Fatalf("%s is found after its removal", e.Key())
				}
				delete(model, e.Key())
			}
			checkTable(t, &table)
			if len(model) != len(table.entries) {
				t.Fatalf("%d entries, want %d", len(table.entries), len(model))
			}
			for key, e := range model {
				if table.find(keyHash([]byte(key)), []byte(key)) != e {
					t.Fatalf("%s is not found", key)
				}
			}
		}
	})
}

func TestAnEmptiedTableHasOnePart(t *testing.T) {
	table := newKeyTable()
	for i := range 20000 {
		key := []byte(fmt.Sprint(i))
		table.add(keyHash(key), newEntry(key, nil))
	}
	for len(table.entries) > 0 {
		table.remove(table.entries[len(table.entries)/2])
	}
	if p := table.index.parts[0]; p.depth != 0 {
		t.Fatalf("the hashes of the first part share %d bits, want 0", p.depth)
	}
	checkTable(t, &table)
}

func TestRemovingAnEntryTwicePanics(t *testing.T) {
	table := newKeyTable()
	e := newEntry([]byte("key"), nil)
	table.add(keyHash([]byte("key")), e)
	table.remove(e)
	defer func() {
		if recover() == nil {
			t.Fatal("the second removal did not panic")
		}
	}()
	table.remove(e)
}
