package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func sortedModel(model map[string]float64) []ZItem {
	items := make([]ZItem, 0, len(model))
	for member, score := range model {
		items = append(items, ZItem{member, score})
	}
	slices.SortFunc(items, func(a, b ZItem) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return items
}

func zsetItems(z *ZSet, from, to int, back bool) []ZItem {
	items := []ZItem{}
	z.Walk(from, to, back, func(item ZItem) bool {
		items = append(items, item)
		return true
	})
	return items
}

func TestAZSetBehavesAsASortedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lim := DefaultLimits()
		lim.ZSetEntries = rapid.SampledFrom([]int{0, 5, 1000}).Draw(t, "entries")
		z, model := NewZSet(1, &lim), map[string]float64{}
		member := func() string { return fmt.Sprint(rapid.IntRange(0, 300).Draw(t, "member")) }
		put := func(m string, score float64) {
			if _, has := model[m]; has {
				z.Update([]byte(m), score)
			} else {
				z.Add([]byte(m), score, &lim)
			}
			model[m] = score
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) { put(member(), float64(rapid.IntRange(-3, 3).Draw(t, "score"))) },
			"put many": func(t *rapid.T) {
				for i := range rapid.IntRange(1, 300).Draw(t, "n") {
					put(fmt.Sprint(i), float64(i))
				}
			},
			"remove": func(t *rapid.T) {
				m := member()
				_, has := model[m]
				delete(model, m)
				if z.Remove([]byte(m)) != has {
					t.Fatalf("Remove of %s reports %v", m, !has)
				}
			},
			"remove range": func(t *rapid.T) {
				from := rapid.IntRange(0, len(model)).Draw(t, "from")
				to := rapid.IntRange(from, len(model)).Draw(t, "to")
				for _, item := range sortedModel(model)[from:to] {
					delete(model, item.Member)
				}
				z.RemoveRange(from, to)
			},
			"score range": func(t *rapid.T) {
				r := drawScoreRange(t)
				want := slices.DeleteFunc(sortedModel(model), func(item ZItem) bool {
					return item.Score < r.Min || r.MinExclusive && item.Score == r.Min ||
						item.Score > r.Max || r.MaxExclusive && item.Score == r.Max
				})
				from, to := z.ByScore(&r)
				if got := zsetItems(z, from, to, false); !slices.Equal(got, want) {
					t.Fatalf("ByScore(%+v) returns %v, want %v", r, got, want)
				}
			},
			"": func(t *rapid.T) { checkZSet(t, z, model) },
		})
	})
}

func drawScoreRange(t *rapid.T) ScoreRange {
	bound := rapid.SampledFrom([]float64{math.Inf(-1), -4, -3, -1, 0, 2, 3, 4, math.Inf(1)})
	return ScoreRange{
		Min: bound.Draw(t, "min"), MinExclusive: rapid.Bool().Draw(t, "without min"),
		Max: bound.Draw(t, "max"), MaxExclusive: rapid.Bool().Draw(t, "without max"),
	}
}

func checkZSet(t *rapid.T, z *ZSet, model map[string]float64) {
	want := sortedModel(model)
	if got := zsetItems(z, 0, z.Len(), false); !slices.Equal(got, want) || z.Len() != len(want) {
		t.Fatalf("the set has %v, want %v", got, want)
	}
	if err := z.check(); err != nil && len(want) > 0 {
		t.Fatal(err)
	}
	for rank, item := range want {
		if got, ok := z.Rank(item.Bytes()); !ok || got != rank {
			t.Fatalf("%s has rank %d, want %d", item.Member, got, rank)
		}
		if score, ok := z.Score(item.Bytes()); !ok || score != item.Score {
			t.Fatalf("%s has score %v, want %v", item.Member, score, item.Score)
		}
	}
	slices.Reverse(want)
	if got := zsetItems(z, 0, z.Len(), true); !slices.Equal(got, want) {
		t.Fatalf("from the last on: %v, want %v", got, want)
	}
	seen := map[string]bool{}
	for cursor := uint64(0); ; {
		cursor = z.Scan(cursor, 3, func(item ZItem) { seen[item.Member] = true })
		if cursor == 0 {
			break
		}
	}
	if len(seen) != len(model) {
		t.Fatalf("a scan visited %d of %d members", len(seen), len(model))
	}
}

