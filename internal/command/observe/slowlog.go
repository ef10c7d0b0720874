package observe

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/slowlog"
	"github.com/lockredis/lockredis/resp"
)

var errSlowlogCount = resp.Error("ERR count should be greater than or equal to -1")

func slowlogGet(c *command.Ctx, args resp.Args) resp.Reply {
	count := int64(10)
	switch len(args) {
	case 2:
	case 3:
		var ok bool
		if count, ok = resp.ParseInt(args[2]); !ok || count < -1 {
			return errSlowlogCount
		}
	default:
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	}
	if count == -1 || count > math.MaxInt32 {
		count = math.MaxInt32
	}
	entries := c.SlowLog.Newest(int(count))
	if c.InScript() {
		return slowEntries(entries)
	}
	return resp.Raw(encodedEntries(entries, c.Proto))
}

// slowEntries shows entries, the last one first.
func slowEntries(entries []slowlog.Entry) resp.Reply {
	shown := make([]resp.Reply, 0, len(entries))
	for i := range entries {
		shown = append(shown, slowEntry(&entries[len(entries)-1-i], nil))
	}
	return resp.Array(shown...)
}

// encodedEntries encodes the reply of slowEntries. It needs no memory for the replies of each
// entry, which would take longer than all the rest.
func encodedEntries(entries []slowlog.Entry, proto int) []byte {
	const usual = 128 // bytes of an entry
	out := make([]byte, 0, usual*len(entries))
	out = resp.Append(out, resp.ArrayHeader(len(entries)), proto)
	var room []resp.Reply
	for i := range entries {
		shown := slowEntry(&entries[len(entries)-1-i], room[:0])
		out = resp.Append(out, shown, proto)
		room = shown.Elems()
	}
	return out
}

// slowEntry shows an entry. Its parts are appended to room.
func slowEntry(e *slowlog.Entry, room []resp.Reply) resp.Reply {
	const fields = 6
	room = append(room, resp.Int(e.ID), resp.Int(e.Unix), resp.Int(e.Micros), resp.NoReply,
		resp.BulkString(e.Addr), resp.BulkString(e.Name))
	for _, a := range e.Args {
		room = append(room, resp.BulkString(a))
	}
	room[3] = resp.Array(room[fields:]...)
	return resp.Array(room[:fields]...)
}

func slowlogLen(c *command.Ctx, _ resp.Args) resp.Reply { return resp.Int(int64(c.SlowLog.Len())) }

func slowlogReset(c *command.Ctx, _ resp.Args) resp.Reply {
	c.SlowLog.Reset()
	return resp.OK
}
