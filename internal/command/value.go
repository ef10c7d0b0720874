package command

import (
	"math"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// valueAs returns the value of e. v is the zero V when e is nil, which stands for a missing
// key. ok is false when the value has another type.
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
func asStream(e *store.Entry) (*store.Stream, bool) { return valueAs[*store.Stream](e) }

// pairedReply replies with members and scores, or fields and values, which alternate in
// flat: RESP2 gets flat itself, RESP3 an array of pairs.
func pairedReply(c *Ctx, flat []resp.Reply) resp.Reply {
	if c.Proto < 3 {
		return resp.Array(flat...)
	}
	return pairsReply(flat)
}

// pairsReply is an array of pairs: of arrays with two elements of flat each.
func pairsReply(flat []resp.Reply) resp.Reply {
	pairs := make([]resp.Reply, len(flat)/2)
	for i := range pairs {
		pairs[i] = resp.Array(flat[2*i : 2*i+2]...)
	}
	return resp.Array(pairs...)
}

// mapReply collects the names and values of a map.
type mapReply []resp.Reply

func (m *mapReply) add(name string, value resp.Reply) {
	*m = append(*m, resp.BulkString(name), value)
}

func (m *mapReply) int64(name string, n int64) { m.add(name, resp.Int(n)) }

func (m *mapReply) int(name string, n int)        { m.int64(name, int64(n)) }
func (m *mapReply) double(name string, f float64) { m.add(name, resp.Double(f)) }
func (m mapReply) reply() resp.Reply              { return resp.Map(m...) }

// statusSet returns names as a set of simple strings.
func statusSet(names []string) resp.Reply {
	all := make([]resp.Reply, len(names))
	for i, name := range names {
		all[i] = resp.Status(name)
	}
	return resp.Set(all...)
}

// refcount returns 1, and MaxInt32 for the integers from 0 to 9,999, which Redis shares. It
// does not share them while maxmemory is set and the policy needs the accesses of each key.
//
// Differs from Redis: the present directives decide, not the directives at the time of the SET.
func refcount(c *Ctx, v store.Value) int64 {
	perKey := c.Config.MaxMemory > 0 && c.Config.Eviction.PerKey()
	if s, isString := v.(*store.String); isString && s.IsInt() && !perKey {
		if n, _ := s.Int(); n >= 0 && n < 10000 {
			return math.MaxInt32
		}
	}
	return 1
}
