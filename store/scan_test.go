package store

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// scannable is what the scans of databases and of values have in common.
type scannable interface {
	add(name string)
	remove(name string)
	rebuild(names map[string]bool) // in place of what there was
	scan(cursor uint64, count int, do func(name string)) (next uint64)
}

type scannedDB struct{ s *Space }

func (d *scannedDB) add(name string)    { d.s.DB(0).Set([]byte(name), new(Hash)) }
func (d *scannedDB) remove(name string) { d.s.DB(0).Delete([]byte(name)) }

func (d *scannedDB) rebuild(names map[string]bool) {
	for name := range names {
		d.s.DB(1).Set([]byte(name), new(Hash))
	}
	d.s.DB(0).Flush()
	d.s.Swap(0, 1)
}

func (d *scannedDB) scan(cursor uint64, count int, do func(string)) uint64 {
	return d.s.DB(0).Scan(cursor, count, func(e *Entry) { do(e.Key()) })
}

var scannables = map[string]func() scannable{
	"database": func() scannable { return &scannedDB{NewSpace(2, ignore{})} },
}

// scanRun is a scan of a collection that changes meanwhile.
type scanRun struct {
	scannable
	stays map[string]bool // what a client finds at each call
	other map[string]bool // what else there is
}

// Redis's guarantee: what a client finds whenever it looks is returned, though
// it be replaced, and the collection grow and shrink, in between.
func TestAScanReturnsWhatIsThereAtEachCall(t *testing.T) {
	for name, create := range scannables {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := scanRun{create(), map[string]bool{}, map[string]bool{}}
				for i := range rapid.IntRange(0, 2000).Draw(t, "keys") {
					name := fmt.Sprint("stays", i)
					r.stays[name] = true
					r.add(name)
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
		if n > count+3 {
			t.Fatalf("%d elements were returned with COUNT %d", n, count)
		}
		if next != 0 && (next <= cursor || n < count) {
			t.Fatalf("cursor %d after %d and %d elements with COUNT %d", next, cursor, n, count)
		}
		cursor = next
		if rapid.IntRange(0, len(r.stays)/count/8).Draw(t, "change now") == 0 {
			r.change(t)
		}
	}
	for name := range r.stays {
		if !seen[name] {
			t.Fatalf("%s was there at each call and was not returned", name)
		}
	}
}

func (r *scanRun) change(t *rapid.T) {
	switch rapid.IntRange(0, 4).Draw(t, "change") {
	case 0, 1:
		r.replace(rapid.IntRange(1, 500).Draw(t, "replaced"))
	case 2:
		r.grow(rapid.IntRange(0, 1000).Draw(t, "grown"))
	case 3:
		for name := range r.other {
			r.remove(name)
		}
		clear(r.other)
	case 4:
		clear(r.other)
		r.rebuild(r.stays)
	}
}

// replace takes elements that stay out and adds them again.
func (r *scanRun) replace(n int) {
	for name := range r.stays {
		if n--; n < 0 {
			return
		}
		r.remove(name)
		r.add(name)
	}
}

func (r *scanRun) grow(n int) {
	for range n {
		name := fmt.Sprint("other", len(r.other))
		r.other[name] = true
		r.add(name)
	}
}
