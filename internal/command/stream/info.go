package stream

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// infoStream looks up the stream of an XINFO command.
func infoStream(c *command.Ctx, args resp.Args) (s *store.Stream, failure resp.Reply) {
	s, ok := readStream(c, args[2])
	switch {
	case !ok:
		return nil, resp.ErrWrongType
	case s == nil:
		return nil, resp.ErrNoKey
	}
	return s, resp.NoReply
}

func xinfoStream(c *command.Ctx, args resp.Args) resp.Reply {
	s, failure := infoStream(c, args)
	if failure.IsError() {
		return failure
	}
	full, count := len(args) > 3, int64(10)
	switch {
	case !full:
	case len(args) != 4 && len(args) != 6, !command.IsWord(args[3], "full"),
		len(args) == 6 && !command.IsWord(args[4], "count"):
		return resp.ErrSubcommandSyntax(args.String(1), "xinfo")
	case len(args) == 6:
		n, ok := resp.ParseInt(args[5])
		if !ok {
			return resp.ErrNotInt
		}
		if n >= 0 {
			count = n
		}
	}
	var m command.MapReply
	m.Int("length", s.Len())
	m.Int("radix-tree-keys", s.Chunks())
	m.Int("radix-tree-nodes", s.RadixNodes())
	m.Add("last-generated-id", idReply(s.Last))
	m.Add("max-deleted-entry-id", idReply(s.MaxDeleted))
	m.Add("entries-added", resp.Int(s.Added))
	m.Add("recorded-first-entry-id", idReply(s.First()))
	var r streamReplies
	if full {
		m.Add("entries", r.entries(s, store.StreamID{}, store.MaxStreamID, count, false, nil))
		groups := make([]resp.Reply, len(s.Groups))
		for i, g := range s.Groups {
			groups[i] = r.group(s, g, count)
		}
		m.Add("groups", resp.Array(groups...))
		return m.Reply()
	}
	m.Int("groups", len(s.Groups))
	m.Add("first-entry", r.edge(s, false))
	m.Add("last-entry", r.edge(s, true))
	return m.Reply()
}

// edge returns the first entry, or the last, nil if there is none.
func (r *streamReplies) edge(s *store.Stream, last bool) resp.Reply {
	found := resp.Nil
	s.Range(store.StreamID{}, store.MaxStreamID, last, func(e store.StreamEntry) bool {
		found = r.entry(&e)
		return false
	})
	return found
}

// group returns a group for XINFO STREAM FULL, with at most count pending entries of the
// group and of each consumer; 0: all.
func (r *streamReplies) group(s *store.Stream, g *store.StreamGroup, count int64) resp.Reply {
	var m command.MapReply
	m.Add("name", resp.BulkString(g.Name))
	m.Add("last-delivered-id", idReply(g.Last))
	m.Add("entries-read", readReply(g))
	m.Add("lag", lagReply(s, g))
	m.Int("pel-count", g.Len())
	pending := pendingLines(g.Len(), count)
	g.Each(store.StreamID{}, func(id store.StreamID, p *store.Pending) bool {
		line := r.Array(4)
		line[0], line[1] = r.id(id), resp.BulkString(p.Consumer.Name)
		line[2], line[3] = resp.Int(p.Delivered), resp.Int(p.Count)
		pending = append(pending, resp.Array(line...))
		return count == 0 || int64(len(pending)) < count
	})
	m.Add("pending", resp.Array(pending...))
	var consumers []resp.Reply
	for _, consumer := range g.Consumers() {
		consumers = append(consumers, r.consumer(consumer, count))
	}
	m.Add("consumers", resp.Array(consumers...))
	return m.Reply()
}

// consumer returns a consumer for XINFO STREAM FULL, with at most count pending entries; 0:
// all.
func (r *streamReplies) consumer(consumer *store.StreamConsumer, count int64) resp.Reply {
	var m command.MapReply
	m.Add("name", resp.BulkString(consumer.Name))
	m.Add("seen-time", resp.Int(consumer.Seen))
	m.Int("pel-count", consumer.Len())
	pending := pendingLines(consumer.Len(), count)
	consumer.Each(store.StreamID{}, func(id store.StreamID, p *store.Pending) bool {
		line := r.Array(3)
		line[0], line[1], line[2] = r.id(id), resp.Int(p.Delivered), resp.Int(p.Count)
		pending = append(pending, resp.Array(line...))
		return count == 0 || int64(len(pending)) < count
	})
	m.Add("pending", resp.Array(pending...))
	return m.Reply()
}

// pendingLines returns an empty slice with room for n lines, but not more than count; 0: all.
// A slice that grows line by line leaves more garbage than its own size.
func pendingLines(n int, count int64) []resp.Reply {
	if count > 0 {
		n = int(min(int64(n), count))
	}
	return make([]resp.Reply, 0, n)
}

// readReply returns the group's entries-read, nil if it is unknown.
func readReply(g *store.StreamGroup) resp.Reply {
	if g.Read == store.ReadUnknown {
		return resp.Nil
	}
	return resp.Int(g.Read)
}

// lagReply returns the group's lag, nil if it is unknown.
func lagReply(s *store.Stream, g *store.StreamGroup) resp.Reply {
	if n, ok := s.Lag(g); ok {
		return resp.Int(n)
	}
	return resp.Nil
}

func xinfoGroups(c *command.Ctx, args resp.Args) resp.Reply {
	s, failure := infoStream(c, args)
	if failure.IsError() {
		return failure
	}
	groups := make([]resp.Reply, len(s.Groups))
	for i, g := range s.Groups {
		var m command.MapReply
		m.Add("name", resp.BulkString(g.Name))
		m.Int("consumers", len(g.Consumers()))
		m.Int("pending", g.Len())
		m.Add("last-delivered-id", idReply(g.Last))
		m.Add("entries-read", readReply(g))
		m.Add("lag", lagReply(s, g))
		groups[i] = m.Reply()
	}
	return resp.Array(groups...)
}

func xinfoConsumers(c *command.Ctx, args resp.Args) resp.Reply {
	s, failure := infoStream(c, args)
	if failure.IsError() {
		return failure
	}
	g := s.Groups.Find(args[3])
	if g == nil {
		return errNoGroupOfKey(args[2], args[3])
	}
	var consumers []resp.Reply
	for _, consumer := range g.Consumers() {
		var m command.MapReply
		m.Add("name", resp.BulkString(consumer.Name))
		m.Int("pending", consumer.Len())
		m.Add("idle", resp.Int(max(c.Now()-consumer.Seen, 0)))
		consumers = append(consumers, m.Reply())
	}
	return resp.Array(consumers...)
}
