package store

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

type failer interface{ Fatalf(string, ...any) }

// checkTable finds fault with a table's parts.
func checkTable(t failer, table *keyTable) {
	used := 0
	for i := 0; i < len(table.parts); {
		p := table.parts[i]
		places := table.placesOf(uint32(i)<<table.shift, p.depth)
		for j := range places {
			if places[j] != p || table.parts[i+j] != p {
				t.Fatalf("the part at %d of %d has depth %d and is not at %d", i, len(table.parts), p.depth, i+j)
			}
		}
		there := 0
		for i, e := range p.entries {
			if (e == nil) != (p.hashes[i] == 0) {
				t.Fatalf("slot %d has hash %d and %v", i, p.hashes[i], e)
			}
			if e != nil {
				there++
			}
		}
		if there != int(p.used) || there > partSlots/4*3 {
			t.Fatalf("a part of %d says it has %d", there, p.used)
		}
		used += there
		i += len(places)
	}
	if used != len(table.entries) {
		t.Fatalf("%d slots are used for %d entries", used, len(table.entries))
	}
	for i, e := range table.entries {
		key := []byte(e.Key())
		if int(e.place) != i || table.find(table.hash(key), key) != e {
			t.Fatalf("%s at place %d is not found or believes to be at %d", key, i, e.place)
		}
	}
}

func TestTableSplitsAndMergesAsKeysComeAndGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, model, next := newKeyTable(), map[string]*Entry{}, 0
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for range rapid.IntRange(0, 3000).Draw(t, "add") {
				key := []byte(fmt.Sprint("key", next))
				e := newEntry(key, nil)
				table.add(table.hash(key), e)
				model[e.Key()] = e
				next++
			}
			checkTable(t, &table)
			for left := rapid.IntRange(0, 3000).Draw(t, "remove"); left > 0 && len(table.entries) > 0; left-- {
				e := table.entries[next*7919%len(table.entries)]
				table.remove(e)
				if table.find(table.hash([]byte(e.Key())), []byte(e.Key())) != nil {
					t.Fatalf("%s is found after its removal", e.Key())
				}
				delete(model, e.Key())
			}
			checkTable(t, &table)
			if len(model) != len(table.entries) {
				t.Fatalf("%d entries, want %d", len(table.entries), len(model))
			}
			for key, e := range model {
				if table.find(table.hash([]byte(key)), []byte(key)) != e {
					t.Fatalf("%s is lost", key)
				}
			}
		}
	})
}

func TestAnEmptiedTableIsOnePart(t *testing.T) {
	table := newKeyTable()
	for i := range 20000 {
		key := []byte(fmt.Sprint(i))
		table.add(table.hash(key), newEntry(key, nil))
	}
	for len(table.entries) > 0 {
		table.remove(table.entries[len(table.entries)/2])
	}
	if p := table.parts[0]; p.depth != 0 {
		t.Fatalf("the first part shares %d bits", p.depth)
	}
	checkTable(t, &table)
}

func TestRemovingAnEntryTwicePanics(t *testing.T) {
	table := newKeyTable()
	e := newEntry([]byte("key"), nil)
	table.add(table.hash([]byte("key")), e)
	table.remove(e)
	defer func() {
		if recover() == nil {
			t.Fatal("it did not")
		}
	}()
	table.remove(e)
}
