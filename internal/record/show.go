package record

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
)

// ScriptKeys visits the keys that scripts wrote.
func (r *Record) ScriptKeys(do func(inspect.ScriptKey)) {
	r.each(func(k keyPart) {
		if k.part.byScript {
			do(r.shown(k))
		}
	})
}

// ScriptKey returns what is known of a key. ok is false if no script wrote it.
func (r *Record) ScriptKey(db int, key string) (k inspect.ScriptKey, ok bool) {
	if r == nil {
		return k, false
	}
	p := r.parts.find(db, key)
	if p == nil || !p.byScript {
		return k, false
	}
	return r.shown(keyPart{db, key, p}), true
}

func (r *Record) shown(k keyPart) inspect.ScriptKey {
	p := r.noted(k.part)
	return inspect.ScriptKey{DB: k.db, Key: k.key, By: p.by, Hints: p.hints, Entries: &p.entries}
}

// NewStrings visits the strings that were set on condition.
func (r *Record) NewStrings(do func(inspect.NewString)) {
	r.each(func(k keyPart) {
		if k.part.fresh != nil {
			do(k.fresh())
		}
	})
}

// NewString returns what is known of a key. ok is false if it is no string that was set on condition.
func (r *Record) NewString(db int, key string) (n inspect.NewString, ok bool) {
	if r == nil {
		return n, false
	}
	p := r.parts.find(db, key)
	if p == nil || p.fresh == nil {
		return n, false
	}
	return keyPart{db, key, p}.fresh(), true
}

func (k keyPart) fresh() inspect.NewString {
	s := k.part.fresh
	return inspect.NewString{DB: k.db, Key: k.key, Value: s.value, Since: s.since, By: s.by, Named: s.named}
}

// History returns which owners have acquired locks last.
func (r *Record) History() *inspect.History {
	if r == nil {
		return &inspect.History{}
	}
	return &r.history
}

// each visits what is known of keys, in no order.
func (r *Record) each(do func(keyPart)) {
	if r != nil {
		r.parts.each(do)
	}
}

// Origin returns what the record keeps of a client.
func Origin(s *command.Session) inspect.Origin {
	return inspect.Origin{ID: s.ID, Addr: s.Addr, Name: s.Name}
}
