package store

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawLexBound(t *rapid.T, name string) LexBound {
	return LexBound{
		Member:    []byte(rapid.SampledFrom([]string{"", "a", "b", "bb", "c", "d", "z"}).Draw(t, name)),
		Infinite:  rapid.SampledFrom([]int{-1, 0, 0, 0, 1}).Draw(t, name+" infinite"),
		Exclusive: rapid.Bool().Draw(t, "without "+name),
	}
}

// compareBound returns -1 if member is before the bound, 1 if it is after it.
func compareBound(member string, b LexBound) int {
	switch {
	case b.Infinite != 0:
		return -b.Infinite
	case member < string(b.Member):
		return -1
	case member > string(b.Member):
		return 1
	}
	return 0
}

func inLexRange(member string, r LexRange) bool {
	low, high := compareBound(member, r.Min), compareBound(member, r.Max)
	return (low > 0 || low == 0 && !r.Min.Exclusive) && (high < 0 || high == 0 && !r.Max.Exclusive)
}

func TestByLexReturnsTheMembersInTheRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lim := DefaultLimits()
		lim.ZSetEntries = rapid.SampledFrom([]int{0, 1000}).Draw(t, "entries")
		z := NewZSet(1, &lim)
		members := rapid.SliceOfDistinct(rapid.StringMatching(`[a-d]{1,2}`), rapid.ID).Draw(t, "members")
		for _, m := range members {
			z.Add([]byte(m), 1, &lim)
		}
		slices.Sort(members)
		r := LexRange{drawLexBound(t, "min"), drawLexBound(t, "max")}
		skip, back := rapid.IntRange(0, 4).Draw(t, "skip"), rapid.Bool().Draw(t, "back")

		want := []string{}
		for _, m := range members {
			if inLexRange(m, r) {
				want = append(want, m)
			}
		}
		if skipped := min(skip, len(want)); back {
			want = want[:len(want)-skipped]
		} else {
			want = want[skipped:]
		}
		got := []string{}
		from, to := z.ByLex(&r, back, skip)
		z.Walk(from, to, false, func(item ZItem) bool { got = append(got, item.Member); return true })
		if !slices.Equal(got, want) {
			t.Fatalf("ByLex(%+v, %v, %d) of %v returns %v, want %v", r, back, skip, members, got, want)
		}
		if r.Empty() && len(want) > 0 {
			t.Fatalf("%+v is Empty and has %v", r, want)
		}
	})
}

func TestARangeWithoutRoomForAMemberIsEmpty(t *testing.T) {
	a, b := LexBound{Member: []byte("a")}, LexBound{Member: []byte("b")}
	low, high := LexBound{Infinite: -1}, LexBound{Infinite: 1}
	notA := LexBound{Member: []byte("a"), Exclusive: true}
	for _, row := range []struct {
		min, max LexBound
		want     bool
	}{
		{low, high, false}, {high, low, true}, {low, low, true}, {high, high, true},
		{low, a, false}, {a, high, false}, {high, a, true}, {a, low, true},
		{a, a, false}, {notA, a, true}, {a, notA, true}, {a, b, false}, {b, a, true},
	} {
		r := LexRange{row.min, row.max}
		if got := r.Empty(); got != row.want {
			t.Errorf("Empty of %+v is %v", r, got)
		}
	}
}

func TestFitPacksATableWithinTheLimits(t *testing.T) {
	for _, row := range []struct {
		n, length int
		want      string
	}{
		{128, 64, "listpack"}, {129, 64, "skiplist"}, {128, 65, "skiplist"},
	} {
		lim, items := DefaultLimits(), []ZItem{}
		for i := range row.n {
			items = append(items, ZItem{fmt.Sprintf("%0*d", row.length, i), float64(row.n - i)})
		}
		z := BuildZSet(items)
		z.Fit(&lim)
		if z.Encoding() != row.want || z.Packed() != (row.want == "listpack") || z.Len() != row.n {
			t.Errorf("%+v: %s with %d members", row, z.Encoding(), z.Len())
		}
		if err := z.check(); err != nil {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

func TestAtReturnsEveryMemberOfASortedSetOnce(t *testing.T) {
	for _, entries := range []int{0, 1000} {
		lim := DefaultLimits()
		lim.ZSetEntries = entries
		z, seen := NewZSet(1, &lim), map[string]float64{}
		for i := range 100 {
			z.Add(fmt.Append(nil, i), float64(i), &lim)
		}
		for i := range z.Len() {
			item := z.At(i)
			seen[item.Member] = item.Score
		}
		for i := range 100 {
			if score, ok := seen[fmt.Sprint(i)]; !ok || score != float64(i) {
				t.Errorf("%s: member %d has score %v, found %v", z.Encoding(), i, score, ok)
			}
		}
	}
}

func TestByScoreWithInfiniteBoundsReturnsInfiniteScores(t *testing.T) {
	lim := DefaultLimits()
	z := NewZSet(1, &lim)
	for i, score := range []float64{math.Inf(-1), 0, math.Inf(1)} {
		z.Add(fmt.Append(nil, i), score, &lim)
	}
	for _, row := range []struct {
		exclusive bool
		want      [2]int
	}{{false, [2]int{0, 3}}, {true, [2]int{1, 2}}} {
		r := ScoreRange{math.Inf(-1), math.Inf(1), row.exclusive, row.exclusive}
		if from, to := z.ByScore(&r); from != row.want[0] || to != row.want[1] {
			t.Errorf("ByScore(%+v) returns %d, %d, want %v", r, from, to, row.want)
		}
	}
}
