package set

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func srandmember(c *command.Ctx, args resp.Args) resp.Reply {
	switch len(args) {
	case 2:
		s, ok := command.As[*store.Set](c.DB.Lookup(args[1]))
		switch {
		case !ok:
			return resp.ErrWrongType
		case s == nil:
			return resp.Nil
		}
		return resp.BulkString(s.MemberAt(c.Rand.IntN(s.Len())))
	case 3:
		return srandmemberCount(c, args)
	}
	return resp.ErrSyntax
}

func srandmemberCount(c *command.Ctx, args resp.Args) resp.Reply {
	count, failure := command.ParseRandomCount(args[2])
	if failure.IsError() {
		return failure
	}
	s, ok := command.As[*store.Set](c.DB.Lookup(args[1]))
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil || count == 0:
		return resp.EmptyArray
	case count < -command.MaxRandomPicks:
		return command.ErrTooManyPicks
	}
	picks := command.RandomPicks(c.Rand, s.Len(), count)
	members := make([]resp.Reply, len(picks))
	for i, at := range picks {
		members[i] = resp.BulkString(s.MemberAt(at))
	}
	return resp.Array(members...)
}

func spop(c *command.Ctx, args resp.Args) resp.Reply {
	switch len(args) {
	case 2:
		return spopOne(c, args)
	case 3:
		return spopCount(c, args)
	}
	return resp.ErrSyntax
}

func spopOne(c *command.Ctx, args resp.Args) resp.Reply {
	e, s, reply := command.Writing[*store.Set](c, args[1], resp.Nil)
	if s == nil {
		return reply
	}
	at := c.Rand.IntN(s.Len())
	member := s.MemberAt(at)
	s.RemoveAt(at)
	c.Change(e, command.SetClass, "spop", 1)
	return resp.BulkString(member)
}

func spopCount(c *command.Ctx, args resp.Args) resp.Reply {
	count, ok := resp.ParseInt(args[2])
	if !ok || count < 0 {
		return resp.ErrValuePositive
	}
	e := c.DB.LookupWrite(args[1])
	s, ok := command.As[*store.Set](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil || count == 0:
		return resp.Set()
	case count >= int64(s.Len()):
		c.Space.Stats.Hits++ // Redis looks the set up again, to read it
		members := setMembers(s)
		if c.Space.Lazyfree.ServerDel {
			c.Space.CountDropped(union([]*store.Set{s}, &c.Space.Limits)) // Redis pops by SUNION
		}
		c.Change(e, command.SetClass, "spop", int64(len(members)))
		c.Delete(e, c.Space.Lazyfree.ServerDel, 0)
		return resp.Set(members...)
	}
	wasTable := s.Encoding() == "hashtable"
	popped := make([]resp.Reply, count)
	for i := range popped {
		at := c.Rand.IntN(s.Len())
		popped[i] = resp.BulkString(s.MemberAt(at))
		s.RemoveAt(at)
	}
	if rebuiltByPop(int64(s.Len()), count) {
		if c.Space.Lazyfree.ServerDel && wasTable {
			c.Space.CountLazyFreed(1, int(count)) // Redis deletes the set of the popped members
		}
		c.DB.SetValue(e, union([]*store.Set{s}, &c.Space.Limits))
	}
	c.Change(e, command.SetClass, "spop", int64(len(popped)))
	return resp.Set(popped...)
}

// rebuiltByPop reports whether SPOP left so few members that Redis moves them to a new set.
// The new set can be an intset again.
func rebuiltByPop(left, popped int64) bool { return left*5 <= popped }
