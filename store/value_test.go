package store

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// filledValues returns a value of each type and encoding with n elements, or n bytes
// of text.
func filledValues(n int) map[string]Value {
	lim := DefaultLimits()
	h, table, list := new(Hash), new(Hash), NewList(&lim)
	ints, set := new(Set), new(Set)
	packed, index := new(ZSet), NewZSet(0, &noLimits)
	for i := range n {
		member := fmt.Appendf(nil, "member:%03d", i)
		h.Set(member, member, &lim)
		table.Set(member, member, &noLimits)
		list.PushBack(member)
		ints.Add(fmt.Append(nil, i), &lim)
		set.Add(member, &lim)
		packed.Add(member, float64(i), &lim)
		index.Add(member, float64(i), &lim)
	}
	return map[string]Value{
		"string raw":       NewText(bytes.Repeat([]byte("x"), n)),
		"hash listpack":    h,
		"hash hashtable":   table,
		"list quicklist":   list,
		"set intset":       ints,
		"set hashtable":    set,
		"zset listpack":    packed,
		"zset skiplist":    index,
		"string raw zeros": NewZeros(n),
	}
}

func TestEveryValueNamesItsTypeAndEncoding(t *testing.T) {
	for name, v := range filledValues(100) {
		if got := string(v.Type()) + " " + v.Encoding(); !strings.HasPrefix(name, got) {
			t.Errorf("%s is %s", name, got)
		}
	}
}

func TestMemoryUsageGrowsWithTheElements(t *testing.T) {
	redistest.SkipBelow64Bits(t)
	perElement := map[string]int64{ // bytes, at least; an element has 10 bytes
		"string raw": 1, "string raw zeros": 1, "set intset": 8, "list quicklist": 12,
		"hash listpack": 24, "zset listpack": 22,
		"hash hashtable": 64 + 20, "set hashtable": 40 + 10, "zset skiplist": 80 + 10,
	}
	small, large := filledValues(10), filledValues(100)
	for name, v := range large {
		few, many, least := small[name].MemoryUsage(0), v.MemoryUsage(0), perElement[name]
		if few < 10*least || many < 100*least || many > 100*2*least+64 {
			t.Errorf("%s: %d bytes for 10 elements, %d for 100", name, few, many)
		}
		for _, samples := range []int{1, 5, 100, 1000} { // the elements have equal sizes
			if got := v.MemoryUsage(samples); got != many {
				t.Errorf("%s: %d bytes from %d samples, want %d", name, got, samples, many)
			}
		}
	}
	for name, v := range filledValues(0) {
		if got := v.MemoryUsage(5); got <= 0 || got > 200 {
			t.Errorf("%s: %d bytes without elements", name, got)
		}
	}
}

func TestMemoryUsageEstimatesFromSamples(t *testing.T) {
	h := new(Hash)
	h.Set([]byte("long"), bytes.Repeat([]byte("x"), 1000), &noLimits)
	h.Set([]byte("f"), nil, &noLimits)
	one, all := h.MemoryUsage(1), h.MemoryUsage(2)
	if one < 2000 || all < 1000 || all > 1500 {
		t.Errorf("%d bytes from one sample, %d from both", one, all)
	}
}

func TestOneCallScansAllOfASmallValue(t *testing.T) {
	values := filledValues(100)
	var got []string
	h := values["hash listpack"].(*Hash)
	set := values["set intset"].(*Set)
	z := values["zset listpack"].(*ZSet)
	for _, row := range []struct {
		first, last string
		scan        func() (next uint64)
	}{
		{"member:000=member:000", "member:099=member:099", func() uint64 {
			return h.Scan(0, 1, func(f, v []byte) { got = append(got, fmt.Sprintf("%s=%s", f, v)) })
		}},
		{"0", "99", func() uint64 {
			return set.Scan(0, 1, func(member string) { got = append(got, member) })
		}},
		{"{member:000 0}", "{member:099 99}", func() uint64 {
			return z.Scan(0, 1, func(item ZItem) { got = append(got, fmt.Sprint(item)) })
		}},
	} {
		got = nil
		next := row.scan()
		if next != 0 || len(got) != 100 || got[0] != row.first || got[99] != row.last {
			t.Errorf("from %s: the scan returned %v and cursor %d", row.first, got, next)
		}
	}
}

func TestEachEndsWhenDoReturnsFalse(t *testing.T) {
	for name, v := range filledValues(100) {
		n := 0
		three := func() bool { n++; return n < 3 }
		switch v := v.(type) {
		case *Hash:
			v.Each(func(_, _ []byte) bool { return three() })
		case *Set:
			v.Each(func([]byte) bool { return three() })
		case *List:
			v.Each(func([]byte) bool { return three() })
		case *ZSet:
			v.Each(func(ZItem) bool { return three() })
		default:
			continue
		}
		if n != 3 {
			t.Errorf("%s: %d calls of do, want 3", name, n)
		}
	}
}

