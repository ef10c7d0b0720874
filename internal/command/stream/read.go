package stream

import (
	"bytes"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/heapsize"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errXreadGroup = resp.Error("ERR The GROUP option is only supported by XREADGROUP. " +
		"You called XREAD instead.")
	errXreadNoack = resp.Error("ERR The NOACK option is only supported by XREADGROUP. " +
		"You called XREAD instead.")
	errXreadNew = resp.Error("ERR The > ID can be specified only when calling XREADGROUP " +
		"using the GROUP <group> <consumer> option.")
	errUnbalanced = resp.Error("ERR Unbalanced XREAD list of streams: for each stream key an ID or " +
		"'$' must be specified.")
	errNoGroupOption = resp.Error("ERR Missing GROUP option for XREADGROUP")
	errXreadgroupTop = resp.Error("ERR The $ ID is meaningless in the context of XREADGROUP: " +
		"you want to read the history of this consumer by specifying a proper ID, or use the > ID " +
		"to get new messages. The $ ID would just return an empty result set.")
	errWaitGroup = resp.Error("NOGROUP the consumer group this client was blocked on no longer exists")
	errWaitKey   = resp.Error("UNBLOCKED the stream key no longer exists")
)

// blockedCount is the largest number of entries in the reply to a client that waited and
// gave no COUNT.
const blockedCount = 1000

// streamRead is the arguments of XREAD and XREADGROUP.
type streamRead struct {
	count    int64 // 0: no limit
	block    bool
	deadline int64 // of BLOCK, in Unix ms; 0: none
	noack    bool
	grouped  bool   // GROUP was given
	group    []byte // nil for XREAD
	consumer []byte
	keys     [][]byte
	ids      [][]byte // as the client gave them, one for each key

	after []store.StreamID // ids, parsed; the greatest id for >
}

func xread(c *command.Ctx, args resp.Args) resp.Reply      { return readStreams(c, args, false) }
func xreadgroup(c *command.Ctx, args resp.Args) resp.Reply { return readStreams(c, args, true) }

func readStreams(c *command.Ctx, args resp.Args, asGroup bool) resp.Reply {
	q, failure := parseStreamRead(c, args, asGroup)
	if failure.IsError() {
		return failure
	}
	groups, failure := q.resolve(c)
	if failure.IsError() {
		return failure
	}
	var found []resp.Reply
	for i, key := range q.keys {
		e := c.DB.Lookup(key)
		if e == nil {
			continue
		}
		s := e.Value().(*store.Stream)
		var reply resp.Reply
		ready := false
		if q.grouped {
			reply, ready = q.readGroup(c, e, s, groups[i], q.after[i])
		} else if s.Len() > 0 && q.after[i].Less(s.LastEntry()) {
			reply, ready = q.entries(s, q.after[i]), true
		}
		if ready {
			found = append(found, resp.Bulk(key), reply)
		}
	}
	switch {
	case len(found) > 0:
		return streamsReply(c, found)
	case !q.block || c.DenyBlocking():
		return resp.NilArray
	}
	return q.park(c)
}

// streamsReply replies with keys and their entries, which alternate in flat: a map in RESP3,
// an array of pairs in RESP2.
func streamsReply(c *command.Ctx, flat []resp.Reply) resp.Reply {
	if c.Proto < 3 {
		return command.PairsReply(flat)
	}
	return resp.Map(flat...)
}

func parseStreamRead(c *command.Ctx, args resp.Args, asGroup bool) (q streamRead, failure resp.Reply) {
	for i := 1; i < len(args); i++ {
		more := len(args) - i - 1
		switch {
		case more > 0 && command.IsWord(args[i], "block"):
			if c.InScript() {
				return q, resp.Errorf("ERR %s command is not allowed with BLOCK option from scripts",
					args[0])
			}
			i++
			if failure = q.parseBlock(c, args[i]); failure.IsError() {
				return q, failure
			}
		case more > 0 && command.IsWord(args[i], "count"):
			i++
			n, ok := resp.ParseInt(args[i])
			if !ok {
				return q, resp.ErrNotInt
			}
			q.count = max(n, 0)
		case more > 0 && command.IsWord(args[i], "streams"):
			return q, q.parseStreams(args[i+1:], asGroup)
		case more > 1 && command.IsWord(args[i], "group"):
			if !asGroup {
				return q, errXreadGroup
			}
			q.grouped, q.group, q.consumer = true, args[i+1], args[i+2]
			i += 2
		case command.IsWord(args[i], "noack"):
			if !asGroup {
				return q, errXreadNoack
			}
			q.noack = true
		default:
			return q, resp.ErrSyntax
		}
	}
	return q, resp.ErrSyntax // without STREAMS
}

