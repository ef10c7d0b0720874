package store

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func setContents(s *Set) (members []string) {
	s.Each(func(member []byte) bool { members = append(members, string(member)); return true })
	return members
}

func TestASetBehavesAsAMapAndSortsIntegers(t *testing.T) {
	text := rapid.StringMatching(
		`-?[0-9]{1,2}|[a-c]|9223372036854775807|-9223372036854775808|9223372036854775808`)
	rapid.Check(t, func(t *rapid.T) {
		lim := smallLimits()
		s, want, table := new(Set), map[string]bool{}, false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			member := text.Draw(t, "member")
			if rapid.IntRange(0, 2).Draw(t, "add") > 0 {
				if s.Add([]byte(member), &lim) == want[member] {
					t.Fatalf("Add of %q reports %v", member, want[member])
				}
				want[member] = true
				n, err := strconv.ParseInt(member, 10, 64)
				canonical := err == nil && strconv.FormatInt(n, 10) == member
				table = table || !canonical || len(want) > 4
			} else {
				if s.Remove([]byte(member)) != want[member] {
					t.Fatalf("Remove of %q reports %v", member, !want[member])
				}
				delete(want, member)
			}
			checkSet(t, s, want, table)
		}
	})
}

// must returns n and ignores the error.
func must(n int64, _ error) int64 { return n }

func checkSet(t *rapid.T, s *Set, want map[string]bool, table bool) {
	if (s.Encoding() == "hashtable") != table {
		t.Fatalf("the encoding of %v is %s", want, s.Encoding())
	}
	got := setContents(s)
	byNumber := func(a, b string) int {
		return cmp.Compare(must(strconv.ParseInt(a, 10, 64)), must(strconv.ParseInt(b, 10, 64)))
	}
	if !table && !slices.IsSortedFunc(got, byNumber) {
		t.Fatalf("the members %v are not in ascending order", got)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(want)), slices.Sorted(slices.Values(got))) {
		t.Fatalf("the set has %v, want %v", got, want)
	}
	if !slices.Equal(setContents(s.Clone().(*Set)), got) {
		t.Fatal("the clone has other members")
	}
	for i, member := range got {
		if !s.Has([]byte(member)) || s.MemberAt(i) != member {
			t.Fatalf("Has or MemberAt does not find %s", member)
		}
	}
}

func TestRemoveAtRemovesAMemberOfASet(t *testing.T) {
	for _, format := range []string{"%d", "m%d"} {
		lim := DefaultLimits()
		s := new(Set)
		for i := range 200 {
			s.Add(fmt.Appendf(nil, format, i), &lim)
		}
		for s.Len() > 0 {
			member := s.MemberAt(s.Len() / 2)
			s.RemoveAt(s.Len() / 2)
			if s.Has([]byte(member)) {
				t.Fatalf("%s is found after its removal", member)
			}
		}
	}
}
