package command

import (
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// valueAs returns the value under e, the zero V for a missing key. ok is false
// when the key holds another type.
func valueAs[V store.Value](e *store.Entry) (v V, ok bool) {
	if e == nil {
		return v, true
	}
	v, ok = e.Value().(V)
	return v, ok
}

func asString(e *store.Entry) (*store.String, bool) { return valueAs[*store.String](e) }
func asHash(e *store.Entry) (*store.Hash, bool)     { return valueAs[*store.Hash](e) }
func asList(e *store.Entry) (*store.List, bool)     { return valueAs[*store.List](e) }
func asSet(e *store.Entry) (*store.Set, bool)       { return valueAs[*store.Set](e) }
func asZSet(e *store.Entry) (*store.ZSet, bool)     { return valueAs[*store.ZSet](e) }

// announceWrite announces a change of v, and stores v first when e is nil: the
// key is new.
func announceWrite(c *Ctx, key []byte, e *store.Entry, v store.Value, class Class, event string) {
	if e == nil {
		c.Notify(class, event, c.DB.Set(key, v).Key())
		return
	}
	c.Changed(class, event, e)
}

// storeResult puts what a command has made under key, whatever is there, and
// answers its size; an empty result deletes the key.
func storeResult(c *Ctx, key []byte, v store.Value, size int, class Class, event string) resp.Reply {
	if size > 0 {
		c.Notify(class, event, c.DB.Set(key, v).Key())
	} else if e := c.DB.LookupWrite(key); e != nil {
		c.Remove(e)
	}
	return resp.Int(int64(size))
}

// pairedReply is an array of members with their scores, or of fields with their
// values, given in turn. RESP3 pairs them.
func pairedReply(c *Ctx, flat []resp.Reply) resp.Reply {
	if c.Proto < 3 {
		return resp.Array(flat...)
	}
	return pairsReply(flat)
}

// pairsReply is an array of arrays of two.
func pairsReply(flat []resp.Reply) resp.Reply {
	pairs := make([]resp.Reply, len(flat)/2)
	for i := range pairs {
		pairs[i] = resp.Array(flat[2*i : 2*i+2]...)
	}
	return resp.Array(pairs...)
}
