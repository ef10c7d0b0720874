package stream

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func xrange(c *command.Ctx, args resp.Args) resp.Reply {
	return rangeOfStream(c, args, args[2], args[3], false)
}

func xrevrange(c *command.Ctx, args resp.Args) resp.Reply {
	return rangeOfStream(c, args, args[3], args[2], true)
}

// rangeOfStream is XRANGE and XREVRANGE.
func rangeOfStream(c *command.Ctx, args resp.Args, first, last []byte, back bool) resp.Reply {
	from, to, failure := parseInterval(first, last)
	if failure.IsError() {
		return failure
	}
	count := int64(-1)
	for i := 4; i < len(args); i += 2 {
		if i+1 == len(args) || !command.IsWord(args[i], "count") {
			return resp.ErrSyntax
		}
		n, ok := resp.ParseInt(args[i+1])
		if !ok {
			return resp.ErrNotInt
		}
		count = max(n, 0)
	}
	s, ok := readStream(c, args[1])
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil:
		return resp.EmptyArray
	case count == 0:
		return resp.NilArray
	}
	var r streamReplies
	return r.entries(s, from, to, max(count, 0), back, nil)
}

// streamReplies makes the replies of the stream commands. The zero value is ready.
type streamReplies struct{ command.ReplyBlocks }

// id returns an id.
func (r *streamReplies) id(id store.StreamID) resp.Reply {
	from := r.Room(41)
	r.Text = id.Append(r.Text)
	return r.Bulk(from)
}

// setText makes a reply of a name or a value. It aliases the stream.
func setText(reply *resp.Reply, t store.StreamText) {
	if n, ok := t.Integer(); ok {
		*reply = resp.BulkInt(n)
		return
	}
	*reply = resp.Bulk(t.Bytes())
}

// entry returns an entry: its id, and its names and values in turn.
func (r *streamReplies) entry(e *store.StreamEntry) resp.Reply {
	parts, i := r.Array(2+2*e.Len()), 2
	e.Fields(func(name, value store.StreamText) {
		setText(&parts[i], name)
		setText(&parts[i+1], value)
		i += 2
	})
	parts[0], parts[1] = r.id(e.ID), resp.Array(parts[2:]...)
	return resp.Array(parts[:2:2]...)
}

// entries returns the entries of an interval, at most count; 0: all. It calls also, which
// may be nil, for each id.
func (r *streamReplies) entries(
	s *store.Stream, from, to store.StreamID, count int64, back bool, also func(store.StreamID),
) resp.Reply {
	const most = 64
	found := make([]resp.Reply, 0, max(min(count, int64(s.Len()), most), 0)) // a loaded length may be negative
	s.Range(from, to, back, func(e store.StreamEntry) bool {
		found = append(found, r.entry(&e))
		if also != nil {
			also(e.ID)
		}
		return count == 0 || int64(len(found)) < count
	})
	return resp.Array(found...)
}

// idReply returns an id.
func idReply(id store.StreamID) resp.Reply { return resp.BulkString(id.String()) }
