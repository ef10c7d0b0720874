package set

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func sadd(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.LookupWrite(args[1])
	s, ok := command.As[*store.Set](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil:
		s = new(store.Set)
	}
	added := int64(0)
	for _, member := range args[2:] {
		if s.Add(member, &c.Space.Limits) {
			added++
		}
	}
	if added > 0 {
		c.Put(args[1], e, s, command.SetClass, "sadd", added, command.Came(args[2:], 1, added))
	}
	return resp.Int(added)
}

func srem(c *command.Ctx, args resp.Args) resp.Reply {
	return command.RemoveElems(c, args, command.SetClass, "srem", (*store.Set).Remove)
}

func smove(c *command.Ctx, args resp.Args) resp.Reply {
	from, to := c.DB.LookupWrite(args[1]), c.DB.LookupWrite(args[2])
	if from == nil {
		return resp.Int(0)
	}
	source, ok := command.As[*store.Set](from)
	if !ok {
		return resp.ErrWrongType
	}
	target, ok := command.As[*store.Set](to)
	switch {
	case !ok:
		return resp.ErrWrongType
	case source == target:
		return resp.Flag(source.Has(args[3]))
	case !source.Remove(args[3]):
		return resp.Int(0)
	}
	c.Change(from, command.SetClass, "srem", 1, command.Went(args[3:]))
	if target == nil {
		target = new(store.Set)
	}
	if target.Add(args[3], &c.Space.Limits) {
		c.Put(args[2], to, target, command.SetClass, "sadd", 1, command.Came(args[3:], 1, 1))
	}
	return resp.Int(1)
}

func scard(c *command.Ctx, args resp.Args) resp.Reply {
	s, reply := command.Reading[*store.Set](c, args[1], resp.Int(0))
	if s == nil {
		return reply
	}
	return resp.Int(int64(s.Len()))
}

func sismember(c *command.Ctx, args resp.Args) resp.Reply {
	s, ok := command.As[*store.Set](c.DB.Lookup(args[1]))
	if !ok {
		return resp.ErrWrongType
	}
	return resp.Flag(s != nil && s.Has(args[2]))
}

func smismember(c *command.Ctx, args resp.Args) resp.Reply {
	s, ok := command.As[*store.Set](c.DB.Lookup(args[1]))
	if !ok {
		return resp.ErrWrongType
	}
	flags := make([]resp.Reply, len(args)-2)
	for i, member := range args[2:] {
		flags[i] = resp.Flag(s != nil && s.Has(member))
	}
	return resp.Array(flags...)
}

func smembers(c *command.Ctx, args resp.Args) resp.Reply {
	s, ok := command.As[*store.Set](c.DB.Lookup(args[1]))
	if !ok {
		return resp.ErrWrongType
	}
	return resp.Set(setMembers(s)...)
}

// setMembers returns all members of s, which may be nil, as bulk strings.
func setMembers(s *store.Set) []resp.Reply {
	if s == nil {
		return nil
	}
	members := make([]resp.Reply, s.Len())
	for i := range members {
		members[i] = resp.BulkString(s.MemberAt(i))
	}
	return members
}
