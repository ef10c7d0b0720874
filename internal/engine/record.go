package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// record remembers which keys scripts wrote, which strings were set on condition, and who
// entered locks and queues when. A reader of the journal keeps it: only RecordScriptKeys
// adds that reader, so without it the record costs nothing. By the shape of its fields alone, a
// test's own hash would pass for a lock.
//
// A key's part of the record goes with the key: when the key is deleted or expires, and when
// its database is emptied. RENAME, RENAMENX and MOVE take it along, SWAPDB exchanges it. So
// the record is never larger than the live keys.
type record struct {
	e   *Engine
	on  bool
	dbs map[int]map[string]*written // by database; a missing map is empty
	// moving belongs to the key that the running RENAME, RENAMENX or MOVE is about to take
	// away. It is nil outside of them, and if nothing is known of the key.
	moving *written
	// missing is the key that the running script has found missing last. Its db is -1 outside of
	// scripts.
	missing watchedKey
}

// written is what the record knows of one key.
type written struct {
	byScript bool
	by       inspect.Origin // the client that ran the last script
	as       string         // the key's name when a script first wrote it
	hints    inspect.Hints
	entries  inspect.Entries
	fresh    *newString // nil unless SET with NX or the like created the key
}

// newString is a string that SET with NX or the like created.
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
	e.record = record{
		e: e, on: true, dbs: map[int]map[string]*written{}, missing: watchedKey{db: -1},
	}
	e.env.PubSub.Now = e.env.Space.Now
	e.ReadJournal(e.record.follow)
}

// follow reads the journal.
func (r *record) follow(entry *Entry) {
	switch entry.Kind {
	case CommandBegins:
		if from, _, ok := rename(entry); ok {
			r.moving = r.dbs[from.db][from.key]
		}
	case CommandEnds:
		r.setOnCondition(entry)
		r.looked(entry)
		r.renamed(entry)
		r.entered(entry)
	case KeyAdded:
		r.added(entry.DB, entry.Key)
	case Changed, KeyExpired, FieldsExpired, KeyEvicted, KeyLoaded:
		r.touched(entry.DB, entry.Key)
	case Emptied:
		delete(r.dbs, entry.DB)
	case Swapped:
		r.dbs[entry.DB], r.dbs[entry.Other] = r.dbs[entry.Other], r.dbs[entry.DB]
	}
}

// added forgets an earlier key of that name.
func (r *record) added(db int, key string) {
	if k := r.dbs[db][key]; k != nil && r.e.script.running {
		*k = written{}
	} else {
		delete(r.dbs[db], key)
	}
	r.touched(db, key)
}

// touched forgets a key that is gone, and records that the running script, if there is one,
// wrote a key.
func (r *record) touched(db int, key string) {
	k := r.dbs[db][key]
	if k == nil && !r.e.script.running {
		return
	}
	v, _ := r.e.env.Space.DB(db).Holds(key)
	isNew := k == nil || !k.byScript && k.fresh == nil
	switch {
	case v == nil, isNew && !inspect.MayHold(key, v):
		delete(r.dbs[db], key)
		return
	case !r.e.script.running:
		return
	case k == nil:
		k = r.add(db, key)
	}
	if !k.byScript {
		k.byScript, k.as = true, key
	}
	k.by = originOf(r.e.script.ctx.Session)
	k.hints.Note(k.as, r.e.script.keys)
}

// add adds a key to the record.
func (r *record) add(db int, key string) *written {
	if r.dbs[db] == nil {
		r.dbs[db] = map[string]*written{}
	}
	k := &written{}
	r.dbs[db][key] = k
	return k
}

// setOnCondition records the strings that a client's or a script's command has created on
// condition that there is no key yet. A script may check that itself before a SET without NX, as
// Spring Integration's lock registry does. A key that KnowLocks knows needs no condition. The test
// kit's own commands are data.
func (r *record) setOnCondition(entry *Entry) {
	c, args := entry.Ctx, entry.Args
	if c.From == command.FromKit || len(args) < 3 || entry.Reply.IsError() {
		return
	}
	known := r.e.inspector
	done := entry.Reply.Kind() == resp.KindInt && entry.Reply.Int() == 1 // SETNX, MSETNX
	pairs := args[1:]
	switch c.Cmd.Name {
	case "set":
		has := func(name string) bool {
			return slices.ContainsFunc(args[3:], func(option []byte) bool {
				return strings.EqualFold(string(option), name)
			})
		}
		checked := c.From == command.FromScript && r.missing == watchedKey{c.DB.ID(), string(args[1])}
		done = entry.Reply.Kind() == resp.KindStatus && (checked || has("nx"))
		done = done || entry.Reply.IsNil() && has("nx") && has("get") // the reply is the old value: none
		pairs = args[1:3]
		done = done || entry.Reply.Kind() == resp.KindStatus && known.IsLockName(string(args[1]))
	case "setnx", "msetnx":
	default:
		return
	}
	for ; done && len(pairs) >= 2; pairs = pairs[2:] {
		db, key, value := c.DB.ID(), string(pairs[0]), string(pairs[1])
		named := known.IsLockName(key)
		if !named && !known.IsToken(value) {
			continue
		}
		k := r.dbs[db][key]
		if k == nil {
			k = r.add(db, key)
		}
		k.fresh = &newString{value: value, since: c.Now(), by: originOf(c.Session), named: named}
	}
}

