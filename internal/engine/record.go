package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/store"
)

// record remembers which keys scripts wrote, which strings were set on condition, and who
// entered locks and queues when. It reads the changes in the journal: only RecordScriptKeys
// adds that reader, so without it the record costs nothing. By the shape of its fields alone, a
// test's own hash would pass for a lock.
//
// A key's part of the record goes with the key: when the key is deleted or expires, and when
// its database is emptied. A value that moves to another key takes it along, SWAPDB exchanges it.
// So the record is never larger than the live keys.
type record struct {
	e    *Engine
	on   bool
	dbs  map[int]map[string]*written // by database; a missing map is empty
	last lookup
	free []*written // of keys that are gone
	// unnoted are keys that the running script wrote, see noted. Some of them may be gone.
	unnoted []*written
	// missing is the key that a script has found missing last.
	missing struct {
		run  int64 // of the script
		db   int
		name []byte
	}
}

// lookup is the last look at a key's part of the record. Most changes are of the key of the change
// before.
type lookup struct {
	db   int
	keys map[string]*written // of db
	key  string              // "": no look at a key
	k    *written            // nil: there was none
}

// mostFree is how many parts of the record are kept for keys to come, and how many keys of the
// running script wait for noteAll.
const mostFree = 64

// written is what the record knows of one key.
type written struct {
	byScript bool
	run      int64          // of the last script that wrote it
	by       inspect.Origin // the client that ran the last script
	as       string         // the key's name when a script first wrote it
	hints    inspect.Hints  // read by noted
	unnoted  bool           // the keys of the running script are not in hints yet
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

// RecordScriptKeys makes the engine record which keys scripts write, and when subscriptions
// begin. It is called before Start. A second call has no effect.
func (e *Engine) RecordScriptKeys() {
	if e.record.on {
		return
	}
	e.record = record{e: e, on: true, dbs: map[int]map[string]*written{}}
	e.env.PubSub.Now = e.env.Space.Now
	e.reportMisses()
	e.ReadJournal(e.record.follow,
		Changed, KeyAdded, KeyExpired, KeyEvicted, KeyLoaded, KeyMissed, Emptied, Swapped)
}

// follow reads the journal.
func (r *record) follow(entry *Entry) {
	switch entry.Kind {
	case Changed:
		r.changed(entry.Change, entry.Cause)
	case KeyAdded, KeyExpired, KeyEvicted, KeyLoaded: // a key that was added is another one
		r.forget(entry.DB, entry.Key)
	case KeyMissed:
		r.missed(entry)
	case Emptied:
		delete(r.dbs, entry.DB)
		r.last = lookup{}
	case Swapped:
		r.dbs[entry.DB], r.dbs[entry.Other] = r.dbs[entry.Other], r.dbs[entry.DB]
		r.last = lookup{}
	}
}

// find returns the record's part of a key, nil if there is none.
func (r *record) find(db int, key string) *written {
	l := &r.last
	if l.db != db || l.keys == nil {
		*l = lookup{db: db, keys: r.dbs[db]}
	}
	if len(l.keys) == 0 {
		return nil
	}
	if l.key != key || key == "" {
		l.key, l.k = key, l.keys[key]
	}
	return l.k
}

// add adds a key to the record.
func (r *record) add(db int, key string) *written {
	var k *written
	if last := len(r.free) - 1; last >= 0 {
		k, r.free = r.free[last], r.free[:last]
	} else {
		k = &written{}
	}
	r.put(db, key, k)
	return k
}

func (r *record) put(db int, key string, k *written) {
	keys := r.dbs[db]
	if keys == nil {
		keys = map[string]*written{}
		r.dbs[db] = keys
	}
	keys[key] = k
	r.last = lookup{db, keys, key, k}
}

// forget forgets a key that is gone.
func (r *record) forget(db int, key string) {
	k := r.find(db, key)
	if k == nil {
		return
	}
	r.take(db, key)
	if len(r.free) < mostFree {
		entries := k.entries
		entries.Reset()
		*k = written{entries: entries}
		r.free = append(r.free, k)
	}
}

// take takes a key out of the record.
func (r *record) take(db int, key string) {
	delete(r.dbs[db], key)
	r.last.key, r.last.k = "", nil
}

// changed follows a change of a key.
func (r *record) changed(ch *command.Change, cause *Cause) {
	switch {
	case ch.ToEvent != "":
		r.moved(ch)
		return
	case ch.Class == 0:
		return
	}
	k := r.find(ch.DB, ch.Key)
	v := ch.Entry.Value()
	if v == nil {
		if k != nil {
			r.forget(ch.DB, ch.Key)
		}
		return
	}
	if cause.Script != nil && (k != nil && k.byScript || inspect.MayHold(ch.Key, v)) {
		if k == nil {
			k = r.add(ch.DB, ch.Key)
		}
		r.wrote(k, ch, cause)
	}
	if _, is := v.(*store.String); is && ch.Elems.Len() > 0 {
		r.set(k, ch, cause)
	}
}

// moved takes a key's part of the record along to the key that has its value now. A script that
// renames a key did not write its value.
func (r *record) moved(ch *command.Change) {
	k := r.find(ch.DB, ch.Key)
	if k != nil {
		r.take(ch.DB, ch.Key)
	}
	r.forget(ch.ToDB, ch.ToKey)
	if k != nil {
		r.put(ch.ToDB, ch.ToKey, k)
	}
}

// wrote follows a change by a script.
func (r *record) wrote(k *written, ch *command.Change, cause *Cause) {
	if !k.byScript {
		k.byScript, k.as = true, ch.Key
	}
	if k.run != cause.Script.Run {
		k.run = cause.Script.Run
		k.by = originOf(cause.Ctx.Session)
		k.unnoted = true
		if len(r.unnoted) == mostFree { // a script may create a key many times
			r.noteAll()
		}
		r.unnoted = append(r.unnoted, k)
	}
	if ch.Elems.Len() > 0 {
		r.entered(k, ch, cause)
		r.prune(k, ch.Entry.Value())
	}
}

// noted returns what is known of a key by the keys that scripts named beside it. The running script's
// keys are looked at when somebody asks, or at the script's end: a script that releases a lock
// deletes the key before.
func (r *record) noted(k *written) *inspect.Hints {
	if k.unnoted {
		k.unnoted = false
		k.hints.Note(k.as, r.e.journal.script.Keys)
	}
	return &k.hints
}

// scriptEnds ends the record of the running script. It is called while the script's keys are valid.
func (r *record) scriptEnds() { r.noteAll() }

// noteAll looks at the running script's keys for all keys that it wrote.
func (r *record) noteAll() {
	for _, k := range r.unnoted {
		r.noted(k)
	}
	clear(r.unnoted)
	r.unnoted = r.unnoted[:0]
}

// entered records which owners came into a lock, a queue or a permit semaphore, and forgets the
// owners that went out.
func (r *record) entered(k *written, ch *command.Change, cause *Cause) {
	named := &ch.Elems
	if named.Went {
		for i := range named.Len() {
			k.entries.Drop(named.Name(i))
		}
		return
	}
	_, isHash := ch.Entry.Value().(*store.Hash)
	if !isHash && r.noted(k).Semaphore == "" && !inspect.IsQueue(k.as) {
		return
	}
	for i := range named.Len() {
		name := named.Name(i)
		if entry := k.entries.Find(name); entry != nil {
			if entry.By = k.by; named.Added == int64(named.Len()) {
				entry.Since = cause.Ctx.Now()
			}
			continue
		}
		entry, known := k.entries.Get(name)
		if isHash && !known && !r.mayOwn(k, name) {
			continue
		}
		if named.Added == int64(named.Len()) || named.Added > 0 && !known {
			entry.Since = cause.Ctx.Now()
		}
		entry.By = k.by
		k.entries.Put(name, entry)
	}
}

// mayOwn reports whether a field of a hash has the form of an owner. The form of most owners needs no
// hint.
func (r *record) mayOwn(k *written, field []byte) bool {
	known := r.e.inspector
	return known.MayOwn(field, false) || r.noted(k).Lock && known.MayOwn(field, true)
}

// set records a string that a client's or a script's command has set on condition that there is no
// key. A script may check that itself before a SET without NX, as Spring Integration's lock registry
// does. A key that KnowLocks knows needs no condition. The test kit's own commands are data. k is
// nil if nothing is known of the key.
func (r *record) set(k *written, ch *command.Change, cause *Cause) {
	if cause.Ctx.From == command.FromKit {
		return
	}
	known, value := r.e.inspector, ch.Elems.Name(0)
	named := known.IsLockName(ch.Key)
	if !named && (!ch.Elems.IfMissing && !r.wasMissing(ch, cause) || !known.IsToken(string(value))) {
		return
	}
	if k == nil {
		k = r.add(ch.DB, ch.Key)
	}
	k.fresh = &newString{
		value: string(value), since: cause.Ctx.Now(), by: originOf(cause.Ctx.Session), named: named,
	}
}

// missed notes the key that a script has found missing.
func (r *record) missed(entry *Entry) {
	if script := entry.Cause.Script; script != nil {
		m := &r.missing
		m.run, m.db, m.name = script.Run, entry.DB, append(m.name[:0], entry.Name...)
	}
}

// wasMissing reports whether the running script has found the key missing last.
func (r *record) wasMissing(ch *command.Change, cause *Cause) bool {
	m := &r.missing
	return cause.Script != nil && m.run == cause.Script.Run && m.db == ch.DB && string(m.name) == ch.Key
}

// prune forgets owners that are no longer in the value, when there are many of them. They were
// removed by commands that do not name what they remove, such as ZREMRANGEBYSCORE.
func (*record) prune(k *written, in store.Value) {
	const few = 16
	if k.entries.Len() <= few {
		return
	}
	var left inspect.Entries
	keep := func(name []byte) bool {
		if entry, ok := k.entries.Get(name); ok {
			left.Put(name, entry)
		}
		return true
	}
	switch v := in.(type) {
	case *store.Hash:
		if k.entries.Len() > 2*v.Len() {
			v.Each(func(field, _ []byte) bool { return keep(field) })
			k.entries = left
		}
	case *store.List:
		if k.entries.Len() > 2*v.Len() {
			v.Each(keep)
			k.entries = left
		}
	case *store.ZSet:
		if k.entries.Len() > 2*v.Len() {
			v.Each(func(item store.ZItem) bool { return keep([]byte(item.Member)) })
			k.entries = left
		}
	}
}
