package tracking

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTheTableRemembersWhatAPlainMapDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table Table
		model := map[string]map[int64]bool{}
		key := rapid.SampledFrom([]string{"", "a", "b", "c", "d"})
		id := rapid.Int64Range(1, 6)
		t.Repeat(map[string]func(*rapid.T){
			"remember": func(t *rapid.T) {
				k, i := key.Draw(t, "key"), id.Draw(t, "id")
				if model[k] == nil {
					model[k] = map[int64]bool{}
				}
				if added := table.Remember([]byte(k), i); added == model[k][i] {
					t.Fatalf("Remember(%q, %d) = %v", k, i, added)
				}
				model[k][i] = true
			},
			"take": func(t *rapid.T) {
				k := key.Draw(t, "key")
				if got, want := table.Take(k), slices.Sorted(maps.Keys(model[k])); !slices.Equal(got, want) {
					t.Fatalf("Take(%q) = %d, want %d", k, got, want)
				}
				delete(model, k)
			},
			"forget": func(t *rapid.T) {
				i := id.Draw(t, "id")
				table.Forget(func(id int64) bool { return id == i })
				for k, ids := range model {
					if delete(ids, i); len(ids) == 0 {
						delete(model, k)
					}
				}
			},
			"": func(t *rapid.T) {
				items := 0
				for _, ids := range model {
					items += len(ids)
				}
				if table.Len() != len(model) || table.Items() != items {
					t.Fatalf("%d keys with %d items, want %d with %d", table.Len(), table.Items(),
						len(model), items)
				}
				if err := table.Check(nil, items); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

func TestPrefixesDeliverWhatAPlainModelDoes(t *testing.T) {
	names := []string{"", "a", "ab", "b", "bc", "ccc"}
	rapid.Check(t, func(t *rapid.T) {
		var prefixes Prefixes
		asked := map[string]map[int64]bool{}     // by prefix
		changed := map[string]map[string]int64{} // by prefix and key
		name, id := rapid.SampledFrom(names), rapid.Int64Range(1, 3)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n, i := name.Draw(t, "prefix"), id.Draw(t, "id")
				if prefixes.Add(n, i); asked[n] == nil {
					asked[n], changed[n] = map[int64]bool{}, map[string]int64{}
				}
				asked[n][i] = true
			},
			"remove": func(t *rapid.T) {
				n, i := name.Draw(t, "prefix"), id.Draw(t, "id")
				prefixes.Remove(n, i)
				if delete(asked[n], i); len(asked[n]) == 0 {
					delete(asked, n)
					delete(changed, n)
				}
			},
			"change": func(t *rapid.T) {
				key := rapid.StringMatching("[a-c]{0,4}").Draw(t, "key")
				by := rapid.Int64Range(0, 3).Draw(t, "by")
				prefixes.Changed(key, by)
				for n := range asked {
					if strings.HasPrefix(key, n) {
						changed[n][key] = by
					}
				}
			},
			"drain": func(t *rapid.T) {
				last := ""
				prefixes.Drain(func(b *Batch) {
					n := last // the next prefix of the model with changes
					for _, n = range slices.Sorted(maps.Keys(changed)) {
						if len(changed[n]) > 0 {
							break
						}
					}
					if n < last || !slices.Equal(b.Keys, slices.Sorted(maps.Keys(changed[n]))) ||
						!slices.Equal(b.IDs, slices.Sorted(maps.Keys(asked[n]))) {
						t.Fatalf("prefix %q: clients %d, keys %q", n, b.IDs, b.Keys)
					}
					for i := range asked[n] {
						var want []string
						for _, key := range b.Keys {
							if changed[n][key] != i {
								want = append(want, key)
							}
						}
						if got := b.Without(i); !slices.Equal(got, want) {
							t.Fatalf("without %d: %q, want %q", i, got, want)
						}
					}
					changed[n], last = map[string]int64{}, n
				})
			},
			"": func(t *rapid.T) {
				var dirty bool
				for _, keys := range changed {
					dirty = dirty || len(keys) > 0
				}
				if prefixes.Dirty() != dirty || prefixes.Len() != len(asked) {
					t.Fatalf("dirty %v, %d prefixes", prefixes.Dirty(), prefixes.Len())
				}
				var clients []Client
				for i := range int64(4) {
					c := Client{ID: i}
					for n := range asked {
						if asked[n][i] {
							c.Prefixes = append(c.Prefixes, n)
						}
					}
					clients = append(clients, c)
				}
				if err := prefixes.Check(clients); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

// A thousand clients read the same ten thousand keys, and each key changes.
func BenchmarkAThousandReaders(b *testing.B) {
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = "key:" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('0'+i/26))
	}
	for b.Loop() {
		var table Table
		for id := range int64(1000) {
			for _, key := range keys {
				table.Remember([]byte(key), id)
			}
		}
		for _, key := range keys {
			table.Take(key)
		}
	}
}
