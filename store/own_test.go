package store

import (
	"slices"
	"testing"
)

// deletions is an observer that notes the keys that expire.
type deletions struct {
	ignore
	keys []string
}

func (d *deletions) Expired(_ int, key string) { d.keys = append(d.keys, key) }

func TestKeysWithDeadlinesOfTheirOwnEndWhileExpiredKeysAreKept(t *testing.T) {
	heard := &deletions{}
	s := NewSpace(3, heard)
	s.KeepExpired = true
	db := s.DB(0)
	primary := func(do func()) {
		s.NothingIsDue()
		do()
		s.SetNow(s.Now())
	}
	set := func(key string, at int64) *Entry {
		e := db.Set([]byte(key), NewInt(1))
		db.SetDeadline(e, at)
		return e
	}
	s.SetNow(1)
	set("before", 10)
	s.OwnDeadlines = true
	primary(func() { set("of the primary", 10) })
	set("later", 20)
	set("sooner", 10)
	set("prolonged", 10)
	db.SetDeadline(db.Peek([]byte("prolonged")), 30)
	db.Persist(set("persisted", 10))
	db.Remove(set("removed", 10))
	db.Set([]byte(set("set again", 10).Key()), NewInt(1))
	primary(func() { db.SetDeadline(set("given a deadline by the primary", 10), 10) })
	db.SetKeepDeadline([]byte(set("with another value", 10).Key()), NewInt(1))
	moved := s.DB(1)
	moved.SetDeadline(moved.Set([]byte("moved"), NewInt(1)), 10)
	s.Swap(1, 2)
	flushed := s.DB(1)
	flushed.SetDeadline(flushed.Set([]byte("flushed"), NewInt(1)), 10)
	flushed.Flush()
	s.OwnDeadlines = false
	set("after", 10)

	for _, step := range []struct {
		now, next int64 // next: of EarliestOwn, afterwards
		expired   []string
	}{
		{9, 10, nil},
		{10, 20, []string{"moved", "sooner", "with another value"}},
		{25, 30, []string{"later"}},
		{100, 0, []string{"prolonged"}},
	} {
		s.SetNow(step.now)
		heard.keys = nil
		for s.ExpireDue(1) == 1 {
		}
		slices.Sort(heard.keys)
		if !slices.Equal(heard.keys, step.expired) || s.EarliestOwn() != step.next {
			t.Fatalf("at %d %q expired, the next at %d; want %q and %d",
				step.now, heard.keys, s.EarliestOwn(), step.expired, step.next)
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if n := db.Len(); n != 6 {
		t.Errorf("%d keys stay, want 6", n)
	}
}

// replica-read-only has become yes: no client writes any more.
func TestADeadlineOfThePrimaryReplacesOneOfAClient(t *testing.T) {
	heard := &deletions{}
	s := NewSpace(1, heard)
	s.KeepExpired, s.OwnDeadlines = true, true
	db := s.DB(0)
	for _, key := range []string{"kept", "replaced", "sooner"} {
		db.SetDeadline(db.Set([]byte(key), NewInt(1)), 10)
	}
	s.OwnDeadlines = false
	db.SetDeadline(db.Peek([]byte("replaced")), 20)
	db.SetDeadline(db.Peek([]byte("sooner")), 5)
	s.SetNow(100)
	if n := s.ExpireDue(9); n != 1 || !slices.Equal(heard.keys, []string{"kept"}) || s.EarliestOwn() != 0 {
		t.Errorf("%d keys expired: %q", n, heard.keys)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func TestForgottenDeadlinesOfTheirOwnEndNoKey(t *testing.T) {
	s := NewSpace(1, ignore{})
	s.KeepExpired, s.OwnDeadlines = true, true
	db := s.DB(0)
	db.SetDeadline(db.Set([]byte("k"), NewInt(1)), 1)
	s.ForgetOwn()
	s.SetNow(5)
	if s.ExpireDue(9) != 0 || s.EarliestOwn() != 0 {
		t.Error("the key expired")
	}
	s.KeepExpired = false
	if s.ExpireDue(9) != 1 {
		t.Error("the key did not expire when keys end by themselves")
	}
}
