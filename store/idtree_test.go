package store

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawID draws an id from few, so that ids meet.
func drawID(t *rapid.T, most uint64, label string) StreamID {
	return StreamID{
		MS:  rapid.Uint64Range(0, most).Draw(t, label),
		Seq: rapid.Uint64Range(0, 2).Draw(t, label+" seq"),
	}
}

func TestIDTreeEqualsASortedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tree idTree[int]
		model := map[StreamID]int{}
		most := rapid.SampledFrom([]uint64{3, 100, 2000}).Draw(t, "range")
		sorted := func() []StreamID {
			return slices.SortedFunc(maps.Keys(model), StreamID.Compare)
		}
		put := func(id StreamID, v int) {
			tree.put(id, v)
			model[id] = v
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) { put(drawID(t, most, "id"), rapid.Int().Draw(t, "value")) },
			"put a run": func(t *rapid.T) {
				id := drawID(t, most, "from")
				for i := range rapid.IntRange(1, 300).Draw(t, "n") {
					put(id, i)
					id.MS += 1
				}
			},
			"remove a run": func(t *rapid.T) {
				keys := sorted()
				from := rapid.IntRange(0, len(keys)).Draw(t, "from")
				to := min(len(keys), from+rapid.IntRange(0, 300).Draw(t, "n"))
				for _, id := range keys[from:to] {
					if !tree.remove(id) {
						t.Fatalf("%v was not there", id)
					}
					delete(model, id)
				}
			},
			"remove": func(t *rapid.T) {
				id := drawID(t, most, "id")
				_, had := model[id]
				if tree.remove(id) != had {
					t.Fatalf("remove of %v", id)
				}
				delete(model, id)
			},
			"walk": func(t *rapid.T) {
				id, keys := drawID(t, most, "id"), sorted()
				var up, down []StreamID
				tree.ascend(id, func(id StreamID, v int) bool {
					up = append(up, id)
					return v == model[id] && len(up) < 200
				})
				tree.descend(id, func(id StreamID, _ int) bool {
					down = append(down, id)
					return len(down) < 200
				})
				at, found := slices.BinarySearchFunc(keys, id, StreamID.Compare)
				wantUp := keys[at:min(len(keys), at+200)]
				if found {
					at++
				}
				wantDown := slices.Clone(keys[max(0, at-200):at])
				slices.Reverse(wantDown)
				if !slices.Equal(up, wantUp) || !slices.Equal(down, wantDown) {
					t.Fatalf("from %v: up %v, want %v; down %v, want %v", id, up, wantUp, down, wantDown)
				}
			},
			"": func(t *rapid.T) {
				if err := tree.check(); err != nil || tree.len() != len(model) {
					t.Fatalf("%d keys, want %d: %v", tree.len(), len(model), err)
				}
				keys := sorted()
				first, _, ok := tree.first()
				last, v, also := tree.last()
				if ok != (len(keys) > 0) || also != ok {
					t.Fatal("first and last disagree with the model")
				}
				if ok && (first != keys[0] || last != keys[len(keys)-1] || v != model[last]) {
					t.Fatalf("from %v to %v, want %v to %v", first, last, keys[0], keys[len(keys)-1])
				}
			},
		})
	})
}

// A tree of ids in order has full leaves, and a removed key gives its place back.
func TestIDTreeOfIdsInOrderIsDense(t *testing.T) {
	var tree idTree[int]
	leaves := func() (n int) {
		var count func(*idNode[int])
		count = func(node *idNode[int]) {
			if node.kids == nil {
				n++
			}
			for _, kid := range node.kids {
				count(kid)
			}
		}
		if tree.root != nil {
			count(tree.root)
		}
		return n
	}
	const n = 100 * idNodeMax
	for i := range uint64(n) {
		tree.put(StreamID{MS: i}, 0)
	}
	if got := leaves(); got != n/idNodeMax {
		t.Errorf("%d leaves for %d ids", got, n)
	}
	for i := range uint64(n) {
		if i%16 != 0 {
			tree.remove(StreamID{MS: i})
		}
	}
	if got, most := leaves(), n/16/idNodeFew+1; got > most {
		t.Errorf("%d leaves for %d ids, want %d at most", got, tree.len(), most)
	}
	if err := tree.check(); err != nil {
		t.Error(err)
	}
}
