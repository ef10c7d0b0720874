package record

import (
	"fmt"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// The engine's tests show what an inspector sees. The tests here are about memory.

// observer is what the store tells the engine.
type observer struct {
	store.Observer
	r *Record
}

func (observer) Added(int, string)         {}
func (o *observer) Emptying(db *store.DB)  { o.r.Emptied(db.ID()) }
func (o *observer) Swapped(a, b *store.DB) { o.r.Swapped(a.ID(), b.ID()) }

// recorded is a record of hashes that a script writes.
type recorded struct {
	*Record
	t *testing.T
}

func newRecorded(t *testing.T) recorded {
	o := &observer{}
	o.r = New(inspect.New(nil), store.NewSpace(2, o))
	return recorded{o.r, t}
}

// acquire has the running script add an owner to a hash.
func (r recorded) acquire(db int, key, owner string) {
	d := r.space.DB(db)
	e := d.LookupWrite([]byte(key))
	if e == nil {
		e = d.Set([]byte(key), &store.Hash{})
	}
	e.Value().(*store.Hash).Set([]byte(owner), []byte("1"), &r.space.Limits)
	r.Changed(&command.Change{
		DB: db, Key: e.Key(), Entry: e, Class: command.HashClass, Event: "hincrby",
		Elems: command.Came(resp.Args{[]byte(owner)}, 1, 1),
	})
}

// release deletes a key.
func (r recorded) release(db int, key string) {
	e := r.space.DB(db).LookupWrite([]byte(key))
	r.space.DB(db).Remove(e)
	r.Changed(&command.Change{DB: db, Key: e.Key(), Entry: e, Class: command.Generic, Event: "del"})
}

func (r recorded) check() {
	r.t.Helper()
	if err := r.Check(); err != nil {
		r.t.Error(err)
	}
}

const owner = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17"

func TestAScriptThatTakesALockManyTimesLeavesNoRecord(t *testing.T) {
	r := newRecorded(t)
	r.Begins(&command.Session{}, nil)
	for range 5000 {
		r.acquire(0, "lock", owner)
		r.release(0, "lock")
	}
	r.Ends()
	r.check()
	if len(r.unnoted) != 0 || cap(r.unnoted) > 2*mostUnnoted {
		t.Errorf("room for %d keys is kept after one key has gone", cap(r.unnoted))
	}
}

// Keys come and go in two databases, which are emptied and exchanged meanwhile.
func TestFewPartsAreKeptForKeysThatAreGone(t *testing.T) {
	r := newRecorded(t)
	name := func(i int) string {
		if i%7 == 0 {
			return fmt.Sprintf("%0*d", 2*longestGone, i)
		}
		return fmt.Sprint(i % 500)
	}
	for i := range 20_000 {
		r.Begins(&command.Session{}, nil)
		r.acquire(i%2, name(i), owner)
		r.Ends()
		if i%1000 > 300 { // the last ones stay for now
			r.release(i%2, name(i))
		}
		switch i % 1000 {
		case 0, 300:
			r.check()
		case 500:
			r.space.Swap(0, 1)
		case 999:
			r.space.DB(0).Flush()
			r.space.DB(1).Flush()
		}
	}
	r.check()
}

// A lock that is acquired and released again allocates nothing, also beside many others.
func TestALockThatComesAgainAllocatesNothing(t *testing.T) {
	r := newRecorded(t)
	s := &command.Session{}
	e := r.space.DB(0).Set([]byte("lock"), &store.Hash{})
	came := &command.Change{
		Key: e.Key(), Entry: e, Class: command.HashClass, Event: "hincrby",
		Elems: command.Came(resp.Args{[]byte(owner)}, 1, 1),
	}
	for i := range mostGone - 1 {
		r.Begins(s, nil)
		r.acquire(0, fmt.Sprint(i), owner)
		r.Ends()
		r.release(0, fmt.Sprint(i))
	}
	keys, args := [][]byte{[]byte("lock")}, [][]byte{[]byte("30000"), []byte(owner)}
	r.acquire(0, "held", owner)
	other := [][]byte{[]byte("0b9d4c3f-7a52-4d26-8e7b-5f1d2c3b4a59:3")}
	if r.Asked(s, 0, [][]byte{[]byte("held")}, other, resp.Int(30000)) != "held" {
		t.Fatal("an ask is not seen")
	}
	if got := testing.AllocsPerRun(100, func() {
		r.Begins(s, nil)
		r.Changed(came)
		r.Asked(s, 0, keys, args, resp.Nil)
		r.Ends()
		r.Forget(0, "lock")
	}); got != 0 {
		t.Errorf("it allocates %v times", got)
	}
}
