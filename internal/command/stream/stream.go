package stream

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errXaddZero      = resp.Error("ERR The ID specified in XADD must be greater than 0-0")
	errXaddExhausted = resp.Error("ERR The stream has exhausted the last possible ID, " +
		"unable to add more items")
	errXaddSmall = resp.Error("ERR The ID specified in XADD is equal or smaller than the " +
		"target stream top item")
	errXaddLarge = resp.Error("ERR Elements are too large to be stored")

	errAddedNegative = resp.Error("ERR entries_added must be positive")
	errXsetidGiven   = resp.Error("ERR The ID specified in XSETID is smaller than the provided " +
		"max_deleted_entry_id")
	errXsetidTop = resp.Error("ERR The ID specified in XSETID is smaller than the target stream " +
		"top item")
	errXsetidLength = resp.Error("ERR The entries_added specified in XSETID is smaller than the " +
		"target stream length")
)

// readStream looks up a stream for a command that reads it, nil if the key is missing. ok is
// false when the value has another type.
func readStream(c *command.Ctx, key []byte) (s *store.Stream, ok bool) {
	return command.As[*store.Stream](c.DB.Lookup(key))
}

func xadd(c *command.Ctx, args resp.Args) resp.Reply {
	o, failure := parseXadd(c, args)
	if failure.IsError() {
		return failure
	}
	fields := args[o.next+1:]
	switch {
	case len(fields) < 2 || len(fields)%2 != 0:
		return resp.ErrArity(c.Cmd.Name)
	case o.seqGiven && o.id.IsZero():
		return errXaddZero
	}
	e := c.DB.LookupWrite(args[1])
	s, ok := command.As[*store.Stream](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil && o.noMake:
		return resp.Nil
	case s == nil:
		s = &store.Stream{}
	case s.Last == store.MaxStreamID:
		return errXaddExhausted
	}
	id, failure := o.newID(s.Last, uint64(c.Now()))
	if failure.IsError() {
		return failure
	}
	if !s.Append(id, fields, &c.Space.Limits) {
		return errXaddLarge
	}
	if e == nil {
		e = c.DB.Add(args[1], s)
	}
	c.Change(e, command.StreamClass, "xadd", 1)
	if o.trims && s.Trim(o.trim) > 0 {
		c.Change(e, command.StreamClass, "xtrim", 0)
	}
	return idReply(id)
}

// newID returns the id of a new entry. It fails if the id is not above last. now is in Unix
// ms.
func (o *xaddOptions) newID(
	last store.StreamID, now uint64,
) (id store.StreamID, failure resp.Reply) {
	id = o.id
	switch {
	case !o.idGiven && now > last.MS:
		return store.StreamID{MS: now}, resp.NoReply
	case !o.idGiven:
		id, _ = last.Next()
	case !o.seqGiven && id.MS == last.MS:
		if id, _ = last.Next(); id.MS != last.MS {
			return id, errXaddLarge // as Redis says it
		}
	}
	if !last.Less(id) {
		return id, errXaddSmall
	}
	return id, resp.NoReply
}

func xlen(c *command.Ctx, args resp.Args) resp.Reply {
	s, reply := command.Reading[*store.Stream](c, args[1], resp.Int(0))
	if s == nil {
		return reply
	}
	return resp.Int(int64(s.Len()))
}

func xdel(c *command.Ctx, args resp.Args) resp.Reply {
	e, s, reply := command.Writing[*store.Stream](c, args[1], resp.Int(0))
	if s == nil {
		return reply
	}
	ids, ok := parseIDs(args[2:])
	if !ok {
		return errStreamID
	}
	deleted := int64(0)
	for _, id := range ids {
		if s.Delete(id) {
			deleted++
		}
	}
	if deleted > 0 {
		c.Change(e, command.StreamClass, "xdel", deleted)
	}
	return resp.Int(deleted)
}

func xtrim(c *command.Ctx, args resp.Args) resp.Reply {
	o, failure := parseXtrim(c, args)
	if failure.IsError() {
		return failure
	}
	e, s, reply := command.Writing[*store.Stream](c, args[1], resp.Int(0))
	if s == nil {
		return reply
	}
	removed := s.Trim(o.trim)
	if removed > 0 {
		c.Change(e, command.StreamClass, "xtrim", removed)
	}
	return resp.Int(removed)
}

func xsetid(c *command.Ctx, args resp.Args) resp.Reply {
	id, ok := parseID(args[2], idNoSeq)
	if !ok {
		return errStreamID
	}
	added, maxDeleted := int64(-1), store.StreamID{}
	for i := 3; i < len(args); i += 2 {
		switch more := i+1 < len(args); {
		case more && command.IsWord(args[i], "entriesadded"):
			if added, ok = resp.ParseInt(args[i+1]); !ok {
				return resp.ErrNotInt
			}
			if added < 0 {
				return errAddedNegative
			}
		case more && command.IsWord(args[i], "maxdeletedid"):
			if maxDeleted, ok = parseID(args[i+1], idNoSeq); !ok {
				return errStreamID
			}
			if id.Less(maxDeleted) {
				return errXsetidGiven
			}
		default:
			return resp.ErrSyntax
		}
	}
	e := c.DB.LookupWrite(args[1])
	s, ok := command.As[*store.Stream](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil:
		return resp.ErrNoKey
	case s.Len() > 0 && id.Less(s.LastEntry()):
		return errXsetidTop
	case s.Len() > 0 && added >= 0 && added < int64(s.Len()):
		return errXsetidLength
	}
	s.Last = id
	if added >= 0 {
		s.Added = added
	}
	if !maxDeleted.IsZero() {
		s.MaxDeleted = maxDeleted
	}
	c.Change(e, command.StreamClass, "xsetid", 1)
	return resp.OK
}
