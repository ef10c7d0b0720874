package fault

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// faultList runs FAULT.LIST.
func faultList(c *command.Ctx, _ resp.Args) resp.Reply {
	faults := c.Faults().Faults()
	rows := make([]resp.Reply, len(faults))
	for i := range faults {
		f := &faults[i]
		rows[i] = resp.Map(
			resp.BulkString("id"), resp.Int(f.ID),
			resp.BulkString("kind"), resp.BulkString(f.Kind),
			resp.BulkString("command"), resp.BulkString(f.Command),
			resp.BulkString("key"), resp.BulkString(f.Key),
			resp.BulkString("client"), resp.BulkString(f.Client),
			resp.BulkString("script"), resp.BulkString(f.SHA),
			resp.BulkString("contains"), resp.BulkString(f.Source),
			resp.BulkString("channel"), resp.BulkString(f.Channel),
			resp.BulkString("nth"), resp.Int(int64(f.Nth)),
			resp.BulkString("times"), resp.Int(int64(f.Times)),
			resp.BulkString("for"), resp.Int(f.For.Milliseconds()),
			resp.BulkString("error"), resp.BulkString(f.Error),
			resp.BulkString("hits"), resp.Int(int64(f.Hits)),
			resp.BulkString("held"), resp.Int(int64(f.Held)))
	}
	return resp.Array(rows...)
}

// faultRelease runs FAULT.RELEASE id [count].
func faultRelease(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 3 {
		return resp.ErrArity(c.Cmd.Name)
	}
	id, ok := resp.ParseInt(args[1])
	if !ok {
		return resp.ErrNotInt
	}
	most := int64(math.MaxInt64)
	if len(args) == 3 {
		var failure resp.Reply
		if most, failure = command.ParseAtLeast(args[2], 1); failure.IsError() {
			return failure
		}
	}
	n, known := c.Faults().ReleaseFault(id, int(min(most, math.MaxInt)))
	if !known {
		return resp.Errorf("ERR no fault has the id %d", id)
	}
	return resp.Int(int64(n))
}

// faultRemove runs FAULT.REMOVE id.
func faultRemove(c *command.Ctx, args resp.Args) resp.Reply {
	id, ok := resp.ParseInt(args[1])
	switch {
	case !ok:
		return resp.ErrNotInt
	case c.Faults().RemoveFault(id):
		return resp.Int(1)
	}
	return resp.Int(0)
}

// faultClear runs FAULT.CLEAR.
func faultClear(c *command.Ctx, _ resp.Args) resp.Reply {
	return resp.Int(int64(c.Faults().ClearFaults()))
}
