package command

import (
	"math"

	"github.com/lockredis/lockredis/resp"
)

// The four commands differ in the unit of their argument and in the time it counts from.
func expire(c *Ctx, args resp.Args) resp.Reply    { return expireFrom(c, args, c.Now(), 1000) }
func pexpire(c *Ctx, args resp.Args) resp.Reply   { return expireFrom(c, args, c.Now(), 1) }
func expireat(c *Ctx, args resp.Args) resp.Reply  { return expireFrom(c, args, 0, 1000) }
func pexpireat(c *Ctx, args resp.Args) resp.Reply { return expireFrom(c, args, 0, 1) }

var (
	errExpireNX   = resp.Error("ERR NX and XX, GT or LT options at the same time are not compatible")
	errExpireGTLT = resp.Error("ERR GT and LT options at the same time are not compatible")
)

// expireFrom sets the deadline base + args[2]·unit. base and unit are in ms. A deadline that
// is not in the future deletes the key.
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
	if e == nil || !cond.allow(e.HasDeadline(), c.DB.Deadline(e), at) {
		return resp.Int(0)
	}
	if at <= c.Now() {
		c.DeleteDue(e)
	} else {
		c.DB.SetDeadline(e, at)
		c.Change(e, Generic, "expire", 1)
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
			return cond, resp.Errorf("ERR Unsupported option %s", o)
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

// allow reports whether a key or a field may get the deadline at. has says whether it has
// the deadline old. Without one it compares as if its deadline were later than any other.
func (cond conditions) allow(has bool, old, at int64) bool {
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
	c.Change(e, Generic, "persist", 1)
	return resp.Int(1)
}

func ttl(c *Ctx, args resp.Args) resp.Reply {
	return deadlineReply(c, args[1], func(at int64) int64 { return seconds(max(0, at-c.Now())) })
}

func pttl(c *Ctx, args resp.Args) resp.Reply {
	return deadlineReply(c, args[1], func(at int64) int64 { return max(0, at-c.Now()) })
}

func expiretime(c *Ctx, args resp.Args) resp.Reply {
	return deadlineReply(c, args[1], seconds)
}

func pexpiretime(c *Ctx, args resp.Args) resp.Reply {
	return deadlineReply(c, args[1], func(at int64) int64 { return at })
}

// seconds rounds ms to seconds. The largest ms does not overflow.
func seconds(ms int64) int64 { return int64((uint64(ms) + 500) / 1000) }

// deadlineReply is -2 for a missing key, -1 for a key without a deadline, else what show
// returns for the deadline in Unix ms.
func deadlineReply(c *Ctx, key []byte, show func(at int64) int64) resp.Reply {
	switch e := peekAndCount(c, key); {
	case e == nil:
		return resp.Int(-2)
	case !e.HasDeadline():
		return resp.Int(-1)
	default:
		return resp.Int(show(c.DB.Deadline(e)))
	}
}
