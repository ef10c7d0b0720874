package store

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// fieldLog is an Observer that records the calls of FieldsExpired.
type fieldLog struct {
	ignore
	expired []string
}

func (l *fieldLog) FieldsExpired(db int, key string, fields []string, gone bool) {
	l.expired = append(l.expired, fmt.Sprint(db, " ", key, " ", fields, " ", gone))
}

// modelField is a field in the model of a hash: its deadline, 0 for none.
type modelField struct {
	value string
	at    int64
}

// fieldModel is a plain model of hashes with field deadlines in two databases.
type fieldModel struct {
	s      *Space
	hashes [2]map[string]map[string]modelField
}

// due deletes what is due from the model, in the hashes that pick selects.
func (m *fieldModel) due(db int, key string) {
	h := m.hashes[db][key]
	maps.DeleteFunc(h, func(_ string, f modelField) bool { return f.at != 0 && f.at <= m.s.Now() })
	if len(h) == 0 {
		delete(m.hashes[db], key)
	}
}

func (m *fieldModel) hash(db int, key string) (*Entry, *Hash) {
	m.due(db, key)
	e := m.s.DB(db).LookupWrite([]byte(key))
	if e == nil {
		return nil, nil
	}
	return e, e.Value().(*Hash)
}

func (m *fieldModel) compare(t *rapid.T) {
	for db, hashes := range m.hashes {
		for _, key := range slices.Collect(maps.Keys(hashes)) {
			e, h := m.hash(db, key)
			want := hashes[key]
			if (e != nil) != (len(want) > 0) {
				t.Fatalf("key %s exists: %v, in the model it has %d fields", key, e != nil, len(want))
			}
			if e == nil {
				continue
			}
			if h.Len() != len(want) {
				t.Fatalf("key %s has %d fields, in the model %d", key, h.Len(), len(want))
			}
			for field, f := range want {
				value, _ := h.Get([]byte(field))
				if string(value) != f.value || h.FieldDeadline([]byte(field)) != f.at {
					t.Fatalf("field %s of %s is %s until %d, in the model %s until %d", field, key,
						value, h.FieldDeadline([]byte(field)), f.value, f.at)
				}
			}
		}
	}
	if err := m.s.Check(); err != nil {
		t.Fatal(err)
	}
}

func TestFieldDeadlinesAreThoseOfAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &fieldModel{s: NewSpace(2, ignore{})}
		m.s.FieldDeadlines = true
		m.hashes = [2]map[string]map[string]modelField{{}, {}}
		m.s.SetNow(1000)
		lim := DefaultLimits()
		key := rapid.SampledFrom([]string{"k", "l"})
		field := rapid.SampledFrom([]string{"a", "b", "c"})
		pick := func() (db int, k, f string) {
			return rapid.IntRange(0, 1).Draw(t, "db"), key.Draw(t, "key"), field.Draw(t, "field")
		}
		with := func(db int, k, f string, do func(e *Entry, h *Hash, old modelField)) {
			if e, h := m.hash(db, k); e != nil && h.Has([]byte(f)) {
				do(e, h, m.hashes[db][k][f])
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": m.compare,
			"set": func(*rapid.T) {
				db, k, f := pick()
				e, h := m.hash(db, k)
				if e == nil {
					h = &Hash{}
					m.hashes[db][k] = map[string]modelField{}
				}
				keep := rapid.Bool().Draw(t, "keep")
				next := modelField{value: rapid.StringN(0, 3, -1).Draw(t, "value")}
				if keep {
					next.at = m.hashes[db][k][f].at
					h.SetKeepDeadline([]byte(f), []byte(next.value), &lim)
				} else {
					h.Set([]byte(f), []byte(next.value), &lim)
				}
				m.hashes[db][k][f] = next
				if e == nil {
					m.s.DB(db).Set([]byte(k), h)
				}
			},
			"deadline": func(*rapid.T) {
				db, k, f := pick()
				with(db, k, f, func(e *Entry, _ *Hash, old modelField) {
					old.at = m.s.Now() + rapid.Int64Range(1, 50).Draw(t, "after")
					m.s.DB(db).SetFieldDeadline(e, []byte(f), old.at)
					m.hashes[db][k][f] = old
				})
			},
			"persist": func(*rapid.T) {
				db, k, f := pick()
				with(db, k, f, func(_ *Entry, h *Hash, old modelField) {
					if h.PersistField([]byte(f)) != (old.at != 0) {
						t.Fatal("PersistField does not report whether there was a deadline")
					}
					old.at = 0
					m.hashes[db][k][f] = old
				})
			},
			"delete": func(*rapid.T) {
				db, k, f := pick()
				with(db, k, f, func(e *Entry, h *Hash, _ modelField) {
					delete(m.hashes[db][k], f)
					if h.Delete([]byte(f)); h.Len() == 0 {
						m.s.DB(db).Remove(e)
						delete(m.hashes[db], k)
					}
				})
			},
			"rename": func(*rapid.T) {
				db, k, f := pick()
				with(db, k, f, func(e *Entry, h *Hash, _ modelField) {
					to, name := rapid.IntRange(0, 1).Draw(t, "to"), key.Draw(t, "name")
					if to == db && name == k {
						return
					}
					m.hashes[to][name] = m.hashes[db][k]
					if rapid.Bool().Draw(t, "remove first") {
						m.s.DB(db).Remove(e)
						m.s.DB(to).Set([]byte(name), h)
					} else {
						m.s.DB(to).Set([]byte(name), h)
						m.s.DB(db).Remove(e)
					}
					delete(m.hashes[db], k)
				})
			},
			"copy": func(*rapid.T) {
				db, k, f := pick()
				with(db, k, f, func(_ *Entry, h *Hash, _ modelField) {
					to, name := rapid.IntRange(0, 1).Draw(t, "to"), key.Draw(t, "name")
					m.s.DB(to).Set([]byte(name), h.Clone())
					m.hashes[to][name] = maps.Clone(m.hashes[db][k])
				})
			},
			"overwrite": func(*rapid.T) {
				db, k, _ := pick()
				m.s.DB(db).Set([]byte(k), new(Set))
				m.s.DB(db).Delete([]byte(k))
				delete(m.hashes[db], k)
			},
			"flush": func(*rapid.T) {
				db, _, _ := pick()
				m.s.DB(db).Flush()
				clear(m.hashes[db])
			},
			"swap": func(*rapid.T) {
				m.s.Swap(0, 1)
				m.hashes[0], m.hashes[1] = m.hashes[1], m.hashes[0]
			},
			"wait": func(*rapid.T) {
				m.s.SetNow(m.s.Now() + rapid.Int64Range(1, 30).Draw(t, "ms"))
				if rapid.Bool().Draw(t, "timer") {
					for m.s.ExpireDue(2) == 2 {
					}
					if at, ok := m.s.NextDeadline(); ok && at <= m.s.Now() {
						t.Fatalf("at %d the next deadline is %d", m.s.Now(), at)
					}
				}
			},
		})
	})
}

func TestTheTimerDeletesFieldsInBatches(t *testing.T) {
	var log fieldLog
	s := NewSpace(1, &log)
	s.FieldDeadlines, s.NameFields = true, true
	s.SetNow(1)
	lim := DefaultLimits()
	h := &Hash{}
	e := s.DB(0).Set([]byte("h"), h)
	for i := range 5 {
		field := []byte{'a' + byte(i)}
		h.Set(field, nil, &lim)
		s.DB(0).SetFieldDeadline(e, field, 10+int64(i))
	}
	s.SetNow(20)
	if n := s.ExpireDue(3); n != 3 || h.Len() != 2 || s.DB(0).Len() != 1 {
		t.Fatalf("the first batch deleted %d fields, %d are left", n, h.Len())
	}
	if n := s.ExpireDue(3); n != 2 || s.DB(0).Len() != 0 {
		t.Fatalf("the second batch deleted %d fields, %d keys are left", n, s.DB(0).Len())
	}
	if want := []string{"0 h [a b c] false", "0 h [d e] true"}; !slices.Equal(log.expired, want) {
		t.Fatalf("FieldsExpired was called for %q, not %q", log.expired, want)
	}
	if s.Stats.ExpiredFields != 5 || s.Stats.Expired != 0 {
		t.Fatalf("the counters are %+v", s.Stats)
	}
}

func TestALookUpHidesFieldsThatAreDue(t *testing.T) {
	var log fieldLog
	s := NewSpace(1, &log)
	s.FieldDeadlines = true
	s.SetNow(1)
	lim := DefaultLimits()
	h := &Hash{}
	e := s.DB(0).Set([]byte("h"), h)
	h.Set([]byte("f"), []byte("v"), &lim)
	s.DB(0).SetFieldDeadline(e, []byte("f"), 5)
	s.SetNow(4)
	if s.DB(0).Peek([]byte("h")) == nil {
		t.Fatal("the key is gone before the deadline")
	}
	s.SetNow(5)
	if s.DB(0).Peek([]byte("h")) != nil || !slices.Equal(log.expired, []string{"0 h [] true"}) {
		t.Fatalf("the key is there at the deadline, or its fields are named; FieldsExpired: %q", log.expired)
	}
}
