package stream

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errXclaimIdle     = resp.Error("ERR Invalid min-idle-time argument for XCLAIM")
	errXclaimOptIdle  = resp.Error("ERR Invalid IDLE option argument for XCLAIM")
	errXclaimTime     = resp.Error("ERR Invalid TIME option argument for XCLAIM")
	errXclaimRetry    = resp.Error("ERR Invalid RETRYCOUNT option argument for XCLAIM")
	errXautoclaimIdle = resp.Error("ERR Invalid min-idle-time argument for XAUTOCLAIM")
	errClaimCount     = resp.Error("ERR COUNT must be > 0")
	errClaimMemory    = resp.Error("ERR Insufficient memory, failed allocating transient memory, " +
		"COUNT too high.")
)

// claim is a consumer that takes over pending entries, for XCLAIM and XAUTOCLAIM.
type claim struct {
	minIdle   int64 // ms; 0: any
	delivered int64 // the new time of delivery, in Unix ms
	retries   int64 // RETRYCOUNT; -1: count one more delivery
	force     bool  // claim entries that are not pending
	justID    bool

	key      *store.Entry
	s        *store.Stream
	g        *store.StreamGroup
	name     []byte                // of the consumer
	consumer *store.StreamConsumer // nil before the first claimed entry
	replies  streamReplies
	claimed  []resp.Reply
	changes  int64
}

// take claims an entry of the stream. p is nil if the entry is not pending. id is its id, as others
// are told it; nil: as usual.
func (q *claim) take(c *command.Ctx, entry *store.StreamEntry, id []byte, p *store.Pending) {
	switch {
	case p != nil && q.minIdle > 0 && c.Now()-p.Delivered < q.minIdle:
		return
	case p == nil && !q.force:
		return
	}
	if q.consumer == nil {
		q.consumer = seenConsumer(c, q.key, q.g, q.name)
	}
	fresh := p == nil
	p = q.g.Assign(entry.ID, q.consumer)
	if fresh {
		p.Count = 1
	}
	p.Delivered = q.delivered
	switch {
	case q.retries >= 0:
		p.Count = q.retries
	case !q.justID:
		p.Count++
	}
	if q.justID {
		q.claimed = append(q.claimed, q.replies.id(entry.ID))
	} else {
		q.claimed = append(q.claimed, q.replies.entry(entry))
	}
	q.changes++
	tellClaim(c, q.key, q.g, entry.ID, id)
}

// said says what the claim has changed.
func (q *claim) said(c *command.Ctx, event string) {
	if q.changes > 0 {
		c.Change(q.key, command.StreamClass, event, q.changes)
	}
}

func xclaim(c *command.Ctx, args resp.Args) resp.Reply {
	e, s, g, failure := readStreamGroup(c, args)
	if failure.IsError() {
		return failure
	}
	q := claim{key: e, s: s, g: g, name: args[3], retries: -1}
	var ok bool
	if q.minIdle, ok = resp.ParseInt(args[4]); !ok {
		return errXclaimIdle
	}
	var ids []store.StreamID
	for _, arg := range args[5:] {
		id, ok := parseID(arg, idNoSeq)
		if !ok {
			break
		}
		ids = append(ids, id)
	}
	last, failure := q.parseOptions(c, args[5+len(ids):])
	if failure.IsError() {
		return failure
	}
	c.DB.Changing(e)
	moved := g.Last.Less(last)
	if moved {
		g.Last = last
	}
	for i, id := range ids {
		p := g.Pending(id)
		if entry, exists := s.Entry(id); exists {
			q.take(c, &entry, args[5+i], p)
		} else if p != nil {
			tellClaim(c, e, g, id, args[5+i])
			g.Acknowledge(id)
			q.changes++
		}
	}
	if moved && q.changes == 0 {
		q.changes++
		tellGroup(c, e, g)
	}
	q.said(c, "xclaim")
	return resp.Array(q.claimed...)
}

