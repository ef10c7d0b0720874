package generic

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// The four commands differ in the unit of their argument and in the time it counts from.
func expire(c *command.Ctx, args resp.Args) resp.Reply    { return expireFrom(c, args, c.Now(), 1000) }
func pexpire(c *command.Ctx, args resp.Args) resp.Reply   { return expireFrom(c, args, c.Now(), 1) }
func expireat(c *command.Ctx, args resp.Args) resp.Reply  { return expireFrom(c, args, 0, 1000) }
func pexpireat(c *command.Ctx, args resp.Args) resp.Reply { return expireFrom(c, args, 0, 1) }

// expireFrom sets the deadline base + args[2]·unit. base and unit are in ms. A deadline that
// is not in the future deletes the key.
func expireFrom(c *command.Ctx, args resp.Args, base, unit int64) resp.Reply {
	var cond command.Conditions
	options := args[3:]
	if len(options) > 0 {
		var failure resp.Reply
		if cond, failure = command.ParseConditions(options); failure.IsError() {
			return failure
		}
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
	if e == nil || len(options) > 0 && !cond.Allow(e.HasDeadline(), c.DB.Deadline(e), at) {
		return resp.Int(0)
	}
	if at <= c.Space.Due {
		c.DeleteDue(e)
	} else {
		c.DB.SetDeadline(e, at)
		c.Change(e, command.Generic, "expire", 1)
	}
	return resp.Int(1)
}

func persist(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.LookupWrite(args[1])
	if e == nil || !c.DB.Persist(e) {
		return resp.Int(0)
	}
	c.Change(e, command.Generic, "persist", 1)
	return resp.Int(1)
}

func ttl(c *command.Ctx, args resp.Args) resp.Reply {
	return deadlineReply(c, args[1], func(at int64) int64 { return command.Seconds(max(0, at-c.Now())) })
}

func pttl(c *command.Ctx, args resp.Args) resp.Reply {
	return deadlineReply(c, args[1], func(at int64) int64 { return max(0, at-c.Now()) })
}

func expiretime(c *command.Ctx, args resp.Args) resp.Reply {
	return deadlineReply(c, args[1], command.Seconds)
}

func pexpiretime(c *command.Ctx, args resp.Args) resp.Reply {
	return deadlineReply(c, args[1], func(at int64) int64 { return at })
}

// deadlineReply is -2 for a missing key, -1 for a key without a deadline, else what show
// returns for the deadline in Unix ms.
func deadlineReply(c *command.Ctx, key []byte, show func(at int64) int64) resp.Reply {
	switch e := peekAndCount(c, key); {
	case e == nil:
		return resp.Int(-2)
	case !e.HasDeadline():
		return resp.Int(-1)
	default:
		return resp.Int(show(c.DB.Deadline(e)))
	}
}
