package zset

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// Read looks up a sorted set for reading. z is nil when the key is missing. ok is false
// when the key holds another type.
func Read(c *command.Ctx, key []byte) (z *store.ZSet, ok bool) {
	return command.As[*store.ZSet](c.DB.Lookup(key))
}

func zcard(c *command.Ctx, args resp.Args) resp.Reply {
	z, reply := command.Reading[*store.ZSet](c, args[1], resp.Int(0))
	if z == nil {
		return reply
	}
	return resp.Int(int64(z.Len()))
}

func zscore(c *command.Ctx, args resp.Args) resp.Reply {
	z, ok := Read(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	return scoreOrNil(z, args[2])
}

func zmscore(c *command.Ctx, args resp.Args) resp.Reply {
	z, ok := Read(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	scores := make([]resp.Reply, len(args)-2)
	for i, member := range args[2:] {
		scores[i] = scoreOrNil(z, member)
	}
	return resp.Array(scores...)
}

func scoreOrNil(z *store.ZSet, member []byte) resp.Reply {
	if z != nil {
		if score, ok := z.Score(member); ok {
			return resp.Double(score)
		}
	}
	return resp.Nil
}

func zrank(c *command.Ctx, args resp.Args) resp.Reply { return rankReply(c, args, false) }

func zrevrank(c *command.Ctx, args resp.Args) resp.Reply { return rankReply(c, args, true) }

func rankReply(c *command.Ctx, args resp.Args, reverse bool) resp.Reply {
	z, reply := command.Reading[*store.ZSet](c, args[1], resp.Nil)
	if z == nil {
		return reply
	}
	rank, ok := z.Rank(args[2])
	switch {
	case !ok:
		return resp.Nil
	case reverse:
		rank = z.Len() - 1 - rank
	}
	return resp.Int(int64(rank))
}

func zrem(c *command.Ctx, args resp.Args) resp.Reply {
	return command.RemoveElems(c, args, command.ZSetClass, "zrem", (*store.ZSet).Remove)
}
