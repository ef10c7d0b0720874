package store

import (
	"github.com/lockredis/lockredis/expiry"
)

// Fields of a hash may have deadlines of their own, as in Valkey 9, while
// Space.FieldDeadlines is set. Without it a look-up costs a comparison more.
//
// A hash with field deadlines is a table. It keeps them in an index of its own. DB.fields
// has each such hash, at a lower bound of its earliest field deadline. So the timer, and
// each look-up of the key, finds the fields that are due without a search. A look-up deletes
// them first, so no handler knows of them.

// fieldTimes are the deadlines of the fields of one hash. A hash has them from its first
// field deadline on.
type fieldTimes struct {
	due    expiry.Index[*fieldTime]
	fields map[string]*fieldTime

	// Where the hash is the value of a key; nil while it is not.
	db    *DB
	entry *Entry
	bound expiry.Item // in db.fields: no field is due before
}

// fieldTime is the deadline of one field.
type fieldTime struct {
	field    string
	deadline expiry.Item
}

// DeadlineItem returns the item in fieldTimes.due (expiry.Holder).
func (t *fieldTime) DeadlineItem() *expiry.Item { return &t.deadline }

// DeadlineItem returns the item in DB.fields (expiry.Holder).
func (t *fieldTimes) DeadlineItem() *expiry.Item { return &t.bound }

// set gives the field the deadline at, in Unix milliseconds.
func (t *fieldTimes) set(field string, at int64) {
	ft := t.fields[field]
	if ft == nil {
		ft = &fieldTime{field: field}
		t.fields[field] = ft
	}
	t.due.Add(ft, at)
}

// remove removes the field's deadline and reports whether it had one.
func (t *fieldTimes) remove(field []byte) bool {
	ft := t.fields[string(field)]
	if ft == nil {
		return false
	}
	t.due.Remove(ft)
	delete(t.fields, ft.field)
	return true
}

// clone returns the same deadlines for a copy of the hash, which is no key's value yet.
func (t *fieldTimes) clone() *fieldTimes {
	if t == nil {
		return nil
	}
	c := &fieldTimes{fields: make(map[string]*fieldTime, len(t.fields))}
	for field, old := range t.fields {
		c.set(field, t.due.Deadline(old))
	}
	return c
}

// times returns the deadlines of the hash's fields, nil if there never was one.
func (h *Hash) times() *fieldTimes {
	if t := h.table(); t != nil {
		return t.times
	}
	return nil
}

// FieldDeadline returns the field's deadline in Unix milliseconds, 0 if it has none.
func (h *Hash) FieldDeadline(field []byte) int64 {
	if times := h.times(); times != nil {
		if ft := times.fields[string(field)]; ft != nil {
			return times.due.Deadline(ft)
		}
	}
	return 0
}

// FieldDeadlines returns how many fields have a deadline.
func (h *Hash) FieldDeadlines() int {
	if times := h.times(); times != nil {
		return times.due.Len()
	}
	return 0
}

// PersistField removes the field's deadline and reports whether it had one.
func (h *Hash) PersistField(field []byte) bool {
	times := h.times()
	return times != nil && times.remove(field)
}

// SetFieldDeadline gives a field the deadline at, in Unix milliseconds. The field must
// exist. A hash that is a key's value gets it by DB.SetFieldDeadline.
func (h *Hash) SetFieldDeadline(field []byte, at int64) {
	if h.Packed() {
		h.toTable()
	}
	t := h.table()
	if t.times == nil {
		t.times = &fieldTimes{fields: map[string]*fieldTime{}}
	}
	t.times.set(t.elems[t.find(field)].key, max(at, 1))
}

// SetFieldDeadline gives a field of the hash of e the deadline at, in Unix milliseconds.
// The field must exist. If at is past, the next look-up deletes the field.
// Space.FieldDeadlines must be set.
func (db *DB) SetFieldDeadline(e *Entry, field []byte, at int64) {
	hashIn(e).SetFieldDeadline(field, at)
	db.adoptFields(e)
}

// adoptFields adds the value of e to db.fields if it is a hash with field deadlines. The
// hash may have been the value of another key before.
func (db *DB) adoptFields(e *Entry) {
	h := hashIn(e)
	if h == nil {
		return
	}
	times := h.times()
	if times == nil {
		return
	}
	at, ok := times.due.Next()
	if times.entry != e || times.db != db {
		if times.db != nil {
			times.db.fields.Remove(times)
		}
		times.db, times.entry = db, e
	} else if ok && times.bound.Set() && db.fields.Deadline(times) <= at {
		return
	}
	if !ok {
		return
	}
	db.fields.Add(times, at)
	db.space.sooner(at)
}

// leaveFields removes the value of e from db.fields: e gets another value or is removed.
func (db *DB) leaveFields(e *Entry) {
	if h := hashIn(e); h != nil {
		if times := h.times(); times != nil && times.entry == e {
			db.fields.Remove(times)
			times.db, times.entry = nil, nil
		}
	}
}

// expireFields deletes the fields of e that are due. It reports whether e was deleted,
// because it had no other field.
func (db *DB) expireFields(e *Entry) (gone bool) {
	if h := hashIn(e); h != nil {
		if times := h.times(); times != nil {
			if at, ok := times.due.Next(); ok && at <= db.space.Due {
				_, gone = db.expireFieldsOf(e, times.due.Len())
			}
		}
	}
	return gone
}

// expireFieldsOf deletes at most max fields of e, a hash, that are due, the earliest first.
func (db *DB) expireFieldsOf(e *Entry, max int) (n int, gone bool) {
	db.changing(e)
	h := hashIn(e)
	t := h.table()
	var fields []string
	n = t.times.due.PopDue(db.space.Due, max, func(ft *fieldTime) {
		if db.space.NameFields {
			fields = append(fields, ft.field)
		}
		delete(t.times.fields, ft.field)
		t.removeAt(t.find(bytesOf(ft.field)))
	})
	db.space.Stats.ExpiredFields += int64(n)
	if gone = h.Len() == 0; gone {
		db.RemoveLazily(e, false)
	}
	db.space.observer.FieldsExpired(db.id, e.Key(), fields, gone)
	return n, gone
}

// expireDueFields deletes at most max fields that are due, and returns how many.
func (db *DB) expireDueFields(max int) (n int) {
	for n < max {
		bound, ok := db.fields.Next()
		if !ok || bound > db.space.Due {
			break
		}
		times := db.fields.Peek()
		switch at, ok := times.due.Next(); {
		case !ok:
			db.fields.Remove(times)
		case at > db.space.Due:
			db.fields.Add(times, at)
		default:
			done, gone := db.expireFieldsOf(times.entry, max-n)
			if n += done; gone {
				continue
			}
			if at, ok = times.due.Next(); ok {
				db.fields.Add(times, at)
			}
		}
	}
	return n
}