func (q *streamRead) parseBlock(c *command.Ctx, arg []byte) resp.Reply {
	millis, failure := command.ParseTimeoutMillis(arg)
	if failure.IsError() {
		return failure
	}
	q.block, q.deadline = true, 0
	if millis > 0 && !command.AddOverflows(millis, c.Now()) {
		q.deadline = c.Now() + millis
	}
	return resp.NoReply
}

// parseStreams parses the keys and ids behind STREAMS.
func (q *streamRead) parseStreams(args resp.Args, asGroup bool) resp.Reply {
	if len(args)%2 != 0 {
		return errUnbalanced
	}
	if asGroup && !q.grouped {
		return errNoGroupOption
	}
	q.keys, q.ids = args[:len(args)/2], args[len(args)/2:]
	return resp.NoReply
}

// resolve sets after, and returns the group of each stream for XREADGROUP.
func (q *streamRead) resolve(c *command.Ctx) (groups []*store.StreamGroup, failure resp.Reply) {
	q.after = make([]store.StreamID, len(q.ids))
	for i, arg := range q.ids {
		s, ok := readStream(c, q.keys[i])
		if !ok {
			return nil, resp.ErrWrongType
		}
		if q.grouped {
			var g *store.StreamGroup
			if s != nil {
				g = s.Groups.Find(q.group)
			}
			if g == nil {
				return nil, errNoGroup(q.keys[i], q.group, " in XREADGROUP with GROUP option")
			}
			groups = append(groups, g)
		}
		switch word := string(arg); {
		case word == "$" && q.grouped:
			return nil, errXreadgroupTop
		case word == "$" && s != nil:
			q.after[i] = s.Last
		case word == "$":
		case word == ">" && !q.grouped:
			return nil, errXreadNew
		case word == ">":
			q.after[i] = store.MaxStreamID
		default:
			if q.after[i], ok = parseID(arg, idNoSeq); !ok {
				return nil, errStreamID
			}
		}
	}
	return groups, resp.NoReply
}

// errNoGroup is the reply when the key or the group is missing.
func errNoGroup(key, group []byte, where string) resp.Reply {
	return resp.Errorf("NOGROUP No such key '%s' or consumer group '%s'%s",
		key, group, where)
}

// entries returns the entries behind after.
func (q *streamRead) entries(s *store.Stream, after store.StreamID) resp.Reply {
	var r streamReplies
	from, _ := after.Next()
	return r.entries(s, from, store.MaxStreamID, q.count, false, nil)
}

// readGroup reads as a consumer of a group: new entries if after is the greatest id, else
// the consumer's pending entries behind after. ready is false if there are no new entries.
func (q *streamRead) readGroup(
	c *command.Ctx, e *store.Entry, s *store.Stream, g *store.StreamGroup, after store.StreamID,
) (reply resp.Reply, ready bool) {
	history := after != store.MaxStreamID
	if !history && (s.Len() == 0 || !g.Last.Less(s.LastEntry())) {
		return resp.NoReply, false
	}
	c.DB.Changing(e)
	consumer := q.reader(c, e, g)
	if history {
		reply = pendingOf(c, s, consumer, after, q.count)
	} else {
		reply = q.deliver(c, e, s, g, consumer)
	}
	c.Change(e, command.StreamClass, "xreadgroup", 1)
	return reply, true
}

// reader returns the consumer that reads. With NOACK no pending entry tells of a new one.
func (q *streamRead) reader(c *command.Ctx, e *store.Entry, g *store.StreamGroup) *store.StreamConsumer {
	if q.noack && g.Consumer(q.consumer) == nil {
		c.Tell([]byte("XGROUP"), []byte("CREATECONSUMER"), []byte(e.Key()), []byte(g.Name), q.consumer)
	}
	return seenConsumer(c, e, g, q.consumer)
}

// seenConsumer returns the consumer of that name, which it adds to the group if it is
// missing.
func seenConsumer(
	c *command.Ctx, e *store.Entry, g *store.StreamGroup, name []byte,
) *store.StreamConsumer {
	if consumer := g.Consumer(name); consumer != nil {
		consumer.Seen = c.Now()
		return consumer
	}
	consumer := g.AddConsumer(name, c.Now())
	c.Change(e, command.StreamClass, "xgroup-createconsumer", 1)
	return consumer
}

