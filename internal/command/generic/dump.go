package generic

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/resp"
)

var (
	errBusyKey     = resp.Error("BUSYKEY Target key name already exists.")
	errIdleTime    = resp.Error("ERR Invalid IDLETIME value, must be >= 0")
	errFreq        = resp.Error("ERR Invalid FREQ value, must be >= 0 and <= 255")
	errRestoreTTL  = resp.Error("ERR Invalid TTL value, must be >= 0")
	errDumpPayload = resp.Error("ERR Bad data format")
)

func dump(c *command.Ctx, args resp.Args) resp.Reply {
	e := c.DB.Lookup(args[1])
	if e == nil {
		return resp.Nil
	}
	return resp.Bulk(command.PayloadEncoder(c).Dump(e.Value()))
}

// restoreOptions are the options of RESTORE. idle is in seconds, -1 when it is not given.
type restoreOptions struct {
	replace, absolute bool
	idle, freq        int64
}

func parseRestore(args resp.Args) (o restoreOptions, failure resp.Reply) {
	o.idle, o.freq = -1, -1
	for i := 4; i < len(args); i++ {
		more := i+1 < len(args)
		ok := true
		switch {
		case command.IsWord(args[i], "replace"):
			o.replace = true
		case command.IsWord(args[i], "absttl"):
			o.absolute = true
		case command.IsWord(args[i], "idletime") && more && o.freq == -1:
			i++
			if o.idle, ok = resp.ParseInt(args[i]); !ok {
				return o, resp.ErrNotInt
			}
			if o.idle < 0 {
				return o, errIdleTime
			}
		case command.IsWord(args[i], "freq") && more && o.idle == -1:
			i++
			if o.freq, ok = resp.ParseInt(args[i]); !ok {
				return o, resp.ErrNotInt
			}
			if o.freq < 0 || o.freq > 255 {
				return o, errFreq
			}
		default:
			return o, resp.ErrSyntax
		}
	}
	return o, resp.NoReply
}

// restore creates a key from a payload of DUMP. Nothing changes after an error.
//
// Differs from Redis: the payload is always checked as with sanitize-dump-payload yes.
func restore(c *command.Ctx, args resp.Args) resp.Reply {
	o, failure := parseRestore(args)
	if failure.IsError() {
		return failure
	}
	key := args[1]
	if !o.replace && c.DB.LookupWrite(key) != nil {
		return errBusyKey
	}
	ttl, ok := resp.ParseInt(args[2])
	switch {
	case !ok:
		return resp.ErrNotInt
	case ttl < 0:
		return errRestoreTTL
	case rdb.Verify(args[3], command.PayloadAccepts(c)) != nil:
		return command.ErrDumpFoot
	}
	v, err := rdb.Restore(args[3], command.PayloadAccepts(c), &c.Space.Limits)
	if err != nil {
		return errDumpPayload
	}
	if ttl != 0 && !o.absolute {
		ttl += c.Now()
	}
	if ttl != 0 && ttl <= c.Space.Due {
		if e := c.DB.Peek(key); e != nil {
			c.Delete(e, c.Space.Lazyfree.ServerDel, 1)
		}
		return resp.OK
	}
	e := replace(c, c.DB, key, v, ttl)
	if o.idle >= 0 {
		c.Space.SetIdle(e, o.idle)
	}
	if o.freq >= 0 {
		c.Space.SetFrequency(e, o.freq)
	}
	if c.Cmd.Name == "restore-asking" {
		c.Arrived(e)
	} else {
		c.Change(e, command.Generic, "restore", 1)
	}
	return resp.OK
}
