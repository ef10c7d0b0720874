package store

import (
	"testing"

	"pgregory.net/rapid"
)

// countBytes begins, continues or ends the counting of bytes. Check compares the sums, and
// here they are compared when all keys are counted.
func (m *naiveSpace) countBytes(t *rapid.T) {
	switch rapid.IntRange(0, 5).Draw(t, "count") {
	case 0:
		m.s.CountBytes(!m.s.footprint.on)
	case 1:
		for m.s.CountMore(1) {
		}
	default:
		m.s.CountMore(1)
		return
	}
	if m.s.footprint.on && !m.s.CountMore(0) && m.s.CountedBytes() != allBytes(m.s) {
		t.Fatalf("%d bytes are counted, the keys have %d", m.s.CountedBytes(), allBytes(m.s))
	}
}

func allBytes(s *Space) (n int64) {
	for _, db := range s.dbs {
		for e := range db.keys.index.all() {
			n += e.Bytes(sizeSamples)
		}
	}
	return n
}

func TestEveryCountingCountsAllKeys(t *testing.T) {
	s := NewSpace(2, ignore{})
	for i := range 10 {
		s.DB(i%2).Set(lockKey(i), NewInt(1))
	}
	for n := range 30 {
		s.CountBytes(true)
		s.DB(0).Set(lockKey(n), NewRaw(make([]byte, n%50)))
		s.DB(n % 2).Delete(lockKey(n - 20))
		batches := 1
		for ; s.CountMore(3); batches++ {
			s.DB(1).Set(lockKey(n), NewRaw(make([]byte, n%70)))
		}
		if got, want := s.CountedBytes(), allBytes(s); got != want || batches < 2 {
			t.Fatalf("counting %d: %d bytes in %d batches, want %d", n, got, batches, want)
		}
		s.CountBytes(false)
		if n := s.CountedBytes(); n != 0 {
			t.Fatalf("%d bytes are counted", n)
		}
	}
}
