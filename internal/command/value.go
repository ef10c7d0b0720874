package command

import (
	"math"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// As returns the value of e. v is the zero V when e is nil, which stands for a missing
// key. ok is false when the value has another type.
func As[V store.Value](e *store.Entry) (v V, ok bool) {
	if e == nil {
		return v, true
	}
	v, ok = e.Value().(V)
	return v, ok
}

// Reading looks up the value of a key for a command that reads it. v is nil if there is none of
// its type. Then reply is the command's reply: absent if the key is missing, else the error.
func Reading[V store.Value](c *Ctx, key []byte, absent resp.Reply) (v V, reply resp.Reply) {
	e := c.DB.Lookup(key)
	if e == nil {
		return v, absent
	}
	v, ok := e.Value().(V)
	if !ok {
		return v, resp.ErrWrongType
	}
	return v, resp.NoReply
}

// Writing is Reading for a command that changes the value. e is the key's entry, nil if the key is
// missing.
func Writing[V store.Value](
	c *Ctx, key []byte, absent resp.Reply,
) (e *store.Entry, v V, reply resp.Reply) {
	if e = c.DB.LookupWrite(key); e == nil {
		return nil, v, absent
	}
	v, ok := e.Value().(V)
	if !ok {
		return e, v, resp.ErrWrongType
	}
	return e, v, resp.NoReply
}

// RemoveElems runs HDEL, SREM and ZREM: it removes the fields or members that follow the key, and
// replies with how many there were. remove reports whether its element was there.
func RemoveElems[V store.Value](
	c *Ctx, args resp.Args, class Class, event string, remove func(v V, elem []byte) bool,
) resp.Reply {
	e, v, reply := Writing[V](c, args[1], resp.Int(0))
	if e == nil || reply.IsError() {
		return reply
	}
	removed := int64(0)
	for _, elem := range args[2:] {
		if remove(v, elem) {
			removed++
		}
	}
	if removed > 0 {
		c.Change(e, class, event, removed, Went(args[2:]))
	}
	return resp.Int(removed)
}

// PairedReply replies with members and scores, or fields and values, which alternate in
// flat: RESP2 gets flat itself, RESP3 an array of pairs.
func PairedReply(c *Ctx, flat []resp.Reply) resp.Reply {
	if c.Proto < 3 {
		return resp.Array(flat...)
	}
	return PairsReply(flat)
}

// PairsReply is an array of pairs: of arrays with two elements of flat each.
func PairsReply(flat []resp.Reply) resp.Reply {
	pairs := make([]resp.Reply, len(flat)/2)
	for i := range pairs {
		pairs[i] = resp.Array(flat[2*i : 2*i+2]...)
	}
	return resp.Array(pairs...)
}

// MapReply collects the names and values of a map.
type MapReply []resp.Reply

// Add adds a name and its value.
func (m *MapReply) Add(name string, value resp.Reply) {
	*m = append(*m, resp.BulkString(name), value)
}

// Int64 adds an integer.
func (m *MapReply) Int64(name string, n int64) { m.Add(name, resp.Int(n)) }

// Int adds an integer.
func (m *MapReply) Int(name string, n int) { m.Int64(name, int64(n)) }

// Double adds a number with a fraction.
func (m *MapReply) Double(name string, f float64) { m.Add(name, resp.Double(f)) }

// Reply returns the map.
func (m MapReply) Reply() resp.Reply { return resp.Map(m...) }

// StatusSet returns names as a set of simple strings.
func StatusSet(names []string) resp.Reply {
	all := make([]resp.Reply, len(names))
	for i, name := range names {
		all[i] = resp.Status(name)
	}
	return resp.Set(all...)
}

// RefCount returns 1, and MaxInt32 for the integers from 0 to 9,999, which Redis shares. It
// does not share them while maxmemory is set and the policy needs the accesses of each key.
//
// Differs from Redis: the present directives decide, not the directives at the time of the SET.
func RefCount(c *Ctx, v store.Value) int64 {
	perKey := c.Config.MaxMemory > 0 && c.Config.Eviction.PerKey()
	if s, isString := v.(*store.String); isString && s.IsInt() && !perKey {
		if n, _ := s.Int(); n >= 0 && n < 10000 {
			return math.MaxInt32
		}
	}
	return 1
}
