package lock

import (
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

// errProbeInMulti is the reply to a probe that may not wait.
var errProbeInMulti = resp.Error("ERR PROBE is not allowed inside a transaction")

// probeMillis is how long a probe takes without TIMEOUT.
const probeMillis = 200

// probeWakes is how often a probe wakes the threads again that have not asked yet.
const probeWakes = 3

// mostProbeMillis is the longest probe.
const mostProbeMillis = int64(time.Hour / time.Millisecond)

// lockWaiters runs LOCK.WAITERS name [PROBE [TIMEOUT ms]].
func lockWaiters(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) == 2 {
		return waiterRows(c.Inspector.Inside().Waiting(c.DB.ID(), args.String(1)))
	}
	if !command.IsWord(args[2], "probe") || len(args) != 3 && len(args) != 5 ||
		len(args) == 5 && !command.IsWord(args[3], "timeout") {
		return resp.ErrSyntax
	}
	timeout := int64(probeMillis)
	if len(args) == 5 {
		var failure resp.Reply
		if timeout, failure = command.ParseTimeoutMillis(args[4]); failure.IsError() {
			return failure
		}
	}
	if c.DenyBlocking() {
		return errProbeInMulti
	}
	probe(c, args.String(1), time.Duration(min(timeout, mostProbeMillis))*time.Millisecond)
	return resp.NoReply
}

// probe has c's client wait for the end of a probe. The time is the machine's: the threads that are woken
// do not know the server's clock.
func probe(c *command.Ctx, name string, timeout time.Duration) {
	p := &command.Parked{Session: c.Session, Cmd: c.Cmd, DB: c.DB.ID(), OnTimeout: resp.Nil} // CLIENT UNBLOCK
	inspector, parking := c.Inspector, c.Parking
	parking.Park(p)
	begun := inspector.Inside().Probe(p.DB, name)
	for i := range time.Duration(probeWakes) {
		c.Server.After(timeout*(i+1)/(probeWakes+1), func() {
			inspector.Enter(func(v inspect.View) {
				if p.Session.Parked == p {
					begun.Again(v)
				}
			})
		})
	}
	c.Server.After(timeout, func() {
		inspector.Enter(func(v inspect.View) {
			askers := begun.End(v)
			if p.Session.Parked == p {
				parking.Unpark(p.Session, waiterRows(askers))
			}
		})
	})
}

func waiterRows(askers []inspect.Asker) resp.Reply {
	rows := make([]resp.Reply, len(askers))
	for i := range askers {
		a := &askers[i]
		waits := int64(0)
		if a.Waits {
			waits = 1
		}
		rows[i] = resp.Map(append([]resp.Reply{
			resp.BulkString("owner"), resp.BulkString(a.Owner),
			resp.BulkString("kind"), resp.BulkString(string(a.Kind)),
			resp.BulkString("mode"), resp.BulkString(string(a.Mode)),
			resp.BulkString("since"), orUnknown(a.Since),
			resp.BulkString("asks"), orUnknown(a.Asks),
			resp.BulkString("waits"), resp.Int(waits),
		}, clientFields(a.By)...)...)
	}
	return resp.Array(rows...)
}

// orUnknown returns a number. 0 means unknown: the reply is -1.
func orUnknown(n int64) resp.Reply {
	if n == 0 {
		n = -1
	}
	return resp.Int(n)
}
