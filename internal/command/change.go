package command

import (
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// A handler says each change of a key with Ctx.Change, after the change. WATCH, the caches of
// clients, waiting clients, keyspace events, rdb_changes_since_last_save and the engine's journal
// read what it says. Delete, Put and PutResult change the store and say so. Moved is Change for a
// value that went from one key to another.
//
// A change that no handler says reaches none of these readers. compat_test/differential compares
// the keys that each command has changed with the changes that were said.

// Change is one change of a key.
type Change struct {
	DB    int
	Key   string
	Entry *store.Entry // its value is nil if the key is gone
	Class Class        // 0: the change is not about a key
	Event string       // the keyspace event; the name of a change that has no event, see silent
	Count int64        // how many changes rdb_changes_since_last_save counts
	Elems Elems
	// ToDB, To and ToEvent are where the value went, after RENAME, RENAMENX and MOVE. ToEvent
	// is "" for other changes.
	ToDB    int
	To      *store.Entry
	ToEvent string
	// Arrived: MIGRATE has sent the value from another node of a cluster.
	Arrived bool
}

// Elems names the fields, members or elements that came into a value or went out of it, or the new
// value of a string. Only commands that name them fill it. It is valid as long as the command line.
type Elems struct {
	names resp.Args
	Added int64 // how many of them are new in the value
	// By is the command that has set a string, its name. It is nil for other changes.
	By   *Ctx
	step uint8 // names[0], names[step], names[2*step] … are the names
	Went bool  // they went out of the value
	// IfMissing says that By asked for a missing key.
	IfMissing bool
}

// Whole names the new value of a string. ifMissing says that the command asked for a missing key.
func (c *Ctx) Whole(value []byte, ifMissing bool) Elems {
	return Elems{names: c.One(value), step: 1, Added: 1, By: c, IfMissing: ifMissing}
}

// Came names elements that a command has put into a value. added of them are new.
func Came(names resp.Args, step uint8, added int64) Elems {
	return Elems{names: names, step: step, Added: added}
}

// Went names elements that a command has taken out of a value.
func Went(names resp.Args) Elems { return Elems{names: names, step: 1, Went: true} }

// Any reports whether there are names.
func (e *Elems) Any() bool { return len(e.names) > 0 }

// Len returns how many names there are.
func (e *Elems) Len() int {
	if e.step <= 1 {
		return len(e.names)
	}
	step := int(e.step)
	return (len(e.names) + step - 1) / step
}

// Name returns the name i.
func (e *Elems) Name(i int) []byte { return e.names[i*int(e.step)] }

// Changes hears of each change.
type Changes interface {
	// Changed passes a change to all its readers. The change is valid until Changed returns.
	Changed(*Change)
}

// quirk says which readers Redis keeps from a change.
type quirk uint8

const (
	// silent: there is no keyspace event.
	silent quirk = 1 << iota
	// unwatched: WATCH and the caches of clients do not see it.
	unwatched
	// waking: it wakes the clients that are parked on the key. The store wakes them for a new key.
	waking
)

// quirkOf is the table of the changes that Redis does not tell all its readers. Two more quirks
// are in what handlers count: nothing for a served pop (notServed), and nothing for an event that
// follows another one, such as the "expire" of SETEX.
func quirkOf(class Class, event string) quirk {
	if class&^(StringClass|StreamClass) != 0 {
		return 0
	}
	switch event {
	case "xadd":
		return waking
	case "xgroup-destroy":
		return unwatched | waking
	case "xgroup-create", "xgroup-setid", "xgroup-createconsumer", "xgroup-delconsumer", "xsetid":
		return unwatched // WATCH does not see the groups of a stream
	case "xack", "xclaim", "xautoclaim", "xreadgroup":
		return unwatched | silent
	case "pfcount", "mkstream", "populate": // PFCOUNT stores the cardinality in the value
		return silent
	case "pfdebug":
		return unwatched | silent
	case "bitfield": // all its operations failed, but it has made the string longer
		return unwatched | silent
	case "function", "flush", "swapdb": // of no single key; the store reports emptied and swapped databases
		return unwatched | silent
	}
	return 0
}

// Watched reports whether WATCH and the caches of clients see the change.
func (ch *Change) Watched() bool { return quirkOf(ch.Class, ch.Event)&unwatched == 0 }

// Silent reports whether there is no keyspace event.
func (ch *Change) Silent() bool { return quirkOf(ch.Class, ch.Event)&silent != 0 }

// Wakes reports whether the change wakes the clients that are parked on the key.
func (ch *Change) Wakes() bool { return quirkOf(ch.Class, ch.Event)&waking != 0 }

// Change says that the running command has changed e: its value or deadline, or that e came or
// went. count is the number of changes for rdb_changes_since_last_save. Redis counts elements:
// SADD of three new members is three changes, an LTRIM that removes nothing is no change. elems names
// the elements, if the command does.
//
// A collection that is empty after the change is deleted, with the event "del".
func (c *Ctx) Change(e *store.Entry, class Class, event string, count int64, elems ...Elems) {
	c.ChangeIn(c.DB, e, class, event, count, elems...)
	if class&collections != 0 && isEmptied(e.Value()) {
		c.Delete(e, c.Space.Lazyfree.ServerDel, 0)
	}
}

// ChangeIn is Change in another database, for a value that is not empty.
func (c *Ctx) ChangeIn(
	db *store.DB, e *store.Entry, class Class, event string, count int64, elems ...Elems,
) {
	db.Changed(e)
	ch := c.newChange(db.ID(), e.Key(), class, event, count)
	ch.Entry = e
	if len(elems) > 0 && elems[0].Any() && c.Named {
		ch.Elems = elems[0]
		c.Changes.Changed(ch)
		ch.Elems = Elems{}
	} else {
		c.Changes.Changed(ch)
	}
	ch.Key, ch.Entry, c.single[0] = "", nil, nil // they keep the key or the client's buffer in memory
}

// Arrived says, in place of Change, that MIGRATE has sent e from another node of a cluster.
func (c *Ctx) Arrived(e *store.Entry) {
	c.Env.change.Arrived = true
	c.Change(e, Generic, "restore", 1)
	c.Env.change.Arrived = false
}

// ChangeOther says a change that is not about a key, such as a new library of functions.
func (c *Ctx) ChangeOther(event string, count int64) {
	c.Changes.Changed(c.newChange(c.DB.ID(), "", 0, event, count))
}

// Moved says that a value went from one key to another, which may be in another database.
func (c *Ctx) Moved(from *store.Entry, event string, db *store.DB, to *store.Entry, toEvent string) {
	ch := c.newChange(c.DB.ID(), from.Key(), Generic, event, 1)
	ch.Entry, ch.ToDB, ch.To, ch.ToEvent = from, db.ID(), to, toEvent
	c.Changes.Changed(ch)
	ch.Key, ch.Entry, ch.ToDB, ch.To, ch.ToEvent = "", nil, 0, nil, ""
}

// newChange returns a change in memory that all changes share. Its other fields are zero.
func (env *Env) newChange(db int, key string, class Class, event string, count int64) *Change {
	ch := &env.change
	ch.DB, ch.Key, ch.Class, ch.Event, ch.Count = db, key, class, event, count
	return ch
}

// NotServed is what a pop of one element counts: 1, or 0 if it serves a waiting client. Then Redis
// counts the push alone.
func (c *Ctx) NotServed() int64 {
	if c.From == FromWait {
		return 0
	}
	return 1
}

// One returns the arguments that have arg alone, in memory that all such arguments share.
func (env *Env) One(arg []byte) resp.Args {
	env.single[0] = arg
	return env.single[:]
}

// Delete deletes e and says so. lazily is whether INFO counts the value as lazily freed.
func (c *Ctx) Delete(e *store.Entry, lazily bool, count int64) {
	c.DB.RemoveLazily(e, lazily)
	c.ChangeIn(c.DB, e, Generic, "del", count)
}

// DeleteDue deletes e because a command gives it a deadline that is not in the future. Valkey
// announces "expired" and counts an expired key, Redis announces "del".
func (c *Ctx) DeleteDue(e *store.Entry) {
	lazily := c.Space.Lazyfree.Expire
	if !c.Config.Valkey() {
		c.Delete(e, lazily, 1)
		return
	}
	c.DB.RemoveLazily(e, lazily)
	c.Space.Stats.Expired++
	c.ChangeIn(c.DB, e, ExpiredClass, "expired", 1)
}

// Put says that v, the value of e, was changed. If e is nil, the key is new: then Put stores v
// first.
func (c *Ctx) Put(
	key []byte, e *store.Entry, v store.Value, class Class, event string, count int64, elems ...Elems,
) {
	if e == nil {
		e = c.DB.Add(key, v)
	}
	c.ChangeIn(c.DB, e, class, event, count, elems...)
}

// PutResult stores v, the result of a command such as SINTERSTORE, under key and replaces
// any other value. It replies with size. An empty result deletes the key.
func (c *Ctx) PutResult(
	key []byte, v store.Value, size int, class Class, event string, count int64,
) resp.Reply {
	if size > 0 {
		c.ChangeIn(c.DB, c.DB.Set(key, v), class, event, count)
	} else if e := c.DB.LookupWrite(key); e != nil {
		c.Delete(e, c.Space.Lazyfree.ServerDel, 1)
	}
	return resp.Int(int64(size))
}

// collections are the classes of the changes after which a collection may be empty.
const collections = HashClass | ListClass | SetClass | ZSetClass

// isEmptied reports whether v is a collection without elements. A stream stays.
func isEmptied(v store.Value) bool {
	switch v := v.(type) {
	case *store.Hash:
		return v.Len() == 0
	case *store.List:
		return v.Len() == 0
	case *store.Set:
		return v.Len() == 0
	case *store.ZSet:
		return v.Len() == 0
	}
	return false
}