// deliver returns the entries that are new to the group. They become pending unless NOACK
// was given.
func (q *streamRead) deliver(
	c *command.Ctx, e *store.Entry, s *store.Stream, g *store.StreamGroup, consumer *store.StreamConsumer,
) resp.Reply {
	var r streamReplies
	from, _ := g.Last.Next()
	reply := r.entries(s, from, store.MaxStreamID, q.count, false, func(id store.StreamID) {
		s.Delivered(g, id)
		if !q.noack {
			g.Deliver(id, consumer, c.Now())
			tellClaim(c, e, g, id, nil)
		}
	})
	if q.noack {
		tellGroup(c, e, g)
	}
	return reply
}

// pendingOf returns the consumer's pending entries behind after, at most count; 0: all. An
// entry that was deleted has the null array in place of its fields.
func pendingOf(
	c *command.Ctx, s *store.Stream, consumer *store.StreamConsumer, after store.StreamID, count int64,
) resp.Reply {
	var r streamReplies
	var found []resp.Reply
	from, _ := after.Next()
	consumer.Each(from, func(id store.StreamID, p *store.Pending) bool {
		if e, ok := s.Entry(id); ok {
			found = append(found, r.entry(&e))
			p.Delivered = c.Now()
			p.Count++
		} else {
			found = append(found, resp.Array(r.id(id), resp.NilArray))
		}
		return count == 0 || int64(len(found)) < count
	})
	return resp.Array(found...)
}

// park makes the client wait for an entry in one of the streams.
func (q *streamRead) park(c *command.Ctx) resp.Reply {
	if q.count == 0 {
		q.count = blockedCount
	}
	keys := command.KeyNames(q.keys)
	w := &streamWait{read: *q, after: make(map[string]store.StreamID, len(keys))}
	w.read.group, w.read.consumer = bytes.Clone(q.group), bytes.Clone(q.consumer)
	for i, key := range keys {
		if _, twice := w.after[key]; !twice {
			w.after[key] = q.after[i]
		}
	}
	w.read.keys, w.read.ids, w.read.after = nil, nil, nil // they alias the arguments
	return command.ParkFor(c, &command.Parked{
		Keys: keys, Deadline: q.deadline, Serve: w.serve, Missing: w.missing(),
		Bytes: int64(heapsize.Map[string, store.StreamID](len(w.after))),
	})
}

// streamWait is an XREAD or XREADGROUP that waits.
type streamWait struct {
	read  streamRead
	after map[string]store.StreamID // by key; of no meaning for XREADGROUP
}

// missing returns the function for a stream that was deleted. It is nil for XREAD, which
// continues to wait.
func (w *streamWait) missing() func(*command.Ctx, []byte) (resp.Reply, bool) {
	if !w.read.grouped {
		return nil
	}
	return func(*command.Ctx, []byte) (resp.Reply, bool) { return errWaitKey, true }
}

// serve replies with the new entries of the stream, if there are any.
func (w *streamWait) serve(c *command.Ctx, key []byte) (reply resp.Reply, served bool) {
	q, e := &w.read, c.DB.Peek(key)
	s, isStream := e.Value().(*store.Stream)
	switch {
	case !isStream && q.grouped:
		return errWaitKey, true
	case !isStream:
		return resp.NoReply, false
	case !q.grouped:
		after := w.after[string(key)]
		if !after.Less(s.Last) {
			return resp.NoReply, false
		}
		return streamsReply(c, []resp.Reply{resp.Bulk(key), q.entries(s, after)}), true
	}
	g := s.Groups.Find(q.group)
	switch {
	case g == nil:
		return errWaitGroup, true
	case !g.Last.Less(s.Last):
		return resp.NoReply, false
	}
	c.DB.Changing(e)
	consumer := q.reader(c, e, g)
	entries := q.deliver(c, e, s, g, consumer)
	c.Change(e, command.StreamClass, "xreadgroup", c.NotServed())
	return streamsReply(c, []resp.Reply{resp.Bulk(key), entries}), true
}

// xreadKeys finds the keys of an XREAD line as Redis does: none if an option before STREAMS is
// unknown, or if there is not an id for each key.
func xreadKeys(line resp.Args) []command.KeyPos {
	for i := 1; i < len(line); i++ {
		switch {
		case command.IsWord(line[i], "block"), command.IsWord(line[i], "count"):
			i++
		case command.IsWord(line[i], "group"):
			i += 2
		case command.IsWord(line[i], "noack"):
		case command.IsWord(line[i], "streams"):
			rest := len(line) - i - 1
			if rest%2 != 0 {
				return nil
			}
			keys := make([]command.KeyPos, rest/2)
			for n := range keys {
				keys[n].At = i + 1 + n
			}
			return keys
		default:
			return nil
		}
	}
	return nil
}
