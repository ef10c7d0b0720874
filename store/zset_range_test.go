package store

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

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

// lexBounds returns bounds before, at, between and after the members of a test.
func lexBounds() []LexBound {
	bounds := []LexBound{{Infinite: -1}, {Infinite: 1}}
	for _, member := range []string{"", "a", "aa", "bb", "c", "d", "z"} {
		bounds = append(bounds, LexBound{Member: []byte(member)})
		bounds = append(bounds, LexBound{Member: []byte(member), Exclusive: true})
	}
	return bounds
}

func TestByLexReturnsTheMembersInTheRange(t *testing.T) {
	members := []string{"a", "b", "bb", "c", "d"}
	for _, entries := range []int{0, 1000} {
		lim := DefaultLimits()
		lim.ZSetEntries = entries
		z := NewZSet(1, &lim)
		for _, m := range members {
			z.Add([]byte(m), 1, &lim)
		}
		for _, low := range lexBounds() {
			for _, high := range lexBounds() {
				r := LexRange{low, high}
				for skip := range len(members) + 2 {
					checkByLex(t, z, r, false, skip, members)
					checkByLex(t, z, r, true, skip, members)
				}
			}
		}
	}
}

func checkByLex(t *testing.T, z *ZSet, r LexRange, back bool, skip int, members []string) {
	got, want := []string{}, []string{}
	for _, m := range members {
		if inLexRange(m, r) {
			want = append(want, m)
		}
	}
	if r.Empty() && len(want) > 0 {
		t.Fatalf("Empty of %+v is true, the range has %v", r, want)
	}
	if skipped := min(skip, len(want)); back {
		want = want[:len(want)-skipped]
	} else {
		want = want[skipped:]
	}
	from, to := z.ByLex(&r, back, skip)
	z.Walk(from, to, false, func(item ZItem) bool {
		got = append(got, item.Member)
		return true
	})
	if from > to || !slices.Equal(got, want) {
		t.Fatalf("%s: ByLex(%+v, %v, %d) returns %d, %d: %v, want %v",
			z.Encoding(), r, back, skip, from, to, got, want)
	}
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
