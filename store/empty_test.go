package store

import (
	"runtime"
	"slices"
	"testing"
)

func TestAnEmptyDatabaseTakesHardlyAnyMemory(t *testing.T) {
	const n = 100_000
	var before, made, used runtime.MemStats
	runtime.ReadMemStats(&before)
	s := NewSpace(n, ignore{})
	runtime.ReadMemStats(&made)
	for i := range n {
		s.DB(i).Lookup([]byte("key"))
	}
	runtime.ReadMemStats(&used)
	if each := (made.TotalAlloc - before.TotalAlloc) / n; each > 16 {
		t.Errorf("a database that no client has used takes %d bytes", each)
	}
	if each := (used.TotalAlloc - made.TotalAlloc) / n; each > 256 {
		t.Errorf("a database without a key takes %d bytes", each)
	}
}

func TestOnlyUsedDatabasesAreOpened(t *testing.T) {
	s := NewSpace(16, ignore{})
	s.DB(3).Set([]byte("k"), NewText([]byte("v")))
	s.Swap(3, 9)
	var numbers []int
	for n, db := range s.Opened() {
		if db.ID() != n || db != s.DB(n) {
			t.Errorf("database %d has the id %d", n, db.ID())
		}
		numbers = append(numbers, n)
	}
	if !slices.Equal(numbers, []int{3, 9}) || s.DB(9).Len() != 1 || s.DB(3).Len() != 0 {
		t.Errorf("opened are %v", numbers)
	}
}

// A walk sees each database once, whatever is opened behind its back.
func TestADatabaseMayBeOpenedDuringAWalk(t *testing.T) {
	s := NewSpace(100, ignore{})
	for i := 10; i < 100; i += 10 {
		s.DB(i)
	}
	var numbers []int
	for n := range s.Opened() {
		numbers = append(numbers, n)
		s.DB(n - 5)
		s.DB(99)
	}
	if !slices.Equal(numbers, []int{10, 20, 30, 40, 50, 60, 70, 80, 90}) {
		t.Errorf("visited are %v", numbers)
	}
	numbers = nil
	for n, db := range s.Opened() {
		if db.ID() != n || db != s.DB(n) {
			t.Errorf("database %d has the id %d", n, db.ID())
		}
		numbers = append(numbers, n)
	}
	if len(numbers) != 19 || !slices.IsSorted(numbers) {
		t.Errorf("opened are %v", numbers)
	}
}

// Databases share an index as long as they have no key.
func TestKeysOfOneDatabaseAreNotInAnother(t *testing.T) {
	s := NewSpace(2, ignore{})
	a, b := s.DB(0), s.DB(1)
	for range 2 {
		a.Set([]byte("k"), NewText([]byte("v")))
		if b.Len() != 0 || b.Lookup([]byte("k")) != nil {
			t.Fatal("a key is in two databases")
		}
		a.Flush()
		if a.Lookup([]byte("k")) != nil || noKeys.dense[0].used != 0 {
			t.Fatal("a key is in the shared index")
		}
	}
}

// A database that is first used while bytes are counted is counted from its first key on.
func TestADatabaseThatIsOpenedLateIsCounted(t *testing.T) {
	s := NewSpace(2, ignore{})
	s.CountBytes(true)
	s.DB(1).Set([]byte("k"), NewText([]byte("v")))
	if s.CountMore(1) || s.CountedBytes() == 0 {
		t.Errorf("%d bytes are counted", s.CountedBytes())
	}
}