// looked notes the key that a script's GET or EXISTS finds missing. The end of a command outside of
// a script, such as EVAL, ends the note.
func (r *record) looked(entry *Entry) {
	c, args := entry.Ctx, entry.Args
	switch {
	case c.From != command.FromScript:
		r.missing = watchedKey{db: -1}
	case len(args) != 2:
	case c.Cmd.Name == "get" && entry.Reply.IsNil(),
		c.Cmd.Name == "exists" && entry.Reply.Kind() == resp.KindInt && entry.Reply.Int() == 0:
		r.missing = watchedKey{c.DB.ID(), string(args[1])}
	}
}

// rename returns the two keys of a command that renames or moves a key. ok is false for other
// commands.
func rename(entry *Entry) (from, to watchedKey, ok bool) {
	c, args := entry.Ctx, entry.Args
	if len(args) != 3 {
		return from, to, false
	}
	switch c.Cmd.Name {
	case "rename", "renamenx":
		from = watchedKey{c.DB.ID(), args.String(1)}
		return from, watchedKey{from.db, args.String(2)}, true
	case "move":
		n, _ := strconv.Atoi(args.String(2))
		from = watchedKey{c.DB.ID(), args.String(1)}
		return from, watchedKey{n, from.key}, true
	}
	return from, to, false
}

// renamed moves a key's part of the record with the key, after RENAME, RENAMENX and MOVE.
func (r *record) renamed(entry *Entry) {
	from, to, ok := rename(entry)
	if !ok {
		return
	}
	k := r.moving
	r.moving = nil
	done := entry.Reply.Kind() == resp.KindStatus || entry.Reply.Int() == 1
	if !done || from == to {
		return
	}
	delete(r.dbs[to.db], to.key) // a script that renames a key did not write its value
	if k != nil {
		r.add(to.db, to.key)
		r.dbs[to.db][to.key] = k
	}
}

// entered records which owners a script's command has put into a lock, a queue or a permit
// semaphore, and forgets the owners that it took out.
func (r *record) entered(entry *Entry) {
	c, args := entry.Ctx, entry.Args
	if c.From != command.FromScript || len(args) < 2 || entry.Reply.IsError() {
		return
	}
	var change func(*record, *written, *Entry)
	switch c.Cmd.Name {
	case "hincrby", "hset", "hmset", "hsetnx":
		change = (*record).fieldsSet
	case "rpush", "lpush":
		change = (*record).pushed
	case "zadd":
		change = (*record).scored
	case "hdel", "zrem":
		change = (*record).removed
	case "lpop", "rpop":
		change = (*record).popped
	case "lrem":
		change = (*record).listRemoved
	default:
		return
	}
	if k := r.dbs[c.DB.ID()][string(args[1])]; k != nil && k.byScript {
		change(r, k, entry)
		r.prune(k, c.DB.ID(), args[1])
	}
}

// enter records that the owner called name is in the key's value. isNew says that it was not
// there before.
func (k *written) enter(c *command.Ctx, name []byte, isNew bool) {
	entry, _ := k.entries.Get(name)
	if isNew {
		entry.Since = c.Now()
	}
	entry.By = originOf(c.Session)
	k.entries.Put(name, entry)
}

// fieldsSet follows HINCRBY key field n, HSETNX key field value, and HSET and HMSET.
func (r *record) fieldsSet(k *written, entry *Entry) {
	args := entry.Args
	isNew := entry.Reply.Kind() == resp.KindInt && entry.Reply.Int() == 1 // of HSET and HSETNX
	if entry.Ctx.Cmd.Name == "hincrby" {
		isNew = strconv.FormatInt(entry.Reply.Int(), 10) == string(args[3])
	}
	for i := 2; i+1 < len(args); i += 2 {
		if _, known := k.entries.Get(args[i]); known || r.e.inspector.MayOwn(args[i], k.hints.Lock) {
			k.enter(entry.Ctx, args[i], isNew)
		}
	}
}

// pushed follows RPUSH and LPUSH.
func (*record) pushed(k *written, entry *Entry) {
	for _, elem := range entry.Args[2:] {
		if inspect.IsQueue(k.as) {
			k.enter(entry.Ctx, elem, true)
		}
	}
}

// scored follows ZADD key score member, and ZADD with several members.
func (*record) scored(k *written, entry *Entry) {
	if k.hints.Semaphore == "" && !inspect.IsQueue(k.as) {
		return
	}
	args := entry.Args
	for i := 3; i < len(args); i += 2 {
		k.enter(entry.Ctx, args[i], entry.Reply.Int() == 1)
	}
}

// removed follows HDEL and ZREM.
func (*record) removed(k *written, entry *Entry) {
	for _, name := range entry.Args[2:] {
		k.entries.Drop(name)
	}
}

// popped follows LPOP and RPOP without a count.
func (*record) popped(k *written, entry *Entry) { k.entries.Drop([]byte(entry.Reply.Text())) }

// listRemoved follows LREM key count element.
func (*record) listRemoved(k *written, entry *Entry) {
	if entry.Reply.Int() > 0 {
		k.entries.Drop(entry.Args[3])
	}
}

// prune forgets owners that are no longer in the value, when there are many of them. They were
// removed by commands that entered does not follow, such as ZREMRANGEBYSCORE.
func (r *record) prune(k *written, db int, key []byte) {
	const few = 16
	if k.entries.Len() <= few {
		return
	}
	e := r.e.env.Space.DB(db).Peek(key)
	if e == nil {
		return
	}
	var left inspect.Entries
	keep := func(name []byte) bool {
		if entry, ok := k.entries.Get(name); ok {
			left.Put(name, entry)
		}
		return true
	}
	switch v := e.Value().(type) {
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
