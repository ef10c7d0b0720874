package str

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// setOptions are the options of SET, GETEX and MSETEX.
type setOptions struct {
	nx, xx, get, keepTTL, persist bool
	unit                          command.TTLUnit
	ttl                           []byte // nil: none given
	equal                         []byte // of IFEQ; nil: none given
}

// setForm is a command with setOptions. It decides which options there are.
type setForm uint8

const (
	forSet setForm = iota
	forValkeySet
	forGetex
	forMsetex
)

// parseSetOptions parses the options of a command of that form. A time to live can be
// repeated in the same unit; the last one counts, as in Redis.
func parseSetOptions(args resp.Args, form setForm) (o setOptions, ok bool) {
	for i := 0; i < len(args); i++ {
		opt := args[i]
		switch {
		case command.IsWord(opt, "nx") && !o.xx && o.equal == nil && form != forGetex:
			o.nx = true
		case command.IsWord(opt, "xx") && !o.nx && o.equal == nil && form != forGetex:
			o.xx = true
		case command.IsWord(opt, "get") && form < forGetex:
			o.get = true
		case command.IsWord(opt, "keepttl") && o.ttl == nil && form != forGetex:
			o.keepTTL = true
		case command.IsWord(opt, "persist") && o.ttl == nil && form == forGetex:
			o.persist = true
		case form == forValkeySet && command.IsWord(opt, "ifeq") && !o.nx && !o.xx && o.equal == nil &&
			i+1 < len(args):
			i++
			o.equal = args[i]
		default:
			unit := command.TTLUnitOf(opt)
			taken := o.keepTTL || o.persist || o.unit != 0 && o.unit != unit
			if unit == 0 || taken || i+1 == len(args) {
				return o, false
			}
			i++
			o.unit, o.ttl = unit, args[i]
		}
	}
	return o, true
}

// setKeyFlags corrects the flags of SET's key in a command line: only with GET does SET read
// the old value.
func setKeyFlags(line resp.Args, found []command.KeyPos) []command.KeyPos {
	found[0].Flags = command.OW | command.Update
	for _, option := range line[3:] {
		if command.IsWord(option, "get") {
			found[0].Flags = command.RW | command.Access | command.Update
		}
	}
	return found
}

func set(c *command.Ctx, args resp.Args) resp.Reply { return setFrom(c, args, forSet) }

// ValkeySet is SET of Valkey 9.1: it has the option IFEQ.
func ValkeySet(c *command.Ctx, args resp.Args) resp.Reply { return setFrom(c, args, forValkeySet) }

func setFrom(c *command.Ctx, args resp.Args, form setForm) resp.Reply {
	o, ok := parseSetOptions(args[3:], form)
	if !ok {
		return resp.ErrSyntax
	}
	deadline := int64(0)
	if o.ttl != nil {
		var failure resp.Reply
		if deadline, failure = command.DeadlineOf(c, o.ttl, o.unit); failure.IsError() {
			return failure
		}
	}
	reply := resp.OK
	if o.get {
		s, ok := command.As[*store.String](c.DB.Lookup(args[1]))
		if !ok {
			return resp.ErrWrongType
		}
		reply = stringReply(s)
	}
	if allowed, failure := o.allow(c, args[1]); failure.IsError() {
		return failure
	} else if !allowed {
		if o.get {
			return reply
		}
		return resp.Nil
	}
	if form == forValkeySet && deadline != 0 && deadline <= c.Space.Due {
		dropDue(c, args[1])
	} else {
		setString(c, args[1], args[2], deadline, &o)
	}
	return reply
}

// dropDue deletes a key that SET gives a deadline that is not in the future. Valkey does not
// store the value.
func dropDue(c *command.Ctx, key []byte) {
	if e := c.DB.LookupWrite(key); e != nil {
		c.DeleteDue(e)
	}
}

// allow reports whether NX, XX and IFEQ allow to set key.
func (o *setOptions) allow(c *command.Ctx, key []byte) (allowed bool, failure resp.Reply) {
	if o.equal != nil {
		e := c.DB.Peek(key)
		s, ok := command.As[*store.String](e)
		if allowed = ok && s != nil && hasText(s, o.equal); !allowed {
			c.DB.Access(e)
		}
		if !ok {
			return false, resp.ErrWrongType
		}
		return allowed, resp.NoReply
	}
	if o.nx || o.xx {
		e := c.DB.Peek(key)
		if allowed = (e != nil) != o.nx; !allowed {
			c.DB.Access(e) // an allowed SET counts as an access itself
		}
		return allowed, resp.NoReply
	}
	return true, resp.NoReply
}

// setString stores a value with a deadline in Unix milliseconds (0: none) and says both changes.
func setString(c *command.Ctx, key, value []byte, deadline int64, o *setOptions) {
	var e *store.Entry
	if o.keepTTL {
		e = c.DB.SetKeepDeadline(key, store.ParseString(value))
	} else {
		e = c.DB.Set(key, store.ParseString(value))
	}
	c.Change(e, command.StringClass, "set", 1, c.Whole(value, o.nx))
	if deadline != 0 {
		c.DB.SetDeadline(e, deadline)
		c.Change(e, command.Generic, "expire", 0)
	}
}

func setnx(c *command.Ctx, args resp.Args) resp.Reply {
	if c.DB.LookupWrite(args[1]) != nil {
		return resp.Int(0)
	}
	storeString(c, args[1], args[2], true)
	return resp.Int(1)
}

func setex(c *command.Ctx, args resp.Args) resp.Reply { return setWithTTL(c, args, command.UnitEX) }

func psetex(c *command.Ctx, args resp.Args) resp.Reply { return setWithTTL(c, args, command.UnitPX) }

func setWithTTL(c *command.Ctx, args resp.Args, unit command.TTLUnit) resp.Reply {
	deadline, failure := command.DeadlineOf(c, args[2], unit)
	if failure.IsError() {
		return failure
	}
	setString(c, args[1], args[3], deadline, &setOptions{})
	return resp.OK
}

func getex(c *command.Ctx, args resp.Args) resp.Reply {
	o, ok := parseSetOptions(args[2:], forGetex)
	if !ok {
		return resp.ErrSyntax
	}
	if c.Config.Valkey() && o.ttl != nil {
		// Valkey reads the options before it looks the key up.
		if _, failure := command.DeadlineOf(c, o.ttl, o.unit); failure.IsError() {
			return failure
		}
	}
	e := c.DB.Lookup(args[1])
	s, ok := command.As[*store.String](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil:
		return resp.Nil
	case o.persist:
		if c.DB.Persist(e) {
			c.Change(e, command.Generic, "persist", 1)
		}
	case o.ttl != nil:
		deadline, failure := command.DeadlineOf(c, o.ttl, o.unit)
		if failure.IsError() {
			return failure
		}
		setDeadlineOrDelete(c, e, deadline, o.unit == command.UnitEXAT || o.unit == command.UnitPXAT)
	}
	return stringReply(s)
}

// setDeadlineOrDelete sets the deadline of e. It deletes e at once if absolute is set (EXAT,
// PXAT) and the deadline is past.
func setDeadlineOrDelete(c *command.Ctx, e *store.Entry, deadline int64, absolute bool) {
	if absolute && deadline <= c.Space.Due {
		c.DeleteDue(e)
		return
	}
	c.DB.SetDeadline(e, deadline)
	c.Change(e, command.Generic, "expire", 1)
}
