package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// seen collects what a snapshot visits: the text of each key, its database and deadline.
type seen struct {
	t    *testing.T
	keys map[string]string
}

func (s *seen) visit(db SnapshotDB, e *Entry) {
	name := fmt.Sprint(db.ID, " ", e.Key())
	if old, twice := s.keys[name]; twice {
		s.t.Errorf("key %s is visited twice, first with %s", name, old)
	}
	s.keys[name] = described(e, db.Deadline(e))
}

func described(e *Entry, deadline int64) string {
	return fmt.Sprintf("%s until %d", e.Value().(*String).Bytes(nil), deadline)
}

// contents returns what a snapshot of s visits if nothing changes.
func contents(s *Space) map[string]string {
	all := map[string]string{}
	for i := range s.Len() {
		db := s.DB(i)
		db.EachStored(func(e *Entry) bool {
			all[fmt.Sprint(i, " ", e.Key())] = described(e, db.Deadline(e))
			return true
		})
	}
	return all
}

// TestASnapshotIsTheDataOfItsBeginning changes a Space at random between the batches.
func TestASnapshotIsTheDataOfItsBeginning(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		s := NewSpace(3, ignore{})
		s.SetNow(1000)
		for i := range rnd.IntN(2000) {
			db := s.DB(rnd.IntN(3))
			e := db.Set(fmt.Append(nil, "k", rnd.IntN(1500)), NewInt(int64(i)))
			if i%5 == 0 {
				db.SetDeadline(e, s.Now()+int64(rnd.IntN(100)))
			}
		}
		want := contents(s)
		got := &seen{t, map[string]string{}}
		snap := s.Snapshot(got.visit)
		later := laterSnapshot{start: rnd.IntN(30)}
		for more := true; more; {
			for range rnd.IntN(60) {
				changeAny(s, rnd)
			}
			more = snap.Next(1 + rnd.IntN(40))
			later.step(t, s, rnd)
		}
		for range 50 {
			changeAny(s, rnd)
		}
		snap.End()
		if !maps.Equal(got.keys, want) {
			t.Fatalf("seed %d: %d keys are visited, there were %d", seed, len(got.keys), len(want))
		}
		later.end(t, seed)
		if err := s.Check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want, got.keys = contents(s), map[string]string{}
		for again := s.Snapshot(got.visit); again.Next(100); {
		}
		if !maps.Equal(got.keys, want) {
			t.Fatalf("seed %d: a second snapshot visits %d keys of %d", seed, len(got.keys), len(want))
		}
	}
}

// laterSnapshot is a snapshot that begins while another is under way.
type laterSnapshot struct {
	start int // the steps before it begins
	snap  *Snapshot
	want  map[string]string
	got   *seen
}

func (l *laterSnapshot) step(t *testing.T, s *Space, rnd *rand.Rand) {
	if l.start--; l.start == 0 {
		l.want, l.got = contents(s), &seen{t, map[string]string{}}
		l.snap = s.Snapshot(l.got.visit)
	}
	if l.snap != nil {
		l.snap.Next(1 + rnd.IntN(60))
	}
}

func (l *laterSnapshot) end(t *testing.T, seed uint64) {
	if l.snap == nil {
		return
	}
	for l.snap.Next(100) {
	}
	if !maps.Equal(l.got.keys, l.want) {
		t.Fatalf("seed %d: the later snapshot visits %d keys, there were %d", seed, len(l.got.keys), len(l.want))
	}
}

// changeAny changes a random key in a random way, or a database.
func changeAny(s *Space, rnd *rand.Rand) {
	db := s.DB(rnd.IntN(3))
	key := fmt.Append(nil, "k", rnd.IntN(1500))
	switch rnd.IntN(12) {
	case 0, 1, 2:
		db.Set(key, NewInt(rnd.Int64()))
	case 3:
		db.Delete(key)
	case 4, 5:
		if e := db.LookupWrite(key); e != nil {
			e.Value().(*String).Append([]byte("x"))
			db.Changed(e)
		}
	case 6:
		if e := db.Peek(key); e != nil {
			db.SetDeadline(e, s.Now()+int64(rnd.IntN(50)))
		}
	case 7:
		if e := db.Peek(key); e != nil {
			db.Persist(e)
		}
	case 8:
		if e := db.Peek(key); e != nil {
			db.SetValue(e, NewInt(1))
		}
	case 9:
		s.SetNow(s.Now() + 1)
		s.ExpireDue(3)
	case 10:
		if rnd.IntN(20) == 0 {
			s.Swap(rnd.IntN(3), rnd.IntN(3))
		}
	case 11:
		if rnd.IntN(60) == 0 {
			db.Flush()
		}
	}
}

func TestAChangeThatASnapshotDoesNotSeeIsFound(t *testing.T) {
	s := NewSpace(1, ignore{})
	e := s.DB(0).Set([]byte("k"), NewText([]byte("text")))
	snap := s.Snapshot(func(SnapshotDB, *Entry) {})
	defer snap.End()
	e.Value().(*String).Append([]byte("x"))
	s.DB(0).Changed(e)
	if s.Check() == nil {
		t.Error("Check accepts it")
	}
}