func TestAListFillsItsNodesUpToTheLimit(t *testing.T) {
	for _, row := range []struct {
		listSize, elemSize, perNode int
	}{
		{1, 1, 1}, {0, 1, 1}, {100, 1, 100}, {100, 2000, 4}, // a count, and 8 KB at most
		{-1, 1000, 4}, {-2, 1000, 8}, {-3, 1000, 16}, {-5, 1000, 65}, {-9, 1000, 65}, // 4 KB to 64 KB
	} {
		back, front := listWith(row.listSize), listWith(row.listSize)
		for range 3 * row.perNode {
			back.PushBack(make([]byte, row.elemSize))
			front.PushFront(make([]byte, row.elemSize))
		}
		for _, l := range []*List{back, front} {
			for i, node := range l.nodes() {
				if int(node.n) != row.perNode {
					t.Errorf("%+v: node %d has %d elements", row, i, node.n)
				}
			}
		}
	}
}

func TestATrimmedListKeepsItsElementsAndFreesItsNodes(t *testing.T) {
	l := listWith(1) // one element per node
	for i := range 500 {
		l.PushBack(fmt.Append(nil, i))
	}
	l.Trim(100, 105)
	if err := l.check(); err != nil || l.Len() != 5 || cap(l.all) > 64 {
		t.Fatalf("%d elements in room for %d nodes, %v", l.Len(), cap(l.all), err)
	}
	for i := range 5 {
		if got := string(l.At(i)); got != fmt.Sprint(100+i) {
			t.Errorf("element %d is %s", i, got)
		}
	}
}

func TestAppendAndOverwriteMakeEveryStringRaw(t *testing.T) {
	for _, text := range []string{"", "a", "0", "12"} {
		appended, overwritten := ParseString([]byte(text)), ParseString([]byte(text))
		appended.Append(nil)
		overwritten.Overwrite(0, nil)
		if appended.Encoding() != "raw" || overwritten.Encoding() != "raw" {
			t.Errorf("%q: %s, %s", text, appended.Encoding(), overwritten.Encoding())
		}
	}
}

func TestAShortValueDoesNotKeepTheMemoryOfALongOne(t *testing.T) {
	h := new(Hash)
	h.Set([]byte("f"), make([]byte, 10_000), &noLimits)
	h.Set([]byte("f"), []byte("short"), &noLimits)
	if value, _ := h.Get([]byte("f")); string(value) != "short" || cap(value) > 64 {
		t.Fatalf("the value %q keeps %d bytes", value, cap(value))
	}
}

func TestAStringReadsBackWhatWasSet(t *testing.T) {
	s := NewText([]byte("old"))
	for _, want := range []string{"-12", "text", "", "9223372036854775807"} {
		if n, isInt := ParseString([]byte(want)).Int(); isInt {
			s.SetInt(n)
		} else {
			s.SetText([]byte(want))
		}
		var scratch [20]byte
		if got := s.Bytes(scratch[:]); string(got) != want || s.Len() != len(want) {
			t.Errorf("%q: Bytes returns %q, Len %d", want, got, s.Len())
		}
		if !s.Equal(NewText([]byte(want))) || s.Equal(NewText([]byte(want+"x"))) {
			t.Errorf("%q: Equal is wrong", want)
		}
	}
}

func TestLookupCountsHitsMissesAndAccesses(t *testing.T) {
	log := &missLog{}
	s := NewSpace(1, log)
	db := s.DB(0)
	s.SetNow(5_000_000)
	e := db.Set([]byte("key"), NewInt(1))
	if e.Accessed() != 5000 {
		t.Errorf("Set: the last access is at %d s, want 5000", e.Accessed())
	}
	for i, access := range []func() *Entry{
		func() *Entry { return db.Lookup([]byte("key")) },
		func() *Entry { return db.LookupWrite([]byte("key")) },
	} {
		s.SetNow(int64(6_000_999 + 1000*i))
		if got := access(); got != e || e.Accessed() != uint32(6000+i) {
			t.Errorf("access %d: the last access is at %d s", i, e.Accessed())
		}
	}
	s.SetNow(20_000_000)
	db.Peek([]byte("key"))
	db.Lookup([]byte("missing"))
	db.LookupWrite([]byte("missing"))
	s.ReportMisses = true
	db.Lookup([]byte("reported"))
	db.LookupWrite([]byte("missing"))
	if e.Accessed() != 6001 || s.Stats != (Stats{Hits: 1, Misses: 2}) {
		t.Errorf("the last access is at %d s, the counters are %+v", e.Accessed(), s.Stats)
	}
	if !slices.Equal(log.missed, []string{"reported"}) {
		t.Errorf("Missed was called for %v", log.missed)
	}
}

// missLog is an Observer that records keys that were not found.
type missLog struct {
	ignore
	missed []string
}

func (l *missLog) Missed(_ int, key []byte) { l.missed = append(l.missed, string(key)) }
