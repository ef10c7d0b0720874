package hash

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func hrandfield(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 2 {
		return hrandfieldCount(c, args)
	}
	h, reply := command.Reading[*store.Hash](c, args[1], resp.Nil)
	if h == nil {
		return reply
	}
	field, _ := h.At(c.Rand.IntN(h.Len()))
	return resp.Bulk(field)
}

func hrandfieldCount(c *command.Ctx, args resp.Args) resp.Reply {
	count, withValues, failure := command.ParseRandomOptions(args, "withvalues")
	if failure.IsError() {
		return failure
	}
	h, ok := readHash(c, args[1])
	switch {
	case !ok:
		return resp.ErrWrongType
	case h == nil || count == 0:
		return resp.EmptyArray
	case count < -command.MaxRandomPicks:
		return command.ErrTooManyPicks
	}
	picks := command.RandomPicks(c.Rand, h.Len(), count)
	pairs := hashPairs(h, picks)
	if !withValues {
		fields := make([]resp.Reply, len(picks))
		for i := range fields {
			fields[i] = pairs[2*i]
		}
		return resp.Array(fields...)
	}
	return command.PairedReply(c, pairs)
}

// hashPairs returns the pairs at the positions picks: fields and values alternate. It reads a
// packed hash once, because finding a single position means walking the hash.
func hashPairs(h *store.Hash, picks []int) []resp.Reply {
	pairs := make([]resp.Reply, 0, 2*len(picks))
	if !h.Packed() {
		for _, at := range picks {
			field, value := h.At(at)
			pairs = append(pairs, resp.Bulk(field), resp.Bulk(value))
		}
		return pairs
	}
	all := make([]resp.Reply, 0, 2*h.Len())
	h.Each(func(field, value []byte) bool {
		all = append(all, resp.Bulk(field), resp.Bulk(value))
		return true
	})
	for _, at := range picks {
		pairs = append(pairs, all[2*at], all[2*at+1])
	}
	return pairs
}
