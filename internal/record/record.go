package record

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/store"
)

// Record is the room that remembers who wrote which lock. Its methods are called inside the engine.
// A nil Record remembers nothing.
//
// A key that has a part in the record is marked, so a change of another key needs no look-up. A part
// goes with its key: when the key is deleted or expires, and when its database is emptied. A value
// that moves to another key takes its part along, SWAPDB exchanges them.
type Record struct {
	known *inspect.Inspector // knows the forms of owners and tokens
	space *store.Space
	parts parts
	// history outlives the keys: an owner has released its lock by now.
	history inspect.History
	asks    asks
	probing int // probes under way, see BeginProbe

	script script
	// unnoted are the keys that the running script wrote, see noted. Some of them may be gone.
	unnoted []*part
	// missing is the key that a script has found missing last.
	missing struct {
		is   bool // there is one
		db   int
		name []byte
	}
}

// script is the running script.
type script struct {
	by   *command.Session // runs it; nil: no script runs
	keys [][]byte         // KEYS
}

// part is what the record knows of one key.
type part struct {
	byScript bool
	listed   bool           // it is in parts.gone
	unnoted  bool           // the running script has written it, see noted
	by       inspect.Origin // the client that ran the last script
	as       string         // the key's name when a script first wrote it
	hints    inspect.Hints
	entries  inspect.Entries
	fresh    *newString // nil unless a string was set here on condition
}

// newString is a string that was set on condition that there is no key, or with a name that
// KnowLocks knows.
type newString struct {
	value string
	since int64 // Unix ms
	by    inspect.Origin
	named bool // KnowLocks knows the key
}

// New returns a record of the keys that change from now on.
func New(known *inspect.Inspector, space *store.Space) *Record {
	return &Record{known: known, space: space}
}

// Begins notes that a client begins to run a script or a function, with these KEYS.
func (r *Record) Begins(by *command.Session, keys [][]byte) {
	r.script.by, r.script.keys = by, keys
}

// Ends notes that it ends. It forgets the client, and the keys, which are in the client's buffer.
func (r *Record) Ends() {
	if len(r.unnoted) > 0 {
		r.noteAll()
	}
	r.script = script{}
	r.missing.is = false
}

// Changed follows a change of a key.
func (r *Record) Changed(ch *command.Change) {
	switch {
	case ch.ToEvent != "":
		r.moved(ch)
		return
	case ch.Entry == nil: // it is about no key
		return
	case ch.Arrived:
		r.arrived(ch.DB, ch.Entry)
		return
	}
	switch v := ch.Entry.Value().(type) {
	case nil:
		r.deleted(ch)
	case *store.String:
		if ch.Elems.By != nil {
			r.set(ch)
		}
	case *store.Hash:
		if r.script.by != nil {
			r.wrote(ch, v, true)
		}
	default:
		if r.script.by != nil {
			r.wrote(ch, v, false)
		}
	}
}

// moved takes a key's part along to the key that has its value now. A script that renames a key did
// not write its value.
func (r *Record) moved(ch *command.Change) {
	r.parts.drop(ch.ToDB, ch.To.Key(), r.parts.of(ch.ToDB, ch.To))
	r.parts.move(ch.DB, ch.Entry, ch.ToDB, ch.To)
}

// arrived takes a value from another node of a cluster for a lock if it looks like one, because that
// node does not tell who wrote it. A copy by RESTORE is data.
func (r *Record) arrived(db int, e *store.Entry) {
	v, name := e.Value(), e.Key()
	if text, ok := v.(*store.String); ok {
		value, named := text.Bytes(nil), r.known.IsLockName(name)
		if named || r.known.IsToken(value) {
			r.parts.add(db, e).fresh = &newString{
				value: string(value), since: r.space.Now(), named: named,
			}
		}
		return
	}
	if inspect.MayHold(name, v) {
		p := r.parts.add(db, e)
		p.byScript, p.as, p.hints = true, name, inspect.HintsOf(name)
	}
}

