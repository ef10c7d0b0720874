package hash

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// The commands of Valkey 9.1 about deadlines of a hash's fields. Every one has the words
// FIELDS, a number and that number of fields at its end.

var errNumFields = resp.Error("ERR numfields should be greater than 0 and match the " +
	"provided number of fields")

// The replies about one field.
var (
	noField      = resp.Int(-2)
	noDeadline   = resp.Int(-1)
	deadlineKept = resp.Int(0)
	deadlineSet  = resp.Int(1)
	fieldDeleted = resp.Int(2) // the deadline was past
	deadlineGone = resp.Int(1)
)

const (
	fieldsKeyword  = "fields"
	fieldArguments = 2 // FIELDS and the number
)

// splitFields splits args at FIELDS: rest begins with that word and the number. ok is false
// without them: Valkey then refuses args before it looks at the options.
func splitFields(args resp.Args) (options, rest resp.Args, ok bool) {
	for i, arg := range args {
		if command.IsWord(arg, fieldsKeyword) {
			return args[:i], args[i:], i+1 < len(args)
		}
	}
	return nil, nil, false
}

// fieldsOf returns the fields behind FIELDS and their number. each is the number of
// arguments that belong to a field: 2 if a value comes behind it.
func fieldsOf(rest resp.Args, each int, mismatch resp.Reply) (fields resp.Args, failure resp.Reply) {
	if len(rest) < fieldArguments {
		return nil, mismatch
	}
	n, ok := resp.ParseInt(rest[1])
	fields = rest[fieldArguments:]
	switch {
	case !ok:
		return nil, resp.ErrNotInt
	case n < 1 || n > math.MaxInt32 || int(n)*each != len(fields):
		return nil, mismatch
	}
	return fields, resp.NoReply
}

// onlyFields is fieldsOf for the commands without options: FIELDS follows the key.
func onlyFields(args resp.Args, mismatch resp.Reply) (fields resp.Args, failure resp.Reply) {
	if !command.IsWord(args[2], fieldsKeyword) {
		return nil, resp.ErrSyntax
	}
	return fieldsOf(args[2:], 1, mismatch)
}

// The four commands differ in the unit of their argument and in the time it counts from.
func hexpire(c *command.Ctx, args resp.Args) resp.Reply    { return hexpireFrom(c, args, c.Now(), 1000) }
func hpexpire(c *command.Ctx, args resp.Args) resp.Reply   { return hexpireFrom(c, args, c.Now(), 1) }
func hexpireat(c *command.Ctx, args resp.Args) resp.Reply  { return hexpireFrom(c, args, 0, 1000) }
func hpexpireat(c *command.Ctx, args resp.Args) resp.Reply { return hexpireFrom(c, args, 0, 1) }

// hexpireFrom gives fields the deadline base + args[2]·unit. base and unit are in ms. It
// replies with an integer for each field. A deadline that is not in the future deletes the
// field.
func hexpireFrom(c *command.Ctx, args resp.Args, base, unit int64) resp.Reply {
	options, rest, ok := splitFields(args[3:])
	if !ok {
		return errNumFields
	}
	cond, failure := command.ParseConditions(options)
	if failure.IsError() {
		return failure
	}
	fields, failure := fieldsOf(rest, 1, errNumFields)
	if failure.IsError() {
		return failure
	}
	at, failure := command.DeadlineFrom(c, args[2], 0, base, unit)
	if failure.IsError() {
		return failure
	}
	f, ok := changeFields(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	reply := f.each(fields, func(field []byte) resp.Reply { return f.expire(field, at, cond) })
	f.tellDeadline(at, args[3:])
	return reply
}

// fieldChange changes deadlines of the fields of one hash, and then says the changes
// in Valkey's order: an event for each kind.
type fieldChange struct {
	*command.Ctx
	key   []byte
	entry *store.Entry
	hash  *store.Hash // nil: the key is missing

	expires, persists, deletes bool
	changed                    resp.Args // the fields
}

// changeFields begins a change of the hash under key. ok is false if key holds another type.
func changeFields(c *command.Ctx, key []byte) (f *fieldChange, ok bool) {
	e := c.DB.LookupWrite(key)
	h, ok := command.As[*store.Hash](e)
	return &fieldChange{Ctx: c, key: key, entry: e, hash: h}, ok
}

// each replies with what change returns for each field, and says the changes.
func (f *fieldChange) each(fields resp.Args, change func(field []byte) resp.Reply) resp.Reply {
	replies := make([]resp.Reply, len(fields))
	for i, field := range fields {
		replies[i] = change(field)
	}
	f.say()
	return resp.Array(replies...)
}

// expire gives a field the deadline at, in Unix milliseconds, if cond allows it.
func (f *fieldChange) expire(field []byte, at int64, cond command.Conditions) resp.Reply {
	if f.hash == nil || !f.hash.Has(field) {
		return noField
	}
	old := f.hash.FieldDeadline(field)
	if !cond.Allow(old != 0, old, at) {
		return deadlineKept
	}
	if at <= f.Now() {
		f.hash.Delete(field)
		f.deletes, f.changed = true, append(f.changed, field)
		f.Space.Stats.ExpiredFields++
		return fieldDeleted
	}
	f.DB.SetFieldDeadline(f.entry, field, at)
	f.expires, f.changed = true, append(f.changed, field)
	return deadlineSet
}

// persist removes the deadline of a field.
func (f *fieldChange) persist(field []byte) resp.Reply {
	switch {
	case f.hash == nil || !f.hash.Has(field):
		return noField
	case !f.hash.PersistField(field):
		return noDeadline
	}
	f.persists, f.changed = true, append(f.changed, field)
	return deadlineGone
}

func (f *fieldChange) say() {
	for _, e := range []struct {
		changed bool
		event   string
	}{{f.expires, "hexpire"}, {f.persists, "hpersist"}, {f.deletes, "hexpired"}} {
		if e.changed {
			f.Change(f.entry, command.HashClass, e.event, 1)
		}
	}
}

func hpersist(c *command.Ctx, args resp.Args) resp.Reply {
	fields, failure := onlyFields(args, errNumFields)
	if failure.IsError() {
		return failure
	}
	f, ok := changeFields(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	return f.each(fields, f.persist)
}

func httl(c *command.Ctx, args resp.Args) resp.Reply {
	return fieldDeadlines(c, args, func(at int64) int64 { return command.Seconds(max(0, at-c.Now())) })
}

func hpttl(c *command.Ctx, args resp.Args) resp.Reply {
	return fieldDeadlines(c, args, func(at int64) int64 { return max(0, at-c.Now()) })
}

func hexpiretime(c *command.Ctx, args resp.Args) resp.Reply {
	return fieldDeadlines(c, args, command.Seconds)
}

func hpexpiretime(c *command.Ctx, args resp.Args) resp.Reply {
	return fieldDeadlines(c, args, func(at int64) int64 { return at })
}

// fieldDeadlines replies for each field with -2 if it is missing, -1 if it has no deadline,
// else with what show returns for the deadline in Unix ms.
func fieldDeadlines(c *command.Ctx, args resp.Args, show func(at int64) int64) resp.Reply {
	fields, failure := onlyFields(args, resp.ErrSyntax)
	if failure.IsError() {
		return failure
	}
	h, ok := readHash(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	replies := make([]resp.Reply, len(fields))
	for i, field := range fields {
		switch {
		case h == nil || !h.Has(field):
			replies[i] = noField
		case h.FieldDeadline(field) == 0:
			replies[i] = noDeadline
		default:
			replies[i] = resp.Int(show(h.FieldDeadline(field)))
		}
	}
	return resp.Array(replies...)
}
