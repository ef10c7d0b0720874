package command

import (
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// setOptions are the options of SET, GETEX and MSETEX.
type setOptions struct {
	nx, xx, get, keepTTL, persist bool
	unit                          ttlUnit
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
		case isWord(opt, "nx") && !o.xx && o.equal == nil && form != forGetex:
			o.nx = true
		case isWord(opt, "xx") && !o.nx && o.equal == nil && form != forGetex:
			o.xx = true
		case isWord(opt, "get") && form < forGetex:
			o.get = true
		case isWord(opt, "keepttl") && o.ttl == nil && form != forGetex:
			o.keepTTL = true
		case isWord(opt, "persist") && o.ttl == nil && form == forGetex:
			o.persist = true
		case form == forValkeySet && isWord(opt, "ifeq") && !o.nx && !o.xx && o.equal == nil && i+1 < len(args):
			i++
			o.equal = args[i]
		default:
			unit := ttlUnitOf(opt)
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
func setKeyFlags(line resp.Args, found []KeyPos) []KeyPos {
	found[0].Flags = OW | Update
	for _, option := range line[3:] {
		if isWord(option, "get") {
			found[0].Flags = RW | Access | Update
		}
	}
	return found
}

func set(c *Ctx, args resp.Args) resp.Reply { return setFrom(c, args, forSet) }

// valkeySet is SET of Valkey 9.1: it has the option IFEQ.
func valkeySet(c *Ctx, args resp.Args) resp.Reply { return setFrom(c, args, forValkeySet) }

func setFrom(c *Ctx, args resp.Args, form setForm) resp.Reply {
	o, ok := parseSetOptions(args[3:], form)
	if !ok {
		return resp.ErrSyntax
	}
	deadline := int64(0)
	if o.ttl != nil {
		var failure resp.Reply
		if deadline, failure = deadlineOf(c, o.ttl, o.unit); failure.IsError() {
			return failure
		}
	}
	reply := resp.OK
	if o.get {
		s, ok := asString(c.DB.Lookup(args[1]))
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
	if form == forValkeySet && deadline != 0 && deadline <= c.Now() {
		dropDue(c, args[1])
	} else {
		setString(c, args[1], args[2], deadline, &o)
	}
	return reply
}

// dropDue deletes a key that SET gives a deadline that is not in the future. Valkey does not
// store the value.
func dropDue(c *Ctx, key []byte) {
	if e := c.DB.LookupWrite(key); e != nil {
		c.DeleteDue(e)
	}
}

// allow reports whether NX, XX and IFEQ allow to set key.
func (o *setOptions) allow(c *Ctx, key []byte) (allowed bool, failure resp.Reply) {
	if o.equal != nil {
		e := c.DB.Peek(key)
		s, ok := asString(e)
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
func setString(c *Ctx, key, value []byte, deadline int64, o *setOptions) {
	var e *store.Entry
	if o.keepTTL {
		e = c.DB.SetKeepDeadline(key, store.ParseString(value))
	} else {
		e = c.DB.Set(key, store.ParseString(value))
	}
	c.Change(e, StringClass, "set", 1, whole(c.one(value), o.nx))
	if deadline != 0 {
		c.DB.SetDeadline(e, deadline)
		c.Change(e, Generic, "expire", 0)
	}
}

func setnx(c *Ctx, args resp.Args) resp.Reply {
	if c.DB.LookupWrite(args[1]) != nil {
		return resp.Int(0)
	}
	storeString(c, args[1], args[2], true)
	return resp.Int(1)
}

func setex(c *Ctx, args resp.Args) resp.Reply { return setWithTTL(c, args, unitEX) }

func psetex(c *Ctx, args resp.Args) resp.Reply { return setWithTTL(c, args, unitPX) }

func setWithTTL(c *Ctx, args resp.Args, unit ttlUnit) resp.Reply {
	deadline, failure := deadlineOf(c, args[2], unit)
	if failure.IsError() {
		return failure
	}
	setString(c, args[1], args[3], deadline, &setOptions{})
	return resp.OK
}

func getex(c *Ctx, args resp.Args) resp.Reply {
	o, ok := parseSetOptions(args[2:], forGetex)
	if !ok {
		return resp.ErrSyntax
	}
	if c.Config.Valkey() && o.ttl != nil {
		// Valkey reads the options before it looks the key up.
		if _, failure := deadlineOf(c, o.ttl, o.unit); failure.IsError() {
			return failure
		}
	}
	e := c.DB.Lookup(args[1])
	s, ok := asString(e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil:
		return resp.Nil
	case o.persist:
		if c.DB.Persist(e) {
			c.Change(e, Generic, "persist", 1)
		}
	case o.ttl != nil:
		deadline, failure := deadlineOf(c, o.ttl, o.unit)
		if failure.IsError() {
			return failure
		}
		setDeadlineOrDelete(c, e, deadline, o.unit == unitEXAT || o.unit == unitPXAT)
	}
	return stringReply(s)
}

// setDeadlineOrDelete sets the deadline of e. It deletes e at once if absolute is set (EXAT,
// PXAT) and the deadline is past.
func setDeadlineOrDelete(c *Ctx, e *store.Entry, deadline int64, absolute bool) {
	if absolute && deadline <= c.Now() {
		c.DeleteDue(e)
		return
	}
	c.DB.SetDeadline(e, deadline)
	c.Change(e, Generic, "expire", 1)
}