// Inherited follows a replica that becomes a primary: its keys have come from another server. A nil
// Record does nothing.
func (r *Record) Inherited() {
	if r == nil {
		return
	}
	for _, db := range r.space.Opened() {
		db.Each(func(e *store.Entry) bool {
			if r.parts.of(db.ID(), e) == nil {
				r.arrived(db.ID(), e)
			}
			return true
		})
	}
}

// deleted forgets a key. Its part is often the last one in unnoted.
func (r *Record) deleted(ch *command.Change) {
	p := r.parts.of(ch.DB, ch.Entry)
	if p == nil {
		return
	}
	r.parts.drop(ch.DB, ch.Key, p)
	if last := len(r.unnoted) - 1; last >= 0 && r.unnoted[last] == p {
		r.unnoted[last] = nil
		r.unnoted = r.unnoted[:last]
	}
}

// wrote follows a change by a script.
func (r *Record) wrote(ch *command.Change, v store.Value, isHash bool) {
	p := r.parts.of(ch.DB, ch.Entry)
	if p == nil || !p.byScript {
		if !isHash && !inspect.MayHold(ch.Key, v) {
			return
		}
		p = r.parts.add(ch.DB, ch.Entry)
		p.byScript, p.as = true, ch.Key
	}
	if !p.unnoted {
		if len(r.unnoted) == mostUnnoted {
			r.noteAll()
		}
		p.unnoted = true
		r.unnoted = append(r.unnoted, p)
	}
	if ch.Elems.Any() {
		r.entered(p, ch, isHash)
		if p.entries.Len() > few {
			prune(p, v)
		}
	}
}

// mostUnnoted is how many keys of the running script wait for noteAll. A script may create a key many
// times.
const mostUnnoted = 64

// noted returns a part with the client of the running script, and what the script's keys tell of this
// one. That is noted when a caller asks, or at the script's end: a script that releases a lock deletes
// the key before.
func (r *Record) noted(p *part) *part {
	if p.unnoted {
		p.by = Origin(r.script.by)
		p.hints.Note(p.as, r.script.keys)
	}
	return p
}

// noteAll notes the running script for all keys that it wrote.
func (r *Record) noteAll() {
	for i, p := range r.unnoted {
		r.noted(p).unnoted = false
		r.unnoted[i] = nil
	}
	r.unnoted = r.unnoted[:0]
}

// set records a string that a client's or a script's command has set on condition that there is no
// key. A script may check that itself before a SET without NX, as Spring Integration's lock registry
// does. A key that KnowLocks knows needs no condition. The test kit's own commands are data.
func (r *Record) set(ch *command.Change) {
	by := ch.Elems.By
	if by.From == command.FromKit {
		return
	}
	value := ch.Elems.Name(0)
	named := r.known.IsLockName(ch.Key)
	if !named && (!r.known.IsToken(value) || !ch.Elems.IfMissing && !r.wasMissing(ch)) {
		return
	}
	r.parts.add(ch.DB, ch.Entry).fresh = &newString{
		value: string(value), since: by.Now(), by: Origin(by.Session), named: named,
	}
}

// Missed notes a key that a command has found missing, if a script runs it.
func (r *Record) Missed(db int, name []byte) {
	if r.script.by != nil {
		m := &r.missing
		m.is, m.db, m.name = true, db, append(m.name[:0], name...)
	}
}

// wasMissing reports whether the running script has found the key missing last.
func (r *Record) wasMissing(ch *command.Change) bool {
	m := &r.missing
	return m.is && m.db == ch.DB && string(m.name) == ch.Key
}

// Forget forgets a key that is gone, or that is another one now.
func (r *Record) Forget(db int, key string) {
	if r != nil {
		r.parts.drop(db, key, r.parts.find(db, key))
	}
}

// Emptied forgets the keys of a database.
func (r *Record) Emptied(db int) {
	if r != nil {
		r.parts.flush(db)
		r.asks.flush(db)
	}
}

// Swapped follows SWAPDB.
func (r *Record) Swapped(a, b int) {
	if r != nil {
		r.parts.swap(a, b)
		r.asks.swap(a, b)
	}
}
