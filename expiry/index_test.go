package expiry

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type lease struct {
	name int
	item Item
}

func (l *lease) DeadlineItem() *Item { return &l.item }

func TestAnIndexBehavesAsASortedListOfDeadlines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var index Index[*lease]
		leases := make([]*lease, 20)
		for i := range leases {
			leases[i] = &lease{name: i}
		}
		model := map[int]int64{}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				i := rapid.IntRange(0, len(leases)-1).Draw(t, "lease")
				at := rapid.Int64Range(1, 50).Draw(t, "at")
				index.Add(leases[i], at)
				model[i] = at
			},
			"remove": func(t *rapid.T) {
				i := rapid.IntRange(0, len(leases)-1).Draw(t, "lease")
				_, had := model[i]
				if index.Remove(leases[i]) != had {
					t.Fatalf("Remove reported %v", !had)
				}
				delete(model, i)
			},
			"pop": func(t *rapid.T) {
				now := rapid.Int64Range(0, 50).Draw(t, "now")
				var got, want []int64
				for _, at := range model {
					if at <= now {
						want = append(want, at)
					}
				}
				slices.Sort(want)
				n := index.PopDue(now, len(leases), func(l *lease) {
					if l.item.Set() {
						t.Fatal("a popped lease still has a deadline")
					}
					got = append(got, model[l.name])
					delete(model, l.name)
				})
				if n != len(want) || !slices.Equal(got, want) {
					t.Fatalf("PopDue returned %d and popped %v, want %v", n, got, want)
				}
			},
			"": func(t *rapid.T) {
				if err := index.Check(); err != nil {
					t.Fatal(err)
				}
				if index.Len() != len(model) {
					t.Fatalf("Len is %d, want %d", index.Len(), len(model))
				}
				var deadlines []int64
				for i, at := range model {
					deadlines = append(deadlines, at)
					if got := index.Deadline(leases[i]); got != at {
						t.Fatalf("lease %d has deadline %d, want %d", i, got, at)
					}
				}
				slices.Sort(deadlines)
				until := rapid.Int64Range(0, 51).Draw(t, "until")
				due := map[int]int64{}
				index.EachDue(until, func(l *lease, at int64) { due[l.name] = at })
				for i, at := range model {
					if seen, ok := due[i]; ok != (at <= until) || ok && seen != at {
						t.Fatalf("EachDue(%d) visits lease %d: %v, at %d; it has deadline %d", until, i, ok, seen, at)
					}
					delete(due, i)
				}
				if len(due) > 0 {
					t.Fatalf("EachDue visits %v", due)
				}
				if next, ok := index.Next(); ok != (len(model) > 0) || ok && next != deadlines[0] {
					t.Fatalf("Next is %d, %v; deadlines are %v", next, ok, deadlines)
				}
			},
		})
	})
}

func TestPopDuePopsInOrderAndStopsAtMax(t *testing.T) {
	var index Index[*lease]
	for _, at := range []int64{30, 10, 20, 40} {
		index.Add(&lease{name: int(at)}, at)
	}
	var got []int
	n := index.PopDue(35, 2, func(l *lease) { got = append(got, l.name) })
	if n != 2 || got[0] != 10 || got[1] != 20 {
		t.Fatalf("PopDue returned %d and popped %v, want 10 and 20", n, got)
	}
	if at, _ := index.Next(); at != 30 {
		t.Fatalf("next is %d, want 30", at)
	}
}

func TestAnItemKeepsDeadlinesOfAnySize(t *testing.T) {
	for _, at := range []int64{1, 1<<32 - 1, 1 << 32, 1<<63 - 1, -1, -1 << 63} {
		var index Index[*lease]
		l := &lease{}
		index.Add(l, at)
		if next, ok := index.Next(); !ok || next != at || index.Deadline(l) != at || !l.item.Set() {
			t.Fatalf("deadline %d: Next returns %d, Deadline returns %d", at, next, index.Deadline(l))
		}
		index.Remove(l)
		if index.Deadline(l) != 0 || l.item.Set() {
			t.Fatalf("Remove left the deadline %d", index.Deadline(l))
		}
	}
}

func TestAnIndexGivesMemoryBackWhenItShrinks(t *testing.T) {
	var index Index[*lease]
	for i := range 10000 {
		index.Add(&lease{}, int64(i))
	}
	if n := index.PopDue(9990, 10000, func(*lease) {}); n != 9991 {
		t.Fatalf("%d deadlines were popped, want 9991", n)
	}
	if err := index.Check(); err != nil {
		t.Fatal(err)
	}
	if index.Len() != 9 || cap(index.heap) > 64 {
		t.Fatalf("%d deadlines are left, in a heap with room for %d", index.Len(), cap(index.heap))
	}
	if at, _ := index.Next(); at != 9991 {
		t.Fatalf("next is %d, want 9991", at)
	}
}

func TestRemovalsInAnyOrderKeepTheOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var index Index[*lease]
	leases := make([]*lease, 500)
	for i := range leases {
		leases[i] = &lease{}
		index.Add(leases[i], rnd.Int64N(1000))
	}
	for _, i := range rnd.Perm(len(leases)) {
		index.Remove(leases[i])
		if err := index.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if index.Len() != 0 {
		t.Fatalf("%d deadlines are left", index.Len())
	}
}

func TestARemovalFromALargeIndexAllocatesNothing(t *testing.T) {
	var index Index[*lease]
	l := &lease{}
	for i := range 1000 {
		index.Add(&lease{}, int64(i))
	}
	index.Add(l, 1000)
	if n := testing.AllocsPerRun(100, func() { index.Remove(l); index.Add(l, 1000) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func TestALargeIndexLeavesLittleRoomUnused(t *testing.T) {
	var index Index[*lease]
	for i := range 100000 {
		index.Add(&lease{}, int64(i))
		if n, room := index.Len(), cap(index.heap); n > 2*largeHeap && room > n+n/16 {
			t.Fatalf("%d deadlines have room for %d", n, room)
		}
	}
}

func BenchmarkLeaseAddAndRemoveAmong100000(b *testing.B) {
	var index Index[*lease]
	for i := range 100000 {
		index.Add(&lease{}, int64(i))
	}
	l := &lease{}
	b.ReportAllocs()
	for i := range b.N {
		index.Add(l, int64(200000+i))
		index.Remove(l)
	}
}
