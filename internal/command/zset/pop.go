package zset

import (
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// zsetEnd is an end of a sorted set: its lowest or highest member.
type zsetEnd bool

const (
	zsetMin zsetEnd = true
	zsetMax zsetEnd = false
)

// parseZSetEnd reads MIN or MAX.
func parseZSetEnd(arg []byte) (end zsetEnd, ok bool) {
	if command.IsWord(arg, "min") {
		return zsetMin, true
	}
	return zsetMax, command.IsWord(arg, "max")
}

// popMembers removes at most count members from a set and says so. It returns
// each member followed by its score.
func popMembers(c *command.Ctx, e *store.Entry, z *store.ZSet, end zsetEnd, count int64) []resp.Reply {
	n := int(min(count, int64(z.Len())))
	from, to, event := 0, n, "zpopmin"
	if end == zsetMax {
		from, to, event = z.Len()-n, z.Len(), "zpopmax"
	}
	flat := make([]resp.Reply, 0, 2*n)
	z.Walk(from, to, end == zsetMax, func(item store.ZItem) bool {
		if z.Packed() { // its bytes move when members are removed
			item.Member = strings.Clone(item.Member)
		}
		flat = append(flat, resp.BulkString(item.Member), resp.Double(item.Score))
		return true
	})
	z.RemoveRange(from, to)
	c.Change(e, command.ZSetClass, event, int64(n))
	return flat
}

func zpopmin(c *command.Ctx, args resp.Args) resp.Reply { return popZSet(c, args, zsetMin) }
func zpopmax(c *command.Ctx, args resp.Args) resp.Reply { return popZSet(c, args, zsetMax) }

func popZSet(c *command.Ctx, args resp.Args, end zsetEnd) resp.Reply {
	if len(args) > 3 {
		return resp.ErrSyntax
	}
	count := int64(1)
	if len(args) == 3 {
		n, ok := resp.ParseInt(args[2])
		if !ok || n < 0 {
			return resp.ErrValuePositive
		}
		count = n
	}
	e := c.DB.LookupWrite(args[1])
	z, ok := command.As[*store.ZSet](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case z == nil || count == 0:
		return resp.EmptyArray
	}
	flat := popMembers(c, e, z, end, count)
	if len(args) == 3 {
		return command.PairedReply(c, flat)
	}
	return resp.Array(flat...)
}

func bzpopmin(c *command.Ctx, args resp.Args) resp.Reply { return blockingZPop(c, args, zsetMin) }
func bzpopmax(c *command.Ctx, args resp.Args) resp.Reply { return blockingZPop(c, args, zsetMax) }

// blockingZPop is BZPOPMIN and BZPOPMAX.
func blockingZPop(c *command.Ctx, args resp.Args, end zsetEnd) resp.Reply {
	last := len(args) - 1
	deadline, failure := command.ParseTimeout(c, args[last])
	if failure.IsError() {
		return failure
	}
	pop := func(c *command.Ctx, key []byte, e *store.Entry, z *store.ZSet) resp.Reply {
		c.DB.Access(e) // the blocking commands look the key up twice
		flat := popMembers(c, e, z, end, 1)
		return resp.Array(resp.Bulk(key), flat[0], flat[1])
	}
	return command.PopOrPark(c, args[1:last], deadline, pop)
}

func zmpop(c *command.Ctx, args resp.Args) resp.Reply {
	return command.PopMulti(c, args, parseZSetEnd, popFromZSet)
}

func bzmpop(c *command.Ctx, args resp.Args) resp.Reply {
	popper := func(end zsetEnd, count int64) command.PopKey[*store.ZSet] {
		pop := popFromZSet(end, count)
		return func(c *command.Ctx, key []byte, e *store.Entry, z *store.ZSet) resp.Reply {
			c.DB.Access(e) // as blockingZPop
			return pop(c, key, e, z)
		}
	}
	return command.PopMultiOrPark(c, args, parseZSetEnd, popper)
}

// popFromZSet pops as ZMPOP does. Its reply has pairs in RESP2, too.
func popFromZSet(end zsetEnd, count int64) command.PopKey[*store.ZSet] {
	return func(c *command.Ctx, key []byte, e *store.Entry, z *store.ZSet) resp.Reply {
		return resp.Array(resp.Bulk(key), command.PairsReply(popMembers(c, e, z, end, count)))
	}
}
