package observe

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var errMonitorDenied = resp.Error("ERR MONITOR isn't allowed for DENY BLOCKING client")

// monitor shows the client all commands from now on. A second MONITOR has no reply,
// as in Redis, and a replica gets its stream only.
func monitor(c *command.Ctx, _ resp.Args) resp.Reply {
	switch {
	case c.DenyBlocking():
		return errMonitorDenied
	case c.Session.Listens:
		return resp.NoReply
	}
	c.Monitors.Add(c.Session)
	return resp.OK
}
