package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func checkTable(t interface{ Fatal(...any) }, table *keyTable) {
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
	for _, p := range table.index.parts {
		if p.used > partSlots/8*7 {
			t.Fatal("slots in use of a part:", p.used)
		}
	}
}

func TestATableFindsItsKeysAsItGrowsAndShrinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, model, next := newKeyTable(), map[string]*Entry{}, 0
		rnd := rand.New(rand.NewPCG(1, 2))
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
			for range min(remove, table.n) {
				e := table.index.random(rnd)
				table.remove(e)
				if table.find(keyHash([]byte(e.Key())), []byte(e.Key())) != nil {
					t.Fatalf("%s is found after its removal", e.Key())
				}
				delete(model, e.Key())
			}
			checkTable(t, &table)
			if len(model) != table.n {
				t.Fatalf("%d entries, want %d", table.n, len(model))
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
	rnd := rand.New(rand.NewPCG(1, 2))
	for table.n > 0 {
		table.remove(table.index.random(rnd))
	}
	if p := table.index.parts[0]; p.depth != 0 || len(table.index.dense) != 1 {
		t.Fatalf("the hashes of the first of %d parts share %d bits, want 1 and 0",
			len(table.index.dense), p.depth)
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

// TestEveryEntryIsPickedEquallyOften keeps entries in parts of very different sizes: those
// with small hashes, and few of the others.
func TestEveryEntryIsPickedEquallyOften(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 5, 200, 3000} {
		table := newKeyTable()
		for i := range n {
			key := fmt.Append(nil, i)
			table.add(keyHash(key), newEntry(key, nil))
		}
		for _, e := range slices.Collect(table.index.all()) {
			if keyHash(bytesOf(e.Key())) > 1<<30 && rnd.IntN(10) > 0 && table.n > 1 {
				table.remove(e)
			}
		}
		const each = 400
		picks := map[*Entry]int{}
		for range each * table.n {
			picks[table.index.random(rnd)]++
		}
		chi := 0.0 // the sum of squares of deviations, about table.n if all have the same chance
		for e := range table.index.all() {
			d := float64(picks[e] - each)
			chi += d * d / each
		}
		if limit := float64(table.n) + 8*math.Sqrt(2*float64(table.n)); chi > limit {
			t.Errorf("%d entries in %d parts: chi squared is %.0f, want at most %.0f",
				table.n, len(table.index.dense), chi, limit)
		}
	}
}

func BenchmarkRandomPick(b *testing.B) {
	for _, n := range []int{1, 10, 1e3, 1e5, 1e6} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			db, rnd := locks(n), rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				db.Random(rnd)
			}
		})
	}
}
