package stream

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errXgroupKey = resp.Error("ERR The XGROUP subcommand requires the key to exist. Note that " +
		"for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.")
	errBusyGroup    = resp.Error("BUSYGROUP Consumer Group name already exists")
	errReadNegative = resp.Error("ERR value for ENTRIESREAD must be positive or -1")
)

// errNoGroupOfKey is the reply when the stream has no such group.
func errNoGroupOfKey(key, group []byte) resp.Reply {
	return resp.Errorf("NOGROUP No such consumer group '%s' for key name '%s'",
		group, key)
}

// groupOf looks up the stream and the group of an XGROUP command.
func groupOf(c *command.Ctx, args resp.Args) (
	e *store.Entry, s *store.Stream, g *store.StreamGroup, failure resp.Reply,
) {
	e = c.DB.LookupWrite(args[2])
	s, ok := command.As[*store.Stream](e)
	switch {
	case !ok:
		return nil, nil, nil, resp.ErrWrongType
	case s == nil:
		return nil, nil, nil, errXgroupKey
	}
	return e, s, s.Groups.Find(args[3]), resp.NoReply
}

// existingGroup is groupOf for a group that must exist.
func existingGroup(c *command.Ctx, args resp.Args) (
	e *store.Entry, s *store.Stream, g *store.StreamGroup, failure resp.Reply,
) {
	if e, s, g, failure = groupOf(c, args); !failure.IsError() && g == nil {
		failure = errNoGroupOfKey(args[2], args[3])
	}
	return e, s, g, failure
}

// groupOptions are the options of XGROUP CREATE and XGROUP SETID.
type groupOptions struct {
	make bool
	read int64 // ENTRIESREAD, store.ReadUnknown without it
}

// parseGroupOptions parses the options behind the id. mayMake allows MKSTREAM.
func parseGroupOptions(args resp.Args, mayMake bool) (o groupOptions, failure resp.Reply) {
	o.read = store.ReadUnknown
	for i := 5; i < len(args); i++ {
		switch {
		case mayMake && command.IsWord(args[i], "mkstream"):
			o.make = true
		case command.IsWord(args[i], "entriesread") && i+1 < len(args):
			i++
			var ok bool
			if o.read, ok = resp.ParseInt(args[i]); !ok {
				return o, resp.ErrNotInt
			}
			if o.read < 0 && o.read != store.ReadUnknown {
				return o, errReadNegative
			}
		default:
			return o, resp.ErrSubcommandSyntax(args.String(1), "xgroup")
		}
	}
	return o, resp.NoReply
}

func xgroupCreate(c *command.Ctx, args resp.Args) resp.Reply {
	o, failure := parseGroupOptions(args, true)
	if failure.IsError() {
		return failure
	}
	e := c.DB.LookupWrite(args[2])
	s, ok := command.As[*store.Stream](e)
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil && !o.make:
		return errXgroupKey
	case len(args) > 8:
		return resp.ErrSubcommandSyntax(args.String(1), "xgroup")
	}
	last, ok := parseGroupID(args[4], s, parseID)
	if !ok {
		return errStreamID
	}
	if s == nil {
		s = &store.Stream{}
		e = c.DB.Add(args[2], s)
		c.Change(e, command.StreamClass, "mkstream", 0)
	}
	g := s.Groups.Add(args[3])
	if g == nil {
		return errBusyGroup
	}
	g.Last, g.Read = last, o.read
	c.Change(e, command.StreamClass, "xgroup-create", 1)
	return resp.OK
}

// parseGroupID parses an id with parse, or $ for the last id of the stream, which may be nil.
func parseGroupID(
	arg []byte, s *store.Stream, parse func([]byte, uint64) (store.StreamID, bool),
) (id store.StreamID, ok bool) {
	switch {
	case string(arg) != "$":
		return parse(arg, idNoSeq)
	case s == nil:
		return id, true
	}
	return s.Last, true
}

func xgroupSetid(c *command.Ctx, args resp.Args) resp.Reply {
	o, failure := parseGroupOptions(args, false)
	if failure.IsError() {
		return failure
	}
	e, s, g, failure := existingGroup(c, args)
	if failure.IsError() {
		return failure
	}
	if len(args) > 7 {
		return resp.ErrSubcommandSyntax(args.String(1), "xgroup")
	}
	last, ok := parseGroupID(args[4], s, parseAnyID)
	if !ok {
		return errStreamID
	}
	g.Last, g.Read = last, o.read
	c.Change(e, command.StreamClass, "xgroup-setid", 1)
	return resp.OK
}

func xgroupDestroy(c *command.Ctx, args resp.Args) resp.Reply {
	e, s, g, failure := groupOf(c, args)
	if failure.IsError() {
		return failure
	}
	if g == nil {
		return resp.Int(0)
	}
	s.Groups.Remove(args[3])
	c.Change(e, command.StreamClass, "xgroup-destroy", 1)
	return resp.Int(1)
}

func xgroupCreateconsumer(c *command.Ctx, args resp.Args) resp.Reply {
	e, _, g, failure := existingGroup(c, args)
	if failure.IsError() {
		return failure
	}
	if g.AddConsumer(args[4], c.Now()) == nil {
		return resp.Int(0)
	}
	c.Change(e, command.StreamClass, "xgroup-createconsumer", 1)
	return resp.Int(1)
}

func xgroupDelconsumer(c *command.Ctx, args resp.Args) resp.Reply {
	e, _, g, failure := existingGroup(c, args)
	if failure.IsError() {
		return failure
	}
	consumer := g.Consumer(args[4])
	if consumer == nil {
		return resp.Int(0)
	}
	pending := consumer.Len()
	g.RemoveConsumer(consumer)
	c.Change(e, command.StreamClass, "xgroup-delconsumer", 1)
	return resp.Int(int64(pending))
}
