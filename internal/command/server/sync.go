package server

import (
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// The commands that a replica sends. It says what it is and what it can do, asks for the stream of
// changes, and acknowledges it.

// maxHost is one more than the bytes of an address (Redis: NET_HOST_STR_LEN).
const maxHost = 256

// syncAll is SYNC: it always gets all data.
func syncAll(c *command.Ctx, _ resp.Args) resp.Reply {
	return c.Replicas.Sync(c, command.SyncRequest{ID: "?", Old: true})
}

// psync is PSYNC id offset [FAILOVER].
func psync(c *command.Ctx, args resp.Args) resp.Reply {
	offset, ok := resp.ParseInt(args[2])
	if !ok {
		c.Server.Log("warning", "Replica "+c.Session.Addr+" asks for synchronization but with a wrong offset")
		return resp.ErrNotInt
	}
	return c.Replicas.Sync(c, command.SyncRequest{
		ID: args.String(1), Offset: offset, Failover: len(args) > 3 && command.IsWord(args[3], "failover"),
	})
}

// replconf takes pairs of an option and its value. Acknowledgements have no reply.
//
// Redis 7.0.15: replconfCommand in replication.c.
func replconf(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args)%2 == 0 {
		return resp.ErrSyntax
	}
	r := c.Session.Replica
	if r == nil {
		r = &command.Replica{}
		c.Session.Replica = r
	}
	for i := 1; i < len(args); i += 2 {
		reply, more := replicaOption(c, r, args[i], args[i+1])
		if !more {
			return reply
		}
	}
	return resp.OK
}

// replicaOption applies an option of REPLCONF. If more is false, reply is the command's.
func replicaOption(c *command.Ctx, r *command.Replica, option, value []byte) (reply resp.Reply, more bool) {
	switch strings.ToLower(string(option)) {
	case "listening-port":
		n, ok := resp.ParseInt(value)
		if !ok {
			return resp.ErrNotInt, false
		}
		r.Port = int(n)
	case "ip-address":
		if len(value) >= maxHost {
			return resp.Errorf("ERR REPLCONF ip-address provided by replica instance is too long: %d bytes",
				len(value)), false
		}
		r.IP = string(value)
	case "capa":
		switch {
		case command.IsWord(value, "eof"):
			r.EOF = true
		case command.IsWord(value, "psync2"):
			r.PSync2 = true
		}
	case "ack":
		if offset, ok := resp.ParseInt(value); ok {
			c.Replicas.Acked(c.Session, offset)
		}
		return resp.NoReply, false
	case "getack":
		return resp.NoReply, false // a replica's primary asks it
	case "rdb-only":
		n, ok := resp.ParseInt(value)
		switch {
		case !ok:
			return resp.ErrNotInt, false
		case n < 0 || n > 1:
			return errRDBOnly, false
		}
		r.Once = n == 1
	case "rdb-filter-only":
		return filter(r, value)
	default:
		return resp.Errorf("ERR Unrecognized REPLCONF option: %s", command.CText(option)), false
	}
	return reply, true
}

var errRDBOnly = resp.Error("ERR value is out of range, value must between 0 and 1")

// filter takes what a file is to have of data and functions: the words of value.
func filter(r *command.Replica, value []byte) (reply resp.Reply, more bool) {
	r.Without = command.FileParts{Data: true, Functions: true}
	for word := range strings.FieldsSeq(string(value)) {
		if !strings.EqualFold(word, "functions") {
			return resp.Errorf("ERR Unsupported rdb-filter-only option: %s", command.CText([]byte(word))), false
		}
		r.Without.Functions = false
	}
	return reply, true
}
