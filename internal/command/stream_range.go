package command

import (
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func xrange(c *Ctx, args resp.Args) resp.Reply {
	return rangeOfStream(c, args, args[2], args[3], false)
}

func xrevrange(c *Ctx, args resp.Args) resp.Reply {
	return rangeOfStream(c, args, args[3], args[2], true)
}

// rangeOfStream is XRANGE and XREVRANGE.
func rangeOfStream(c *Ctx, args resp.Args, first, last []byte, back bool) resp.Reply {
	from, to, failure := parseInterval(first, last)
	if failure.IsError() {
		return failure
	}
	count := int64(-1)
	for i := 4; i < len(args); i += 2 {
		if i+1 == len(args) || !isWord(args[i], "count") {
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

// streamReplies makes replies that consist of many small arrays and ids. It allocates them
// in blocks. The zero value is ready.
type streamReplies struct {
	free  []resp.Reply
	block int // the size of the last block
	text  []byte
}

// array returns an array of n elements. The caller fills its elements.
func (r *streamReplies) array(n int) []resp.Reply {
	const most = 1024
	if n > len(r.free) {
		r.block = max(n, min(2*r.block, most))
		r.free = make([]resp.Reply, r.block)
	}
	elems := r.free[:n:n]
	r.free = r.free[n:]
	return elems
}

// id returns an id.
func (r *streamReplies) id(id store.StreamID) resp.Reply {
	const longest, most = 41, 4096
	if cap(r.text)-len(r.text) < longest {
		r.text = make([]byte, 0, min(max(longest, 2*cap(r.text)), most))
	}
	from := len(r.text)
	r.text = id.Append(r.text)
	return resp.Bulk(r.text[from:len(r.text):len(r.text)])
}

// entry returns an entry: its id, and its names and values in turn. They alias the stream.
func (r *streamReplies) entry(e *store.StreamEntry) resp.Reply {
	fields, i := r.array(2*e.Len()), 0
	e.Fields(func(name, value []byte) {
		fields[i], fields[i+1] = resp.Bulk(name), resp.Bulk(value)
		i += 2
	})
	pair := r.array(2)
	pair[0], pair[1] = r.id(e.ID), resp.Array(fields...)
	return resp.Array(pair...)
}

// entries returns the entries of an interval, at most count; 0: all. It calls also, which
// may be nil, for each id.
func (r *streamReplies) entries(
	s *store.Stream, from, to store.StreamID, count int64, back bool, also func(store.StreamID),
) resp.Reply {
	var found []resp.Reply
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
