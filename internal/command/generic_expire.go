package command

import (
	"math"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// The four commands differ in the unit and in what the time counts from.
func expire(c *Ctx, args resp.Args) resp.Reply    { return expireFrom(c, args, c.Now(), 1000) }
func pexpire(c *Ctx, args resp.Args) resp.Reply   { return expireFrom(c, args, c.Now(), 1) }
func expireat(c *Ctx, args resp.Args) resp.Reply  { return expireFrom(c, args, 0, 1000) }
func pexpireat(c *Ctx, args resp.Args) resp.Reply { return expireFrom(c, args, 0, 1) }

var (
	errExpireNX   = resp.Error("ERR NX and XX, GT or LT options at the same time are not compatible")
	errExpireGTLT = resp.Error("ERR GT and LT options at the same time are not compatible")
)

// expireFrom sets a deadline of args[2] units (of so many ms) from base on.
func expireFrom(c *Ctx, args resp.Args, base, unit int64) resp.Reply {
	cond, failure := expireConditions(args[3:])
	if failure.IsError() {
		return failure
	}
	n, ok := resp.ParseInt(args[2])
	if !ok {
		return resp.ErrNotInt
	}
	if n > math.MaxInt64/unit || n < math.MinInt64/unit || n*unit > math.MaxInt64-base {
		return resp.ErrInvalidExpire(c.Cmd.Name)
	}
	at := n*unit + base
	e := c.DB.LookupWrite(args[1])
	if e == nil || !cond.hold(e, at) {
		return resp.Int(0)
	}
	if at <= c.Now() {
		c.Remove(e)
	} else {
		c.DB.SetDeadline(e, at)
		c.Notify(Generic, "expire", e.Key())
	}
	return resp.Int(1)
}

// conditions are the options NX, XX, GT and LT.
type conditions struct{ nx, xx, gt, lt bool }

func expireConditions(options resp.Args) (cond conditions, failure resp.Reply) {
	for _, o := range options {
		switch {
		case isWord(o, "nx"):
			cond.nx = true
		case isWord(o, "xx"):
			cond.xx = true
		case isWord(o, "gt"):
			cond.gt = true
		case isWord(o, "lt"):
			cond.lt = true
		default:
			return cond, resp.Error("ERR Unsupported option " + string(o))
		}
	}
	switch {
	case cond.nx && (cond.xx || cond.gt || cond.lt):
		return cond, errExpireNX
	case cond.gt && cond.lt:
		return cond, errExpireGTLT
	}
	return cond, resp.NoReply
}

// hold reports whether e may get the deadline at. No deadline counts as later
// than any.
func (cond conditions) hold(e *store.Entry, at int64) bool {
	has, old := e.HasDeadline(), e.Deadline()
	switch {
	case cond.nx && has, cond.xx && !has:
		return false
	case cond.gt && (!has || at <= old), cond.lt && has && at >= old:
		return false
	}
	return true
}

func persist(c *Ctx, args resp.Args) resp.Reply {
	e := c.DB.LookupWrite(args[1])
	if e == nil || !c.DB.Persist(e) {
		return resp.Int(0)
	}
	c.Notify(Generic, "persist", e.Key())
	return resp.Int(1)
}

func ttl(c *Ctx, args resp.Args) resp.Reply {
	return deadlineReply(c, args[1], func(at int64) int64 { return int64((uint64(max(0, at-c.Now())) + 500) / 1000) })
}

func pttl(c *Ctx, args resp.Args) resp.Reply {
	return deadlineReply(c, args[1], func(at int64) int64 { return max(0, at-c.Now()) })
}

func expiretime(c *Ctx, args resp.Args) resp.Reply {
	return deadlineReply(c, args[1], func(at int64) int64 { return int64((uint64(at) + 500) / 1000) })
}

func pexpiretime(c *Ctx, args resp.Args) resp.Reply {
	return deadlineReply(c, args[1], func(at int64) int64 { return at })
}

// deadlineReply is -2 without the key and -1 without a deadline.
func deadlineReply(c *Ctx, key []byte, show func(at int64) int64) resp.Reply {
	switch e := examine(c, key); {
	case e == nil:
		return resp.Int(-2)
	case !e.HasDeadline():
		return resp.Int(-1)
	default:
		return resp.Int(show(e.Deadline()))
	}
}
