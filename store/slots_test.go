package store

import (
	"slices"
	"strconv"
	"testing"

	"github.com/lockredis/lockredis/internal/cluster"
)

func TestASlotListsItsKeysTheNewestFirst(t *testing.T) {
	s := NewSpace(2, ignore{})
	s.IndexSlots()
	db := s.DB(0)
	slot := cluster.Slot([]byte("t"))
	expect := func(want ...string) {
		t.Helper()
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		if got := db.SlotKeys(slot, 100); !slices.Equal(got, want) || db.SlotLen(slot) != len(want) {
			t.Fatalf("slot %d has %q and counts %d, want %q", slot, got, db.SlotLen(slot), want)
		}
	}
	expect()
	for i := range 5 {
		db.Set([]byte("{t}"+strconv.Itoa(i)), NewText([]byte("v")))
		db.Set([]byte("other"+strconv.Itoa(i)), NewText([]byte("v")))
	}
	expect("{t}4", "{t}3", "{t}2", "{t}1", "{t}0")
	if got := db.SlotKeys(slot, 2); !slices.Equal(got, []string{"{t}4", "{t}3"}) {
		t.Fatalf("the newest two keys are %q", got)
	}
	db.Set([]byte("{t}1"), NewText([]byte("other value")))
	db.Delete([]byte("{t}3"))
	expect("{t}4", "{t}2", "{t}1", "{t}0")
	db.Delete([]byte("{t}4"))
	db.Delete([]byte("{t}0"))
	db.SetDeadline(db.Peek([]byte("{t}2")), 10)
	s.SetNow(10)
	expect("{t}2", "{t}1")
	s.ExpireDue(1)
	expect("{t}1")
	db.Flush()
	expect()
	db.Set([]byte("{t}1"), NewText([]byte("v")))
	expect("{t}1")
}

func TestAKeySetAgainWhileItIsKeptExpiredIsInItsSlotOnce(t *testing.T) {
	s := NewSpace(1, ignore{})
	s.IndexSlots()
	db := s.DB(0)
	db.SetDeadline(db.Set([]byte("k"), NewText([]byte("v"))), 10)
	s.SetNow(20)
	s.KeepExpired = true
	db.Set([]byte("k"), NewText([]byte("w")))
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if n := db.SlotLen(cluster.Slot([]byte("k"))); n != 1 {
		t.Fatalf("the slot counts %d keys", n)
	}
}
