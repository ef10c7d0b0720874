package zset

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func zrandmember(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 2 {
		return zrandmemberCount(c, args)
	}
	z, reply := command.Reading[*store.ZSet](c, args[1], resp.Nil)
	if z == nil {
		return reply
	}
	return resp.BulkString(z.At(c.Rand.IntN(z.Len())).Member)
}

func zrandmemberCount(c *command.Ctx, args resp.Args) resp.Reply {
	count, withScores, failure := command.ParseRandomOptions(args, "withscores")
	if failure.IsError() {
		return failure
	}
	z, ok := Read(c, args[1])
	switch {
	case !ok:
		return resp.ErrWrongType
	case z == nil || count == 0:
		return resp.EmptyArray
	case count < -command.MaxRandomPicks:
		return command.ErrTooManyPicks
	}
	items := randomMembers(c, z, count)
	replies := make([]resp.Reply, 0, 2*len(items))
	for _, item := range items {
		replies = append(replies, resp.BulkString(item.Member))
		if withScores {
			replies = append(replies, resp.Double(item.Score))
		}
	}
	if withScores {
		return command.PairedReply(c, replies)
	}
	return resp.Array(replies...)
}

// randomMembers returns the members that count selects. If count is not below the size, these
// are all members, the last one first, as in Redis.
func randomMembers(c *command.Ctx, z *store.ZSet, count int64) []store.ZItem {
	all := count >= int64(z.Len())
	if !all && !z.Packed() {
		picks := command.RandomPicks(c.Rand, z.Len(), count)
		items := make([]store.ZItem, len(picks))
		for i, at := range picks {
			items[i] = z.At(at)
		}
		return items
	}
	sorted := make([]store.ZItem, 0, z.Len())
	z.Walk(0, z.Len(), true, func(item store.ZItem) bool {
		sorted = append(sorted, item)
		return true
	})
	if all {
		return sorted
	}
	picks := command.RandomPicks(c.Rand, z.Len(), count)
	items := make([]store.ZItem, len(picks))
	for i, at := range picks {
		items[i] = sorted[at]
	}
	return items
}
