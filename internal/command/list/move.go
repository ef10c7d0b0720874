package list

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func rpoplpush(c *command.Ctx, args resp.Args) resp.Reply {
	return moveList(c, args[1], args[2], listTail, listHead)
}

func lmove(c *command.Ctx, args resp.Args) resp.Reply {
	from, to, ok := parseMoveEnds(args)
	if !ok {
		return resp.ErrSyntax
	}
	return moveList(c, args[1], args[2], from, to)
}

func parseMoveEnds(args resp.Args) (from, to listEnd, ok bool) {
	if from, ok = parseListEnd(args[3]); !ok {
		return from, to, false
	}
	to, ok = parseListEnd(args[4])
	return from, to, ok
}

// moveList moves one element from an end of src to an end of dst. The reply is nil when src
// is missing.
func moveList(c *command.Ctx, src, dst []byte, from, to listEnd) resp.Reply {
	e, l, reply := command.Writing[*store.List](c, src, resp.Nil)
	if l == nil {
		return reply
	}
	dstEntry := c.DB.LookupWrite(dst)
	dstList, ok := command.As[*store.List](dstEntry)
	if !ok {
		return resp.ErrWrongType
	}
	if dstList == nil {
		dstList = store.NewList(&c.Space.Limits)
	}
	elem := from.pop(l)
	to.push(dstList, elem)
	event, named := to.event("lpush", "rpush"), command.Came(c.One(elem), 1, 1)
	c.Put(dst, dstEntry, dstList, command.ListClass, event, c.NotServed(), named)
	listPopped(c, e, from, 0, c.One(elem)) // the push has counted: Redis counts a move once
	return resp.Bulk(elem)
}

func brpoplpush(c *command.Ctx, args resp.Args) resp.Reply {
	return blockingMove(c, args, listTail, listHead, args[3])
}

func blmove(c *command.Ctx, args resp.Args) resp.Reply {
	from, to, ok := parseMoveEnds(args)
	if !ok {
		return resp.ErrSyntax
	}
	return blockingMove(c, args, from, to, args[5])
}

func blockingMove(c *command.Ctx, args resp.Args, from, to listEnd, timeout []byte) resp.Reply {
	deadline, failure := command.ParseTimeout(c, timeout)
	if failure.IsError() {
		return failure
	}
	if l, ok := command.As[*store.List](c.DB.Peek(args[1])); ok && l != nil {
		c.DB.LookupWrite(args[1]) // as in Redis, moving counts as an access of its own
	}
	reply := moveList(c, args[1], args[2], from, to)
	if !reply.IsNil() || c.DenyBlocking() {
		return reply
	}
	dst := append([]byte(nil), args[2]...)
	return command.Park(c, args[1:2], deadline, func(c *command.Ctx, key []byte) (resp.Reply, bool) {
		if l, ok := command.As[*store.List](c.DB.Peek(key)); !ok || l == nil {
			return resp.NoReply, false
		}
		return moveList(c, key, dst, from, to), true
	}, nil)
}
