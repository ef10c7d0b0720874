package command

import (
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func blpop(c *Ctx, args resp.Args) resp.Reply { return blockingPop(c, args, listHead) }
func brpop(c *Ctx, args resp.Args) resp.Reply { return blockingPop(c, args, listTail) }

// blockingPop is BLPOP and BRPOP.
func blockingPop(c *Ctx, args resp.Args, end listEnd) resp.Reply {
	last := len(args) - 1
	deadline, failure := parseTimeout(c, args[last])
	if failure.IsError() {
		return failure
	}
	pop := func(c *Ctx, key []byte, e *store.Entry, l *store.List) resp.Reply {
		return resp.Array(resp.Bulk(key), popOne(c, e, l, end))
	}
	reply, done := popFirst(c, args[1:last], pop)
	if done || c.DenyBlocking() {
		return reply
	}
	return parkPop(c, args[1:last], deadline, pop)
}

func lmpop(c *Ctx, args resp.Args) resp.Reply {
	return popMulti(c, args, parseListEnd, popFromList)
}

func blmpop(c *Ctx, args resp.Args) resp.Reply {
	return popMultiOrPark(c, args, parseListEnd, popFromList)
}

// popFromList pops as LMPOP does.
func popFromList(end listEnd, count int64) popKey[*store.List] {
	return func(c *Ctx, key []byte, e *store.Entry, l *store.List) resp.Reply {
		return resp.Array(resp.Bulk(key), popSome(c, e, l, end, count))
	}
}
