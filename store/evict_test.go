package store

import (
	"math/rand/v2"
	"testing"
)

// newUsedSpace returns a database with n keys, of which the last hot ones were accessed
// last and most often.
func newUsedSpace(n, hot int, lfu bool) *Space {
	s := NewSpace(2, ignore{})
	s.Frequencies = Frequencies{On: lfu, LogFactor: 10, DecayMinutes: 1, Rand: rand.New(rand.NewPCG(1, 2))}
	db := s.DB(1)
	for i := range n {
		s.SetNow(int64(i) * 1000)
		db.Set(lockKey(i), NewInt(1))
	}
	for i := n - hot; i < n; i++ {
		for range 50 {
			db.Lookup(lockKey(i))
		}
	}
	return s
}

func TestEvictionSparesTheKeysInUse(t *testing.T) {
	const n, hot, victims = 5000, 500, 4000
	for _, p := range []Policy{AllKeys | LRU, AllKeys | LFU} {
		s := newUsedSpace(n, hot, p&LFU != 0)
		rnd := rand.New(rand.NewPCG(3, 4))
		for range victims {
			if !s.Evict(p, 5, rnd) {
				t.Fatal("nothing was evicted")
			}
		}
		lost := 0
		for i := n - hot; i < n; i++ {
			if s.DB(1).Stored(lockKey(i)) == nil {
				lost++
			}
		}
		if s.DB(1).Len() != n-victims || s.Stats.Evicted != victims || lost > hot/50 {
			t.Errorf("policy %b: %d keys are left, %d of %d in use are lost", p, s.DB(1).Len(), lost, hot)
		}
	}
}

func TestACandidateThatIsAccessedIsSpared(t *testing.T) {
	s := newUsedSpace(20, 0, false)
	rnd := rand.New(rand.NewPCG(5, 6))
	s.SetNow(1_000_000)
	s.Evict(AllKeys|LRU, 20, rnd) // the pool is full now
	for e := range s.DB(1).keys.index.all() {
		s.DB(1).Lookup(bytesOf(e.Key()))
	}
	s.SetNow(2_000_000)
	s.DB(1).Set([]byte("new"), NewInt(1))
	s.DB(1).Lookup([]byte("new"))
	s.Evict(AllKeys|LRU, 40, rnd)
	if s.DB(1).Stored([]byte("new")) == nil {
		t.Error("the key that was accessed last was evicted")
	}
}

func TestTheCounterGrowsWithTheLogarithmOfTheAccesses(t *testing.T) {
	for _, test := range []struct {
		factor, accesses int
		least, most      int64
	}{
		{0, 100, 105, 105}, {0, 300, 255, 255}, {1, 1000, 40, 60}, {10, 100, 8, 13}, {10, 1000, 15, 24},
		{100, 1000, 7, 13}, {10, 1_000_000, 255, 255},
	} {
		s := newUsedSpace(1, 0, true)
		s.Frequencies.LogFactor = test.factor
		for range test.accesses {
			s.DB(1).Lookup(lockKey(0))
		}
		got := s.Frequency(s.DB(1).Stored(lockKey(0)))
		if got < test.least || got > test.most {
			t.Errorf("factor %d, %d accesses: the counter is %d", test.factor, test.accesses, got)
		}
	}
}

func TestTheCounterDecaysByTheMinute(t *testing.T) {
	const minute = 60_000
	s := newUsedSpace(1, 0, true)
	e := s.DB(1).Stored(lockKey(0))
	s.SetFrequency(e, 100)
	for _, test := range []struct {
		decay, minutes int
		want           int64
	}{{1, 0, 100}, {1, 7, 93}, {3, 7, 98}, {0, 7, 100}, {1, 100, 0}, {1, 5000, 0}, {1, 1<<16 + 2, 97}} {
		s.Frequencies.DecayMinutes = test.decay
		s.SetNow(int64(test.minutes) * minute)
		if test.minutes > 1<<16 {
			s.SetNow(65530 * minute)
			s.SetFrequency(e, 100)
			s.SetNow((65530 + 9) * minute) // the clock of minutes begins again
			test.want = 100 - 8
		}
		if got := s.Frequency(e); got != test.want {
			t.Errorf("decay %d, after %d minutes: %d, want %d", test.decay, test.minutes, got, test.want)
		}
	}
}

func TestIdleTimesGoOnWhenTheClockBeginsAgain(t *testing.T) {
	s := newUsedSpace(1, 0, false)
	e := s.DB(1).Stored(lockKey(0))
	s.SetNow((1<<24 - 10) * 1000)
	s.DB(1).Lookup(lockKey(0))
	s.SetNow((1<<24 + 90) * 1000)
	if got := s.Idle(e); got < 99 || got > 100 {
		t.Errorf("%d seconds after 100", got)
	}
	s.SetIdle(e, 1000)
	if got := s.Idle(e); got != 1000 {
		t.Errorf("SetIdle: %d", got)
	}
}

func BenchmarkEvict(b *testing.B) {
	s := newUsedSpace(100_000, 1000, false)
	rnd := rand.New(rand.NewPCG(1, 2))
	s.CountBytes(true)
	i := 0
	for b.Loop() {
		i++
		s.DB(1).Set(lockKey(1_000_000+i), NewInt(1))
		s.Evict(AllKeys|LRU, 5, rnd)
		s.CountedBytes()
	}
}
