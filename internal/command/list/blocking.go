package list

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func blpop(c *command.Ctx, args resp.Args) resp.Reply { return blockingPop(c, args, listHead) }
func brpop(c *command.Ctx, args resp.Args) resp.Reply { return blockingPop(c, args, listTail) }

// blockingPop is BLPOP and BRPOP.
func blockingPop(c *command.Ctx, args resp.Args, end listEnd) resp.Reply {
	last := len(args) - 1
	deadline, failure := command.ParseTimeout(c, args[last])
	if failure.IsError() {
		return failure
	}
	pop := func(c *command.Ctx, key []byte, e *store.Entry, l *store.List) resp.Reply {
		return resp.Array(resp.Bulk(key), popOne(c, e, l, end))
	}
	reply, done := command.PopFirst(c, args[1:last], pop)
	if done || c.DenyBlocking() {
		return reply
	}
	return command.ParkPop(c, args[1:last], deadline, pop)
}

func lmpop(c *command.Ctx, args resp.Args) resp.Reply {
	return command.PopMulti(c, args, parseListEnd, popFromList)
}

func blmpop(c *command.Ctx, args resp.Args) resp.Reply {
	return command.PopMultiOrPark(c, args, parseListEnd, popFromList)
}

// popFromList pops as LMPOP does.
func popFromList(end listEnd, count int64) command.PopKey[*store.List] {
	return func(c *command.Ctx, key []byte, e *store.Entry, l *store.List) resp.Reply {
		return resp.Array(resp.Bulk(key), popSome(c, e, l, end, count))
	}
}
