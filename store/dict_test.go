package store

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestADictFindsItsElementsAsItGrowsAndShrinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d dict[int]
		model, next := map[string]int{}, 0
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for range rapid.SampledFrom([]int{1, 20, dictFew, 300, 3000}).Draw(t, "added") {
				key := fmt.Sprint("key", next)
				d.add(key, next)
				model[key] = next
				next++
			}
			remove := rapid.SampledFrom([]int{1, 20, dictFew, 300, 3000}).Draw(t, "removed")
			for range min(remove, len(d.elems)) {
				i := next * 7919 % len(d.elems)
				key := d.elems[i].key
				d.removeAt(i)
				delete(model, key)
				if d.find([]byte(key)) >= 0 {
					t.Fatalf("%s is found after its removal", key)
				}
			}
			checkDict(t, &d, model)
		}
	})
}

func checkDict(t *rapid.T, d *dict[int], model map[string]int) {
	if err := d.check(); err != nil {
		t.Fatal(err)
	}
	if len(d.elems) != len(model) || d.index != nil && len(model) < dictFew/2 {
		t.Fatalf("%d elements, want %d; index: %v", len(d.elems), len(model), d.index != nil)
	}
	for key, value := range model {
		if i := d.find([]byte(key)); i < 0 || d.elems[i].value != value {
			t.Fatalf("%s is not found", key)
		}
	}
	seen := 0
	if next := d.scan(0, len(model)+1, func(int) { seen++ }); next != 0 || seen != len(model) {
		t.Fatalf("a scan of all elements visited %d of %d, the next cursor is %d", seen, len(model), next)
	}
}

// TestADictOfFewElementsHasNoIndex guards the memory of many small hashes and sets:
// an index takes several kilobytes.
func TestADictOfFewElementsHasNoIndex(t *testing.T) {
	var d dict[struct{}]
	for i := range dictFew {
		d.add(fmt.Sprint(i), struct{}{})
	}
	if d.index != nil {
		t.Fatalf("a dict of %d elements has an index", dictFew)
	}
}
