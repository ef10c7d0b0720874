package command

import (
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func rpoplpush(c *Ctx, args resp.Args) resp.Reply {
	return moveList(c, args[1], args[2], listTail, listHead)
}

func lmove(c *Ctx, args resp.Args) resp.Reply {
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
func moveList(c *Ctx, src, dst []byte, from, to listEnd) resp.Reply {
	e := c.DB.LookupWrite(src)
	l, ok := asList(e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case l == nil:
		return resp.Nil
	}
	dstEntry := c.DB.LookupWrite(dst)
	dstList, ok := asList(dstEntry)
	if !ok {
		return resp.ErrWrongType
	}
	if dstList == nil {
		dstList = store.NewList(&c.Space.Limits)
	}
	elem := from.pop(l)
	to.push(dstList, elem)
	event, named := to.event("lpush", "rpush"), came(c.one(elem), 1, 1)
	c.Put(dst, dstEntry, dstList, ListClass, event, c.notServed(), named)
	listPopped(c, e, from, 0, c.one(elem)) // the push has counted: Redis counts a move once
	return resp.Bulk(elem)
}

func brpoplpush(c *Ctx, args resp.Args) resp.Reply {
	return blockingMove(c, args, listTail, listHead, args[3])
}

func blmove(c *Ctx, args resp.Args) resp.Reply {
	from, to, ok := parseMoveEnds(args)
	if !ok {
		return resp.ErrSyntax
	}
	return blockingMove(c, args, from, to, args[5])
}

func blockingMove(c *Ctx, args resp.Args, from, to listEnd, timeout []byte) resp.Reply {
	deadline, failure := parseTimeout(c, timeout)
	if failure.IsError() {
		return failure
	}
	if l, ok := asList(c.DB.Peek(args[1])); ok && l != nil {
		c.DB.LookupWrite(args[1]) // as in Redis, moving counts as an access of its own
	}
	reply := moveList(c, args[1], args[2], from, to)
	if !reply.IsNil() || c.DenyBlocking() {
		return reply
	}
	dst := append([]byte(nil), args[2]...)
	return park(c, args[1:2], deadline, func(c *Ctx, key []byte) (resp.Reply, bool) {
		if l, ok := asList(c.DB.Peek(key)); !ok || l == nil {
			return resp.NoReply, false
		}
		return moveList(c, key, dst, from, to), true
	}, nil)
}
