package command

import (
	"math"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// setOptions are the options of SET and GETEX.
type setOptions struct {
	nx, xx, get, keepTTL, persist bool
	unit                          ttlUnit
	ttl                           []byte // nil: none given
}

// ttlUnit is the unit and the start of a time to live.
type ttlUnit uint8

const (
	unitEX   ttlUnit = iota + 1 // seconds from now
	unitPX                      // milliseconds from now
	unitEXAT                    // Unix seconds
	unitPXAT                    // Unix milliseconds
)

// parseSetOptions parses the options of SET, or of GETEX if getex is set. A time to live can
// be repeated in the same unit; the last one counts, as in Redis.
func parseSetOptions(args resp.Args, getex bool) (o setOptions, ok bool) {
	for i := 0; i < len(args); i++ {
		opt := args[i]
		switch {
		case isWord(opt, "nx") && !o.xx && !getex:
			o.nx = true
		case isWord(opt, "xx") && !o.nx && !getex:
			o.xx = true
		case isWord(opt, "get") && !getex:
			o.get = true
		case isWord(opt, "keepttl") && o.ttl == nil && !getex:
			o.keepTTL = true
		case isWord(opt, "persist") && o.ttl == nil && getex:
			o.persist = true
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

func ttlUnitOf(opt []byte) ttlUnit {
	switch {
	case isWord(opt, "ex"):
		return unitEX
	case isWord(opt, "px"):
		return unitPX
	case isWord(opt, "exat"):
		return unitEXAT
	case isWord(opt, "pxat"):
		return unitPXAT
	}
	return 0
}

// deadlineOf converts a time to live into a deadline in Unix milliseconds.
func deadlineOf(c *Ctx, ttl []byte, unit ttlUnit) (at int64, failure resp.Reply) {
	at, ok := resp.ParseInt(ttl)
	if !ok {
		return 0, resp.ErrNotInt
	}
	seconds := unit == unitEX || unit == unitEXAT
	if at <= 0 || seconds && at > math.MaxInt64/1000 {
		return 0, resp.ErrInvalidExpire(c.Cmd.Name)
	}
	if seconds {
		at *= 1000
	}
	if unit == unitEX || unit == unitPX {
		if at > math.MaxInt64-c.Now() {
			return 0, resp.ErrInvalidExpire(c.Cmd.Name)
		}
		at += c.Now()
	}
	return at, resp.NoReply
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

func set(c *Ctx, args resp.Args) resp.Reply {
	o, ok := parseSetOptions(args[3:], false)
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
	if o.nx || o.xx {
		if found := c.DB.LookupWrite(args[1]) != nil; found == o.nx {
			if o.get {
				return reply
			}
			return resp.Nil
		}
	}
	setString(c, args[1], args[2], deadline, o.keepTTL)
	return reply
}

// setString stores a value with a deadline in Unix milliseconds (0: none) and announces both.
func setString(c *Ctx, key, value []byte, deadline int64, keepTTL bool) {
	var e *store.Entry
	if keepTTL {
		e = c.DB.SetKeepDeadline(key, store.ParseString(value))
	} else {
		e = c.DB.Set(key, store.ParseString(value))
	}
	c.Notify(StringClass, "set", e.Key())
	if deadline != 0 {
		c.DB.SetDeadline(e, deadline)
		c.Events.Notify(Generic, "expire", c.DB.ID(), e.Key())
	}
}

func setnx(c *Ctx, args resp.Args) resp.Reply {
	if c.DB.LookupWrite(args[1]) != nil {
		return resp.Int(0)
	}
	storeString(c, args[1], args[2])
	return resp.Int(1)
}

func setex(c *Ctx, args resp.Args) resp.Reply { return setWithTTL(c, args, unitEX) }

func psetex(c *Ctx, args resp.Args) resp.Reply { return setWithTTL(c, args, unitPX) }

func setWithTTL(c *Ctx, args resp.Args, unit ttlUnit) resp.Reply {
	deadline, failure := deadlineOf(c, args[2], unit)
	if failure.IsError() {
		return failure
	}
	setString(c, args[1], args[3], deadline, false)
	return resp.OK
}

func getex(c *Ctx, args resp.Args) resp.Reply {
	o, ok := parseSetOptions(args[2:], true)
	if !ok {
		return resp.ErrSyntax
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
			c.Notify(Generic, "persist", e.Key())
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
		c.Remove(e)
		return
	}
	c.DB.SetDeadline(e, deadline)
	c.Notify(Generic, "expire", e.Key())
}
