package stream

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// readStreamGroup looks up a stream and one of its groups for a command that reports a
// missing one. e is nil after a failure.
func readStreamGroup(c *command.Ctx, args resp.Args) (
	e *store.Entry, s *store.Stream, g *store.StreamGroup, failure resp.Reply,
) {
	e = c.DB.Lookup(args[1])
	s, ok := command.As[*store.Stream](e)
	if !ok {
		return nil, nil, nil, resp.ErrWrongType
	}
	if s != nil {
		g = s.Groups.Find(args[2])
	}
	if g == nil {
		return nil, nil, nil, errNoGroup(args[1], args[2], "")
	}
	return e, s, g, resp.NoReply
}

func xack(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.Lookup(args[1])
	s, ok := command.As[*store.Stream](e)
	if !ok {
		return resp.ErrWrongType
	}
	var g *store.StreamGroup
	if s != nil {
		g = s.Groups.Find(args[2])
	}
	if g == nil {
		return resp.Int(0)
	}
	ids, ok := parseIDs(args[3:])
	if !ok {
		return errStreamID
	}
	c.DB.Changing(e)
	acknowledged := int64(0)
	for _, id := range ids {
		if g.Acknowledge(id) {
			acknowledged++
		}
	}
	if acknowledged > 0 {
		c.Change(e, command.StreamClass, "xack", acknowledged)
	}
	return resp.Int(acknowledged)
}

// pendingQuery is the arguments of XPENDING with an interval.
type pendingQuery struct {
	from, to store.StreamID
	count    int64
	minIdle  int64  // ms
	consumer []byte // nil: all consumers
}

func xpending(c *command.Ctx, args resp.Args) resp.Reply {
	var q pendingQuery
	summary := len(args) == 3
	if !summary {
		var failure resp.Reply
		if q, failure = parsePending(args); failure.IsError() {
			return failure
		}
	}
	_, _, g, failure := readStreamGroup(c, args)
	switch {
	case failure.IsError():
		return failure
	case summary:
		return pendingSummary(g)
	}
	return q.run(c, g)
}

func parsePending(args resp.Args) (q pendingQuery, failure resp.Reply) {
	if len(args) < 6 || len(args) > 9 {
		return q, resp.ErrSyntax
	}
	at, ok := 3, false
	if command.IsWord(args[3], "idle") {
		if q.minIdle, ok = resp.ParseInt(args[4]); !ok {
			return q, resp.ErrNotInt
		}
		if len(args) < 8 {
			return q, resp.ErrSyntax
		}
		at += 2
	}
	if q.count, ok = resp.ParseInt(args[at+2]); !ok {
		return q, resp.ErrNotInt
	}
	if q.from, q.to, failure = parseInterval(args[at], args[at+1]); failure.IsError() {
		return q, failure
	}
	if at+3 < len(args) {
		q.consumer = args[at+3]
	}
	return q, resp.NoReply
}

// pendingSummary returns the number of pending entries, their least and greatest id, and the
// number of each consumer.
func pendingSummary(g *store.StreamGroup) resp.Reply {
	if g.Len() == 0 {
		return resp.Array(resp.Int(0), resp.Nil, resp.Nil, resp.NilArray)
	}
	first, last := g.Bounds()
	var consumers []resp.Reply
	for _, consumer := range g.Consumers() {
		if n := consumer.Len(); n > 0 {
			consumers = append(consumers,
				resp.Array(resp.BulkString(consumer.Name), resp.BulkInt(int64(n))))
		}
	}
	return resp.Array(resp.Int(int64(g.Len())), idReply(first), idReply(last),
		resp.Array(consumers...))
}

func (q *pendingQuery) run(c *command.Ctx, g *store.StreamGroup) resp.Reply {
	each := g.Each
	if q.consumer != nil {
		consumer := g.Consumer(q.consumer)
		if consumer == nil {
			return resp.EmptyArray
		}
		each = consumer.Each
	}
	var r streamReplies
	var found []resp.Reply
	if q.count <= 0 {
		return resp.EmptyArray
	}
	each(q.from, func(id store.StreamID, p *store.Pending) bool {
		idle := c.Now() - p.Delivered
		switch {
		case q.to.Less(id):
			return false
		case q.minIdle != 0 && idle < q.minIdle:
			return true
		}
		line := r.Array(4)
		line[0], line[1] = r.id(id), resp.BulkString(p.Consumer.Name)
		line[2], line[3] = resp.Int(max(idle, 0)), resp.Int(p.Count)
		found = append(found, resp.Array(line...))
		return int64(len(found)) < q.count
	})
	return resp.Array(found...)
}
