package generic

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errNoAOF = resp.Error("ERR WAITAOF cannot be used when numlocal is set but " +
		"appendonly is disabled.")
	errLocalRange  = resp.Error("ERR value is out of range, value must between 0 and 1")
	errNotPositive = resp.Error("ERR value is out of range, must be positive")
)

// waitaof waits until replicas have written the client's changes to disk. There are no
// replicas and no append-only file here, so it waits until its timeout.
func waitaof(c *command.Ctx, args resp.Args) resp.Reply {
	local, ok := resp.ParseInt(args[1])
	switch {
	case !ok:
		return resp.ErrNotInt
	case local < 0 || local > 1:
		return errLocalRange
	}
	replicas, ok := resp.ParseInt(args[2])
	if !ok || replicas < 0 {
		return errNotPositive
	}
	timeout, failure := command.ParseTimeoutMillis(args[3])
	switch {
	case failure.IsError():
		return failure
	case local > 0:
		return errNoAOF
	}
	return waitForReplicas(c, replicas, timeout, resp.Array(resp.Int(0), resp.Int(0)))
}

// wait replies 0, because there are no replicas: at once when the client waits for 0
// replicas, else when the timeout ends. A timeout of 0 never ends.
func wait(c *command.Ctx, args resp.Args) resp.Reply {
	replicas, ok := resp.ParseInt(args[1])
	if !ok {
		return resp.ErrNotInt
	}
	timeout, failure := command.ParseTimeoutMillis(args[2])
	if failure.IsError() {
		return failure
	}
	return waitForReplicas(c, replicas, timeout, resp.Int(0))
}

// waitForReplicas makes the client wait for that many replicas. There are none, so the
// timeout ends the wait with the reply none. timeout is in ms; 0: no end.
func waitForReplicas(c *command.Ctx, replicas, timeout int64, none resp.Reply) resp.Reply {
	if replicas <= 0 || c.DenyBlocking() {
		return none
	}
	deadline := int64(0)
	if timeout > 0 && timeout <= math.MaxInt64-c.Now() {
		deadline = c.Now() + timeout
	}
	c.Parking.Park(&command.Parked{
		OnTimeout: none, Deadline: deadline,
		Session: c.Session, Cmd: c.Cmd, DB: c.DB.ID(),
	})
	return resp.NoReply
}
