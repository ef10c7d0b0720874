package store

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// textSet returns a hash table of n members.
func textSet(n int, lim *Limits) *Set {
	s := new(Set)
	for i := range n {
		s.Add([]byte("m"+strconv.Itoa(i)), lim)
	}
	return s
}

func TestEvictedAndExpiredValuesCountAsFreedIfTheirDirectiveSaysSo(t *testing.T) {
	evict := func(s *Space) {
		if !s.Evict(AllKeys|Random, 5, rand.New(rand.NewPCG(1, 2))) {
			t.Fatal("nothing was evicted")
		}
	}
	expire := func(s *Space) {
		s.DB(0).SetDeadline(s.DB(0).Stored([]byte("k")), 1)
		s.SetNow(2)
		if s.ExpireDue(10) != 1 {
			t.Fatal("nothing has expired")
		}
	}
	for _, test := range []struct {
		name    string
		lazy    Lazyfree
		members int
		remove  func(*Space)
		counted int64
	}{
		{"evict", Lazyfree{Eviction: true}, 65, evict, 1},
		{"evict a small set", Lazyfree{Eviction: true}, 64, evict, 0},
		{"evict, not lazily", Lazyfree{Expire: true, ServerDel: true}, 65, evict, 0},
		{"expire", Lazyfree{Expire: true}, 65, expire, 1},
		{"expire a small set", Lazyfree{Expire: true}, 64, expire, 0},
		{"expire, not lazily", Lazyfree{Eviction: true, ServerDel: true}, 65, expire, 0},
	} {
		s := NewSpace(1, ignore{})
		s.Lazyfree = test.lazy
		s.DB(0).Set([]byte("k"), textSet(test.members, &s.Limits))
		if test.remove(s); s.Stats.LazyFreed != test.counted {
			t.Errorf("%s: %d are counted, not %d", test.name, s.Stats.LazyFreed, test.counted)
		}
	}
}