// parseOptions parses the options of XCLAIM. last is the id of LASTID, 0-0 without it.
func (q *claim) parseOptions(c *command.Ctx, args resp.Args) (last store.StreamID, failure resp.Reply) {
	now := c.Now()
	q.delivered = -1
	var ok bool
	for i := 0; i < len(args); i++ {
		switch more := i+1 < len(args); {
		case command.IsWord(args[i], "force"):
			q.force = true
		case command.IsWord(args[i], "justid"):
			q.justID = true
		case more && command.IsWord(args[i], "idle"):
			i++
			if q.delivered, ok = resp.ParseInt(args[i]); !ok {
				return last, errXclaimOptIdle
			}
			q.delivered = now - q.delivered
		case more && command.IsWord(args[i], "time"):
			i++
			if q.delivered, ok = resp.ParseInt(args[i]); !ok {
				return last, errXclaimTime
			}
		case more && command.IsWord(args[i], "retrycount"):
			i++
			if q.retries, ok = resp.ParseInt(args[i]); !ok {
				return last, errXclaimRetry
			}
		case more && command.IsWord(args[i], "lastid"):
			i++
			if last, ok = parseID(args[i], idNoSeq); !ok {
				return last, errStreamID
			}
		default:
			return last, resp.Errorf("ERR Unrecognized XCLAIM option '%s'", args[i])
		}
	}
	if q.delivered < 0 || q.delivered > now {
		q.delivered = now
	}
	return last, resp.NoReply
}

func xautoclaim(c *command.Ctx, args resp.Args) resp.Reply {
	e, s, g, noGroup := readStreamGroup(c, args)
	q := claim{key: e, s: s, g: g, name: args[3], retries: -1, delivered: c.Now()}
	var ok bool
	if q.minIdle, ok = resp.ParseInt(args[4]); !ok {
		return errXautoclaimIdle
	}
	from, failure := parseIntervalStart(args[5])
	if failure.IsError() {
		return failure
	}
	count, failure := q.parseAutoOptions(args[6:])
	if failure.IsError() {
		return failure
	}
	switch {
	case noGroup.IsError():
		return noGroup
	case count > autoclaimMost:
		return errClaimMemory
	}
	c.DB.Changing(e)
	next, gone := q.takeFrom(c, from, count)
	deleted := make([]resp.Reply, len(gone))
	for i, id := range gone {
		g.Acknowledge(id)
		deleted[i] = q.replies.id(id)
	}
	q.changes += int64(len(gone))
	q.said(c, "xautoclaim")
	return resp.Array(idReply(next), resp.Array(q.claimed...), resp.Array(deleted...))
}

const (
	autoclaimTries = 10 // pending entries that XAUTOCLAIM visits for each of COUNT
	// autoclaimMost is the largest COUNT for which Redis gets the memory that it reserves
	// for ids: 16 bytes each, of 47 bits of address space.
	autoclaimMost = 1<<43 - 1
)

func (q *claim) parseAutoOptions(args resp.Args) (count int64, failure resp.Reply) {
	const most = math.MaxInt64 / 16
	count = 100
	for i := 0; i < len(args); i++ {
		switch {
		case i+1 < len(args) && command.IsWord(args[i], "count"):
			i++
			var ok bool
			if count, ok = resp.ParseInt(args[i]); !ok || count < 1 || count > most {
				return 0, errClaimCount
			}
		case command.IsWord(args[i], "justid"):
			q.justID = true
		default:
			return 0, resp.ErrSyntax
		}
	}
	return count, resp.NoReply
}

// takeFrom claims the pending entries from an id on, at most count. next is the id of the
// first pending entry that it did not visit, 0-0 if it visited all. gone are the ids of
// entries that no longer exist; they count, too.
func (q *claim) takeFrom(
	c *command.Ctx, from store.StreamID, count int64,
) (next store.StreamID, gone []store.StreamID) {
	tries := count * autoclaimTries
	q.g.Each(from, func(id store.StreamID, p *store.Pending) bool {
		if tries == 0 || int64(len(q.claimed)+len(gone)) == count {
			next = id
			return false
		}
		tries--
		if entry, exists := q.s.Entry(id); exists {
			q.take(c, &entry, nil, p)
		} else {
			gone = append(gone, id)
			tellClaim(c, q.key, q.g, id, nil)
		}
		return true
	})
	return next, gone
}
