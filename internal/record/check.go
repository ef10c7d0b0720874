package record

import (
	"errors"
	"fmt"

	"github.com/lockredis/lockredis/store"
)

// Check returns an error if the record knows something of keys that do not exist, or keeps too much
// memory for others.
func (r *Record) Check() error {
	if r == nil {
		return nil
	}
	if l := r.parts.last; l.part != nil && r.parts.dbs[l.db].parts[l.key] != l.part ||
		l.entry != nil && (l.entry.Key() != l.key || l.entry.Value() == nil) {
		return fmt.Errorf("record: the last look-up of %q is out of date", l.key)
	}
	marked := map[*part]bool{}
	for n, db := range r.space.Opened() {
		db.Each(func(e *store.Entry) bool {
			if e.Marked() && n < len(r.parts.dbs) {
				marked[r.parts.dbs[n].parts[e.Key()]] = true
			}
			return true
		})
	}
	var err error
	known, all := 0, 0
	r.each(func(k keyPart) {
		if known++; !marked[k.part] {
			err = fmt.Errorf("record: %q of database %d is recorded, but does not exist or is not marked",
				k.key, k.db)
		}
	})
	for _, db := range r.parts.dbs {
		all += len(db.parts)
	}
	switch {
	case err != nil:
		return err
	case all-known > mostGone:
		return fmt.Errorf("record: %d empty parts are kept", all-known)
	case len(r.unnoted) > 0 && r.script.by == nil:
		return errors.New("record: the keys of a script were not looked at")
	}
	return r.asks.check()
}

// check returns an error if an owner is not with its lock, or a lock is kept without a reason.
func (a *asks) check() error {
	owners := 0
	for n, db := range a.dbs {
		if db == nil {
			continue
		}
		for name, l := range db.locks {
			owners += len(l.owners)
			if l.in != db || l.name != name || len(l.owners) == 0 && l.probes == 0 {
				return fmt.Errorf("record: asks for %q of database %d are kept wrongly", name, n)
			}
			for text, elem := range l.owners {
				if ask := elem.Value.(*asked); ask.of != l || ask.text != text || ask.Count < 1 {
					return fmt.Errorf("record: the ask %q for %q is kept wrongly", text, name)
				}
			}
		}
	}
	if owners != a.order.Len() || owners > mostAsks {
		return fmt.Errorf("record: %d owners ask, and %d are in order", owners, a.order.Len())
	}
	return nil
}
