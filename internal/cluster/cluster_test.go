package cluster

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAHashTagDecidesTheSlot(t *testing.T) {
	for key, want := range map[string]int{
		"": 0, "123456789": 12739, "a": 15495, "foo": 12182,
		"{foo}": 12182, "a{foo}b": 12182, "{foo}{bar}": 12182, "}{foo}": 12182,
		"{}foo": 9500, "a{}{foo}": 700, "{foo": 13308, "{{foo}}": 13308,
	} {
		if got := Slot([]byte(key)); got != want {
			t.Errorf("%q is in slot %d, want %d", key, got, want)
		}
	}
}

func TestSlotAllocatesNothing(t *testing.T) {
	key := []byte("orders:{42}:lock")
	if n := testing.AllocsPerRun(100, func() { Slot(key) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestASetIsTheSlotsThatWereAddedAndNotRemoved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Set
		model := map[int]bool{}
		slot := rapid.OneOf(rapid.IntRange(0, 130), rapid.IntRange(0, Slots-1),
			rapid.SampledFrom([]int{0, 63, 64, Slots - 64, Slots - 1}))
		for range rapid.IntRange(0, 30).Draw(t, "changes") {
			r := Range{slot.Draw(t, "first"), 0}
			r.Last = min(r.First+rapid.SampledFrom([]int{0, 1, 63, 200}).Draw(t, "more"), Slots-1)
			add := rapid.Bool().Draw(t, "add")
			if add {
				s.AddRange(r)
			}
			for i := r.First; i <= r.Last; i++ {
				if model[i] = add; !add {
					delete(model, i)
					s.Remove(i)
				}
			}
		}
		if s.Len() != len(model) {
			t.Fatalf("%d slots, want %d", s.Len(), len(model))
		}
		var last *Range
		for r := range s.Ranges() {
			if last != nil && r.First <= last.Last+1 {
				t.Fatalf("range %v comes after %v", r, *last)
			}
			last = &r
			for i := r.First; i <= r.Last; i++ {
				if !model[i] || !s.Has(i) {
					t.Fatalf("slot %d is in %v, but was not added", i, r)
				}
				delete(model, i)
			}
		}
		if len(model) > 0 {
			t.Fatalf("no range has %v", model)
		}
		again, err := ParseSet(strings.Fields(s.String()))
		if err != nil || again != s {
			t.Fatalf("%q reads as %q, %v", s.String(), again.String(), err)
		}
	})
}

func TestSlotsAreParsedAsConfigured(t *testing.T) {
	for text, want := range map[string]string{
		"":              "",
		"0-16383":       "0-16383",
		"0-8191 9000":   "0-8191 9000",
		"9000 3 1-2 2":  "1-3 9000",
		"16383":         "16383",
		"16384":         `error "16384" is no slot from 0 to 16383 and no range of them`,
		"5-4":           `error "5-4" is no slot from 0 to 16383 and no range of them`,
		"-1":            `error "-1" is no slot from 0 to 16383 and no range of them`,
		"1-":            `error "1-" is no slot from 0 to 16383 and no range of them`,
		"1-2-3":         `error "1-2-3" is no slot from 0 to 16383 and no range of them`,
		"0 all":         `error "all" is no slot from 0 to 16383 and no range of them`,
		"99999999999-1": `error "99999999999-1" is no slot from 0 to 16383 and no range of them`,
	} {
		s, err := ParseSet(strings.Fields(text))
		got := s.String()
		if err != nil {
			got = "error " + err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestAClusterIsDownWithoutAnOwnerOfEverySlot(t *testing.T) {
	for _, test := range []struct {
		slots        string
		fullCoverage bool
		ok           bool
		size         int
	}{
		{"0-16383", true, true, 1}, {"0-16382", true, false, 1}, {"0-16382", false, true, 1},
		{"7", false, true, 1}, {"", false, false, 0}, {"", true, false, 0},
	} {
		slots, err := ParseSet(strings.Fields(test.slots))
		if err != nil {
			t.Fatal(err)
		}
		c := NewBus().Join(Node{ID: "id", Slots: slots}, nil)
		if c.OK(test.fullCoverage) != test.ok || c.View().Size != test.size {
			t.Errorf("%+v: ok %v, size %d", test, c.OK(test.fullCoverage), c.View().Size)
		}
	}
}

func TestOnlyTheNodeItselfIsKnown(t *testing.T) {
	slots, _ := ParseSet([]string{"5"})
	c := NewBus().Join(Node{ID: "id", Slots: slots}, nil)
	if c.Owner(5) != c.Self() || c.Owner(6) != nil {
		t.Error("slot 5 is not the only slot with an owner")
	}
	if c.Node("id") != c.Self() || c.Node("other") != nil {
		t.Error("the node is not the only node")
	}
}

func TestANodesLineHasItsAddressAndRanges(t *testing.T) {
	slots, _ := ParseSet([]string{"0-5", "7"})
	c := NewBus().Join(Node{ID: "id", Epoch: 3, Slots: slots}, nil)
	got := []string{
		c.Self().Line(Address{IP: "::1", Port: 1, BusPort: 2}, c, 10),
		c.Self().Line(Address{Host: "h", Port: 1}, c, 10),
	}
	want := []string{
		"id ::1:1@2 myself,master - 0 0 3 connected 0-5 7\n",
		"id :1@0,h myself,master - 0 0 3 connected 0-5 7\n",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestARangeHasItsSlotsAndNoOthers(t *testing.T) {
	for _, r := range []Range{{0, 0}, {0, 63}, {0, 64}, {1, 63}, {1, 200}, {63, 64}, {64, 127},
		{100, 191}, {100, 300}, {5, 4}, {0, Slots - 1}, {Slots - 1, Slots - 1}} {
		var s Set
		s.Add(130) // some of the slots may be there
		s.AddRange(r)
		n := 0
		for slot := range Slots {
			want := slot == 130 || r.First <= slot && slot <= r.Last
			if s.Has(slot) != want {
				t.Fatalf("%v: slot %d is %v", r, slot, s.Has(slot))
			}
			if want {
				n++
			}
		}
		if s.Len() != n {
			t.Errorf("%v: Len is %d, want %d", r, s.Len(), n)
		}
	}
}
