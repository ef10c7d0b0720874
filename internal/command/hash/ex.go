package hash

import (
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// HGETEX, HSETEX and HGETDEL of Valkey 9.1: they read or write fields together with the
// fields' deadlines.

// hashExOptions are the options of HGETEX and HSETEX in front of FIELDS.
type hashExOptions struct {
	persist                bool // HGETEX
	nx, xx, fnx, fxx, keep bool // HSETEX
	unit                   command.TTLUnit
	ttl                    []byte // nil: none given
}

// parseHashExOptions parses the options of HSETEX if setting is true, else of HGETEX.
func parseHashExOptions(args resp.Args, setting bool) (o hashExOptions, ok bool) {
	for i := 0; i < len(args); i++ {
		opt := args[i]
		switch {
		case !setting && command.IsWord(opt, "persist") && o.ttl == nil:
			o.persist = true
		case setting && command.IsWord(opt, "keepttl") && o.ttl == nil:
			o.keep = true
		case setting && command.IsWord(opt, "nx") && !o.xx:
			o.nx = true
		case setting && command.IsWord(opt, "xx") && !o.nx:
			o.xx = true
		case setting && command.IsWord(opt, "fnx") && !o.fxx:
			o.fnx = true
		case setting && command.IsWord(opt, "fxx") && !o.fnx:
			o.fxx = true
		default:
			unit := command.TTLUnitOf(opt)
			taken := o.keep || o.persist || o.unit != 0 && o.unit != unit
			if unit == 0 || taken || i+1 == len(args) {
				return o, false
			}
			i++
			o.unit, o.ttl = unit, args[i]
		}
	}
	return o, true
}

// deadline converts the time to live, if there is one, into Unix milliseconds. Unlike
// SET's, it may be 0.
func (o *hashExOptions) deadline(c *command.Ctx) (at int64, failure resp.Reply) {
	if o.ttl == nil {
		return 0, resp.NoReply
	}
	return command.DeadlineFrom(c, o.ttl, 0, o.unit.Base(c), o.unit.Millis())
}

// hashExLine parses the arguments of HGETEX and HSETEX behind the key.
func hashExLine(args resp.Args, setting bool) (o hashExOptions, fields resp.Args, failure resp.Reply) {
	each := 1
	if setting {
		each = 2
	}
	options, rest, ok := splitFields(args)
	if !ok {
		return o, nil, errNumFields
	}
	if o, ok = parseHashExOptions(options, setting); !ok {
		return o, nil, resp.ErrSyntax
	}
	fields, failure = fieldsOf(rest, each, errNumFields)
	return o, fields, failure
}

func hgetex(c *command.Ctx, args resp.Args) resp.Reply {
	o, fields, failure := hashExLine(args[2:], false)
	if failure.IsError() {
		return failure
	}
	e := c.DB.Lookup(args[1]) // as a reader: a missing key is reported
	h, ok := command.As[*store.Hash](e)
	if !ok {
		return resp.ErrWrongType
	}
	if h != nil {
		c.DB.Changing(e)
	}
	at, failure := o.deadline(c)
	if failure.IsError() {
		return failure
	}
	f := &fieldChange{Ctx: c, key: args[1], entry: e, hash: h}
	reply := f.each(fields, func(field []byte) resp.Reply {
		value := copied(hashValue(f.hash, field))
		switch {
		case o.ttl != nil:
			f.expire(field, at, command.Conditions{})
		case o.persist:
			f.persist(field)
		}
		return value
	})
	f.tellPersisted()
	f.tellDeadline(at, f.fields())
	return reply
}

// copied returns a value that stays as it is when the hash changes.
func copied(r resp.Reply) resp.Reply {
	if r.IsNil() {
		return r
	}
	return resp.BulkString(strings.Clone(r.Text()))
}

func hgetdel(c *command.Ctx, args resp.Args) resp.Reply {
	fields, failure := onlyFields(args, errNumFields)
	if failure.IsError() {
		return failure
	}
	e := c.DB.LookupWrite(args[1])
	h, ok := command.As[*store.Hash](e)
	if !ok {
		return resp.ErrWrongType
	}
	values, deleted := make([]resp.Reply, len(fields)), false
	for i, field := range fields {
		values[i] = copied(hashValue(h, field))
		if h != nil && h.Delete(field) {
			deleted = true
		}
	}
	if deleted {
		c.Change(e, command.HashClass, "hdel", 1, command.Went(fields))
	}
	return resp.Array(values...)
}

func hsetex(c *command.Ctx, args resp.Args) resp.Reply {
	o, pairs, failure := hashExLine(args[2:], true)
	if failure.IsError() {
		return failure
	}
	h, ok := writeHash(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	if o.nx && h.entry != nil || o.xx && h.entry == nil {
		return resp.Int(0)
	}
	at, failure := o.deadline(c)
	switch {
	case failure.IsError():
		return failure
	case !o.allowsFields(h, pairs):
		return resp.Int(0)
	case o.ttl != nil && at <= c.Space.Due:
		setDueFields(c, args[1], h, pairs)
		return resp.Int(1)
	}
	lim := &c.Space.Limits
	h.FitArguments(pairs, lim)
	set, added := h.Set, int64(0)
	if o.keep {
		set = h.SetKeepDeadline
	}
	for i := 0; i < len(pairs); i += 2 {
		if set(pairs[i], pairs[i+1], lim) {
			added++
		}
	}
	h.done(c, args[1], "hset", 1, command.Came(pairs, 2, added))
	if o.ttl != nil {
		expirePairs(c, args[1], pairs, at)
	}
	tellHsetex(c, args[1], at, o.keep, pairs...)
	return resp.Int(1)
}

// allowsFields reports whether FNX and FXX allow to set the fields of pairs.
func (o *hashExOptions) allowsFields(h hashWrite, pairs resp.Args) bool {
	if !o.fnx && !o.fxx {
		return true
	}
	for i := 0; i < len(pairs); i += 2 {
		if h.Has(pairs[i]) == o.fnx {
			return false
		}
	}
	return true
}

// setDueFields deletes the fields of pairs, whose deadline is not in the future. As in Valkey,
// the events are as of fields that are set and then expire. WATCH and the caches of clients
// see a change only if there was such a field.
func setDueFields(c *command.Ctx, key []byte, h hashWrite, pairs resp.Args) {
	line := resp.Args{command.WordHdel, key}
	for i := 0; i < len(pairs); i += 2 {
		if h.Delete(pairs[i]) {
			line = append(line, pairs[i])
		}
		c.Space.Stats.ExpiredFields++
	}
	deleted := len(line) > 2
	if deleted {
		c.Tell(line...)
	}
	name, missing := string(key), h.entry == nil
	if missing {
		c.Events.Notify(command.NewKey, "new", c.DB.ID(), name)
	}
	for _, event := range []string{"hset", "hexpire", "hexpired"} {
		if deleted {
			c.ChangeIn(c.DB, h.entry, command.HashClass, event, 1)
			continue
		}
		c.Dirty++
		c.Events.Notify(command.HashClass, event, c.DB.ID(), name)
	}
	switch {
	case missing:
		c.Events.Notify(command.Generic, "del", c.DB.ID(), name)
	case h.Len() == 0:
		c.Delete(h.entry, c.Space.Lazyfree.ServerDel, 0)
	}
}

// expirePairs gives the fields that HSETEX has set a deadline.
func expirePairs(c *command.Ctx, key []byte, pairs resp.Args, at int64) {
	e := c.DB.Peek(key)
	for i := 0; i < len(pairs); i += 2 {
		c.DB.SetFieldDeadline(e, pairs[i], at)
	}
	c.Change(e, command.HashClass, "hexpire", 1)
}
