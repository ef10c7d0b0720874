package hash

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errHashNotInt   = resp.Error("ERR hash value is not an integer")
	errHashNotFloat = resp.Error("ERR hash value is not a float")
	errIncrNaNOrInf = resp.Error("ERR value is NaN or Infinity")
)

// readHash looks up a hash for reading. The hash is nil when the key is missing. ok is false
// when the key holds another type.
func readHash(c *command.Ctx, key []byte) (h *store.Hash, ok bool) {
	return command.As[*store.Hash](c.DB.Lookup(key))
}

// hashWrite is a hash that a command writes to: the hash of the key, or a new hash that done
// stores.
type hashWrite struct {
	*store.Hash
	entry *store.Entry // nil: the key is missing
}

// writeHash looks up a hash for writing. ok is false when the key holds another type.
func writeHash(c *command.Ctx, key []byte) (w hashWrite, ok bool) {
	w.entry = c.DB.LookupWrite(key)
	if w.Hash, ok = command.As[*store.Hash](w.entry); ok && w.entry == nil {
		w.Hash = new(store.Hash)
	}
	return w, ok
}

// done says the change of the fields that elems names. If the key was missing, it first stores
// the hash.
func (w hashWrite) done(c *command.Ctx, key []byte, event string, count int64, elems command.Elems) {
	c.Put(key, w.entry, w.Hash, command.HashClass, event, count, elems)
}

func hset(c *command.Ctx, args resp.Args) resp.Reply {
	added, failure := hashSetPairs(c, args)
	if failure.IsError() {
		return failure
	}
	return resp.Int(added)
}

func hmset(c *command.Ctx, args resp.Args) resp.Reply {
	if _, failure := hashSetPairs(c, args); failure.IsError() {
		return failure
	}
	return resp.OK
}

// hashSetPairs sets the fields of HSET and HMSET and returns the number of new fields.
func hashSetPairs(c *command.Ctx, args resp.Args) (added int64, failure resp.Reply) {
	if len(args)%2 != 0 {
		return 0, resp.ErrArity(c.Cmd.Name)
	}
	h, ok := writeHash(c, args[1])
	if !ok {
		return 0, resp.ErrWrongType
	}
	lim := &c.Space.Limits
	h.FitArguments(args[2:], lim)
	for i := 2; i < len(args); i += 2 {
		if h.Set(args[i], args[i+1], lim) {
			added++
		}
	}
	h.done(c, args[1], "hset", int64(len(args)/2-1), command.Came(args[2:], 2, added))
	return added, resp.NoReply
}

func hsetnx(c *command.Ctx, args resp.Args) resp.Reply {
	h, ok := writeHash(c, args[1])
	switch {
	case !ok:
		return resp.ErrWrongType
	case h.Has(args[2]):
		return resp.Int(0)
	}
	h.Set(args[2], args[3], &c.Space.Limits)
	h.done(c, args[1], "hset", 1, command.Came(args[2:3], 1, 1))
	return resp.Int(1)
}

func hget(c *command.Ctx, args resp.Args) resp.Reply {
	h, ok := readHash(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	return hashValue(h, args[2])
}

func hmget(c *command.Ctx, args resp.Args) resp.Reply {
	h, ok := readHash(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	values := make([]resp.Reply, len(args)-2)
	for i, field := range args[2:] {
		values[i] = hashValue(h, field)
	}
	return resp.Array(values...)
}

// hashValue returns the value of a field, nil if h is nil or has no such field.
func hashValue(h *store.Hash, field []byte) resp.Reply {
	if h != nil {
		if value, ok := h.Get(field); ok {
			return resp.Bulk(value)
		}
	}
	return resp.Nil
}

func hexists(c *command.Ctx, args resp.Args) resp.Reply {
	h, ok := readHash(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	return resp.Flag(h != nil && h.Has(args[2]))
}

func hstrlen(c *command.Ctx, args resp.Args) resp.Reply {
	h, ok := readHash(c, args[1])
	if !ok {
		return resp.ErrWrongType
	}
	return resp.Int(int64(len(hashValue(h, args[2]).Text())))
}

func hlen(c *command.Ctx, args resp.Args) resp.Reply {
	h, reply := command.Reading[*store.Hash](c, args[1], resp.Int(0))
	if h == nil {
		return reply
	}
	return resp.Int(int64(h.Len()))
}

func hdel(c *command.Ctx, args resp.Args) resp.Reply {
	return command.RemoveElems(c, args, command.HashClass, "hdel", (*store.Hash).Delete)
}

func hgetall(c *command.Ctx, args resp.Args) resp.Reply {
	h, reply := command.Reading[*store.Hash](c, args[1], resp.Map())
	if h == nil {
		return reply
	}
	pairs := make([]resp.Reply, 0, 2*h.Len())
	h.Each(func(field, value []byte) bool {
		pairs = append(pairs, resp.Bulk(field), resp.Bulk(value))
		return true
	})
	return resp.Map(pairs...)
}

func hkeys(c *command.Ctx, args resp.Args) resp.Reply {
	return hashColumn(c, args, func(field, _ []byte) []byte { return field })
}

func hvals(c *command.Ctx, args resp.Args) resp.Reply {
	return hashColumn(c, args, func(_, value []byte) []byte { return value })
}

// hashColumn replies with the part of each pair that pick returns.
func hashColumn(c *command.Ctx, args resp.Args, pick func(field, value []byte) []byte) resp.Reply {
	h, reply := command.Reading[*store.Hash](c, args[1], resp.EmptyArray)
	if h == nil {
		return reply
	}
	column := make([]resp.Reply, 0, h.Len())
	h.Each(func(field, value []byte) bool {
		column = append(column, resp.Bulk(pick(field, value)))
		return true
	})
	return resp.Array(column...)
}
