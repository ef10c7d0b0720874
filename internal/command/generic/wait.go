package generic

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errWaitReplica = resp.Error("ERR WAIT cannot be used with replica instances. Please also note that since " +
		"Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are " +
		"just local and are not propagated.")
	errNoAOF = resp.Error("ERR WAITAOF cannot be used when numlocal is set but " +
		"appendonly is disabled.")
	errLocalRange  = resp.Error("ERR value is out of range, value must between 0 and 1")
	errNotPositive = resp.Error("ERR value is out of range, must be positive")
)

// waitaof waits until replicas have written the client's changes to disk. Redis 7.0's replicas do
// not say that they have, and there is no append-only file here: it waits until its timeout.
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
	none := resp.Array(resp.Int(0), resp.Int(0))
	if replicas <= 0 || c.DenyBlocking() {
		return none
	}
	c.Parking.Park(&command.Parked{
		OnTimeout: none, Deadline: deadlineAfter(c, timeout), Session: c.Session, Cmd: c.Cmd, DB: c.DB.ID(),
	})
	return resp.NoReply
}

// wait waits until replicas have what the client has changed. A timeout of 0 never ends.
func wait(c *command.Ctx, args resp.Args) resp.Reply {
	if c.Replicas.Follows() {
		return errWaitReplica
	}
	replicas, ok := resp.ParseInt(args[1])
	if !ok {
		return resp.ErrNotInt
	}
	timeout, failure := command.ParseTimeoutMillis(args[2])
	if failure.IsError() {
		return failure
	}
	have, waits := c.Replicas.Wait(c, replicas, deadlineAfter(c, timeout))
	if waits {
		return resp.NoReply
	}
	return resp.Int(have)
}

// deadlineAfter returns when a timeout ends, in Unix ms; 0: never. timeout is in ms.
func deadlineAfter(c *command.Ctx, timeout int64) int64 {
	if timeout > 0 && timeout <= math.MaxInt64-c.Now() {
		return c.Now() + timeout
	}
	return 0
}
