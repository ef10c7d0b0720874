package store

import (
	"fmt"
	"testing"

	"github.com/lockredis/lockredis/expiry"
)

// filledSpace returns a Space with values of all types, small and large.
func filledSpace() *Space {
	s := NewSpace(1, ignore{})
	s.SetNow(1000)
	db, lim := s.DB(0), &s.Limits
	for i := range 1000 {
		db.SetDeadline(db.Set(fmt.Appendf(nil, "key:%d", i), NewText([]byte("x"))), int64(2000+i))
	}
	for _, n := range []int{3, 1000} {
		h, z, set, l := &Hash{}, &ZSet{}, &Set{}, NewList(lim)
		for i := range n {
			member := fmt.Appendf(nil, "member:%d", i)
			h.Set(member, member, lim)
			z.Add(member, float64(i), lim)
			set.Add(member, lim)
			l.PushBack(member)
		}
		for name, v := range map[string]Value{"hash": h, "zset": z, "set": set, "list": l} {
			db.Set(fmt.Appendf(nil, "%s:%d", name, n), v)
		}
	}
	ints := &Set{}
	ints.Add([]byte("1"), lim)
	ints.Add([]byte("2"), lim)
	db.Set([]byte("ints"), ints)
	return s
}

func value[T Value](s *Space, key string) T { return s.DB(0).Peek([]byte(key)).Value().(T) }

func misplace[V any](d *dict[V]) { d.index.replace(d.hashes[1], 1, 5) }
func lose[V any](d *dict[V])     { d.index.remove(d.hashes[1], 1) }

func TestCheckFindsEveryInconsistency(t *testing.T) {
	if err := filledSpace().Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Space){
		"a key that is not counted":      func(s *Space) { s.DB(0).keys.n-- },
		"a part at a wrong position":     func(s *Space) { s.DB(0).keys.index.parts[0].pos++ },
		"a part that random picks miss":  func(s *Space) { x := &s.DB(0).keys.index; x.dense = x.dense[:len(x.dense)-1] },
		"a part that counts wrongly":     func(s *Space) { s.DB(0).keys.index.parts[0].used++ },
		"a slot without an entry":        func(s *Space) { clear(s.DB(0).keys.index.parts[0].items[:]) },
		"a key without its deadline":     func(s *Space) { *s.DB(0).Peek([]byte("key:7")).DeadlineItem() = expiry.Item{} },
		"a deadline without a key":       func(s *Space) { db := s.DB(0); db.keys.remove(db.Peek([]byte("key:7"))) },
		"a deadline before Earliest":     func(s *Space) { s.earliest = 2001 },
		"an empty value":                 func(s *Space) { s.DB(0).Set([]byte("ints"), &Hash{}) },
		"a field at a wrong position":    func(s *Space) { misplace(&value[*Hash](s, "hash:1000").table().dict) },
		"a field missing in the index":   func(s *Space) { lose(&value[*Hash](s, "hash:1000").table().dict) },
		"a small hash miscounted":        func(s *Space) { value[*Hash](s, "hash:3").packed().setCount(4) },
		"a member at a wrong position":   func(s *Space) { misplace(value[*Set](s, "set:1000").table) },
		"a member missing in the index":  func(s *Space) { lose(value[*Set](s, "set:1000").table) },
		"integers out of order":          func(s *Space) { value[*Set](s, "ints").ints[0] = 9 },
		"a sorted set without its order": func(s *Space) { value[*ZSet](s, "zset:1000").table.order.n-- },
		"a leaf miscounted":              func(s *Space) { value[*ZSet](s, "zset:1000").table.order.leaves-- },
		"a member with two scores":       func(s *Space) { value[*ZSet](s, "zset:1000").table.scores.elems[3].value = 9 },
		"a packed sorted set out of order": func(s *Space) {
			z := value[*ZSet](s, "zset:3")
			z.packed.Replace(z.packed.Seek(0), []byte("z"))
			z.packed.Replace(z.packed.Seek(1), z.packed.At(z.packed.Seek(5)))
		},
		"a list miscounted":       func(s *Space) { value[*List](s, "list:1000").n++ },
		"a list node miscounted":  func(s *Space) { value[*List](s, "list:1000").all[0].n++ },
		"a list node mismeasured": func(s *Space) { value[*List](s, "list:1000").all[0].size++ },
		"a plain node of several": func(s *Space) { value[*List](s, "list:1000").all[0].size = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			s := filledSpace()
			spoil(s)
			if s.Check() == nil {
				t.Fatal("Check found nothing")
			}
		})
	}
}
