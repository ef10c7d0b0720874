package store

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// scannable is a database, or a value with members, that is scanned.
type scannable interface {
	add(name string)
	remove(name string)
	rebuild(names []string) // replaces all elements
	scan(cursor uint64, count int, do func(name string)) (next uint64)
}

type scannedDB struct{ s *Space }

func (d *scannedDB) add(name string)    { d.s.DB(0).Set([]byte(name), new(Hash)) }
func (d *scannedDB) remove(name string) { d.s.DB(0).Delete([]byte(name)) }

func (d *scannedDB) rebuild(names []string) {
	for _, name := range names {
		d.s.DB(1).Set([]byte(name), new(Hash))
	}
	d.s.DB(0).Flush()
	d.s.Swap(0, 1)
}

func (d *scannedDB) scan(cursor uint64, count int, do func(string)) uint64 {
	return d.s.DB(0).Scan(cursor, count, func(e *Entry) { do(e.Key()) })
}

// noLimits makes every value a table.
var noLimits = Limits{ZSetEntries: 0}

type scannedHash struct{ h *Hash }

func (s *scannedHash) add(name string)    { s.h.Set([]byte(name), []byte("v"), &noLimits) }
func (s *scannedHash) remove(name string) { s.h.Delete([]byte(name)) }

func (s *scannedHash) rebuild(names []string) {
	s.h = new(Hash)
	for _, name := range names {
		s.add(name)
	}
	s.h = s.h.Clone().(*Hash)
}

func (s *scannedHash) scan(cursor uint64, count int, do func(string)) uint64 {
	return s.h.Scan(cursor, count, func(field, _ []byte) { do(string(field)) })
}

type scannedSet struct{ s *Set }

func (s *scannedSet) add(name string)    { s.s.Add([]byte(name), &noLimits) }
func (s *scannedSet) remove(name string) { s.s.Remove([]byte(name)) }

func (s *scannedSet) rebuild(names []string) {
	s.s = new(Set)
	for _, name := range names {
		s.add(name)
	}
	s.s = s.s.Clone().(*Set)
}

func (s *scannedSet) scan(cursor uint64, count int, do func(string)) uint64 {
	return s.s.Scan(cursor, count, do)
}

type scannedZSet struct{ z *ZSet }

func (s *scannedZSet) add(name string)    { s.z.Add([]byte(name), float64(len(name)), &noLimits) }
func (s *scannedZSet) remove(name string) { s.z.Remove([]byte(name)) }

func (s *scannedZSet) rebuild(names []string) {
	items := make([]ZItem, 0, len(names))
	for _, name := range names {
		items = append(items, ZItem{name, 1})
	}
	s.z = BuildZSet(items).Clone().(*ZSet)
}

func (s *scannedZSet) scan(cursor uint64, count int, do func(string)) uint64 {
	return s.z.Scan(cursor, count, func(item ZItem) { do(item.Member) })
}

var scannables = map[string]func() scannable{
	"database":   func() scannable { return &scannedDB{NewSpace(2, ignore{})} },
	"hash":       func() scannable { return &scannedHash{new(Hash)} },
	"set":        func() scannable { return &scannedSet{new(Set)} },
	"sorted set": func() scannable { return &scannedZSet{NewZSet(0, &noLimits)} },
}

// scanRun is a scan of a collection that changes during the scan.
type scanRun struct {
	scannable
	stays  []string // the elements that exist at each call
	others int      // the number of other elements
}

// TestAScanReturnsEveryElementThatExistsAtEachCall tests Redis's guarantee. Between
// calls an element may be replaced, and the collection may grow and shrink.
func TestAScanReturnsEveryElementThatExistsAtEachCall(t *testing.T) {
	for name, create := range scannables {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := scanRun{scannable: create()}
				for i := range rapid.SampledFrom([]int{0, 5, 40, 200, 2000}).Draw(t, "keys") {
					r.stays = append(r.stays, fmt.Sprint("stays", i))
					r.add(r.stays[i])
				}
				r.grow(rapid.IntRange(0, 2000).Draw(t, "others"))
				r.check(t, rapid.SampledFrom([]int{1, 10, 50, 1000}).Draw(t, "count"))
			})
		})
	}
}

func (r *scanRun) check(t *rapid.T, count int) {
	seen := map[string]bool{}
	for cursor, first := uint64(0), true; first || cursor != 0; first = false {
		n := 0
		next := r.scan(cursor, count, func(name string) { seen[name] = true; n++ })
		if n > count+3 || next != 0 && n < count {
			t.Fatalf("a call returned %d elements with COUNT %d", n, count)
		}
		if next != 0 && next <= cursor {
			t.Fatalf("cursor %d follows %d", next, cursor)
		}
		cursor = next
		if rapid.IntRange(0, 5+len(r.stays)/count/8).Draw(t, "change now") == 0 {
			r.change(t)
		}
	}
	for _, name := range r.stays {
		if !seen[name] {
			t.Fatalf("%s existed at each call and the scan did not return it", name)
		}
	}
}

func (r *scanRun) change(t *rapid.T) {
	switch rapid.IntRange(0, 4).Draw(t, "change") {
	case 0, 1:
		from := rapid.IntRange(0, len(r.stays)).Draw(t, "from")
		r.replace(from, rapid.IntRange(0, 500).Draw(t, "replaced"))
	case 2:
		r.grow(rapid.IntRange(0, 1000).Draw(t, "grown"))
	case 3:
		for ; r.others > 0; r.others-- {
			r.remove(fmt.Sprint("other", r.others-1))
		}
	case 4:
		r.others = 0
		r.rebuild(r.stays)
	}
}

// replace removes at most n elements of stays and adds them again.
func (r *scanRun) replace(from, n int) {
	for _, name := range r.stays[from:min(from+n, len(r.stays))] {
		r.remove(name)
		r.add(name)
	}
}

func (r *scanRun) grow(n int) {
	for range min(n, 10000-r.others) {
		r.add(fmt.Sprint("other", r.others))
		r.others++
	}
}

func TestACursorThatIsTooLargeBeginsANewScan(t *testing.T) {
	for name, create := range scannables {
		s, seen := create(), 0
		s.add("a")
		if next := s.scan(math.MaxUint64, 10, func(string) { seen++ }); next != 0 || seen != 1 {
			t.Errorf("%s: %d elements, next cursor %d", name, seen, next)
		}
	}
}