func TestALargeIndexKeepsItsOrderAndShrinks(t *testing.T) {
	var x zindex
	rnd := rand.New(rand.NewPCG(1, 2))
	order := rnd.Perm(50_000)
	for _, i := range order {
		x.insert(ZItem{fmt.Sprint(i), float64(i)})
	}
	for i := range order {
		if got := x.rank(ZItem{fmt.Sprint(i), float64(i)}); got != i {
			t.Fatalf("item %d has rank %d, want %d", i, got, i)
		}
	}
	for i := range order {
		if i%100 != 0 {
			x.remove(ZItem{fmt.Sprint(i), float64(i)})
		}
	}
	if x.n != 500 || x.leaves > 100 || x.leaves != x.root.leafCount() {
		t.Fatalf("%d items are left, in %d leaves, counted %d", x.n, x.root.leafCount(), x.leaves)
	}
	x.removeRange(100, 400)
	if x.n != 200 {
		t.Fatalf("%d items are left, want 200", x.n)
	}
	next := 0
	x.walk(0, x.n, func(item ZItem) bool {
		if item.Score != float64(next*100) {
			t.Fatalf("the walk visits %v, want score %d", item, next*100)
		}
		if next++; next == 100 {
			next = 400
		}
		return true
	})
	if next != 500 {
		t.Fatalf("the walk ended at %d", next)
	}
}

func TestMinusZeroBecomesZeroInAPackedZSetAndStaysInATable(t *testing.T) {
	lim := DefaultLimits()
	z := NewZSet(1, &lim)
	z.Add([]byte("a"), math.Copysign(0, -1), &lim)
	if score, _ := z.Score([]byte("a")); math.Signbit(score) {
		t.Fatal("a packed set keeps minus zero")
	}
	z = NewZSet(1000, &lim)
	z.Add([]byte("a"), math.Copysign(0, -1), &lim)
	if score, _ := z.Score([]byte("a")); !math.Signbit(score) {
		t.Fatal("a table changes minus zero to zero")
	}
}

func TestAZSetIsPackedUpToTheLimits(t *testing.T) {
	for _, row := range []struct {
		n, length int
		want      string
	}{
		{1, 64, "listpack"}, {1, 65, "skiplist"}, {128, 64, "listpack"}, {129, 64, "skiplist"},
	} {
		lim := DefaultLimits()
		grown := NewZSet(1, &lim)
		for i := range row.n {
			grown.Add(fmt.Appendf(nil, "%0*d", row.length, i), 0, &lim)
		}
		if grown.Encoding() != row.want || grown.Len() != row.n {
			t.Errorf("%+v: the encoding is %s with %d members", row, grown.Encoding(), grown.Len())
		}
		if fresh := NewZSet(row.length, &lim); row.n == 1 && fresh.Encoding() != row.want {
			t.Errorf("NewZSet(%d): the encoding is %s, want %s", row.length, fresh.Encoding(), row.want)
		}
	}
}

func TestAClonedZSetIsIndependent(t *testing.T) {
	for _, entries := range []int{0, 100} {
		lim := DefaultLimits()
		lim.ZSetEntries = entries
		z := NewZSet(1, &lim)
		z.Add([]byte("a"), 1, &lim)
		c := z.Clone().(*ZSet)
		z.Update([]byte("a"), 2)
		z.Add([]byte("b"), 3, &lim)
		if score, _ := c.Score([]byte("a")); c.Len() != 1 || score != 1 || c.Encoding() != z.Encoding() {
			t.Fatalf("a change of the set changed the clone to %v", zsetItems(c, 0, c.Len(), false))
		}
	}
}

func BenchmarkZSet(b *testing.B) {
	for _, n := range []int{100, 1e3, 1e6} {
		lim := DefaultLimits()
		z := NewZSet(1, &lim)
		names := make([][]byte, n)
		for _, i := range rand.Perm(n) {
			names[i] = fmt.Appendf(nil, "member:%08d", i)
			z.Add(names[i], float64(i), &lim)
		}
		run := func(name string, do func(i int)) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					do(i * 7919 % n)
				}
			})
		}
		run("Score", func(i int) { z.Score(names[i]) })
		run("Update", func(i int) { z.Update(names[i], float64(i)+0.5) })
		run("RemoveAdd", func(i int) { z.Remove(names[i]); z.Add(names[i], float64(i), &lim) })
		run("Rank", func(i int) { z.Rank(names[i]) })
		run("ByScore", func(i int) { z.ByScore(&ScoreRange{Min: float64(i), Max: float64(i + 10)}) })
		run("Walk10", func(i int) { z.Walk(i, i+10, false, func(ZItem) bool { return true }) })
	}
}
