package scripting

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errNoScript     = resp.Error("NOSCRIPT No matching script. Please use EVAL.")
	errKeysNegative = resp.Error("ERR Number of keys can't be negative")
	errScriptFlush  = resp.Error("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
	errScriptDebug  = resp.Error("ERR Use SCRIPT DEBUG YES/SYNC/NO")
	errNoDebugger   = resp.Error("ERR lockredis has no Lua debugger")
)

// eval is EVAL and EVAL_RO.
func eval(c *command.Ctx, args resp.Args) resp.Reply {
	n, failure, ok := scriptKeys(args)
	if !ok {
		return failure
	}
	s, failure, ok := c.Scripts.Load(args[1])
	if !ok {
		return failure
	}
	return c.Script.Run(c, s, args[3:3+n], args[3+n:])
}

// evalsha is EVALSHA and EVALSHA_RO.
func evalsha(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args[1]) != 40 {
		return errNoScript
	}
	n, failure, ok := scriptKeys(args)
	if !ok {
		return failure
	}
	s, ok := c.Scripts.Lookup(args[1])
	if !ok {
		return errNoScript
	}
	return c.Script.Run(c, s, args[3:3+n], args[3+n:])
}

// scriptKeys parses the number of keys, args[2].
func scriptKeys(args resp.Args) (n int, failure resp.Reply, ok bool) {
	count, isInt := resp.ParseInt(args[2])
	switch {
	case !isInt:
		return 0, resp.ErrNotInt, false
	case count > int64(len(args)-3):
		return 0, resp.ErrTooManyKeys, false
	case count < 0:
		return 0, errKeysNegative, false
	}
	return int(count), failure, true
}

func scriptLoad(c *command.Ctx, args resp.Args) resp.Reply {
	s, failure, ok := c.Scripts.Load(args[2])
	if !ok {
		return failure
	}
	return resp.BulkString(s.SHA())
}

func scriptExists(c *command.Ctx, args resp.Args) resp.Reply {
	found := make([]resp.Reply, 0, len(args)-2)
	for _, sha := range args[2:] {
		_, ok := c.Scripts.Lookup(sha)
		found = append(found, resp.Flag(ok))
	}
	return resp.Array(found...)
}

func scriptFlush(c *command.Ctx, args resp.Args) resp.Reply {
	lazily, ok := command.FlushOption(c, args[2:])
	if !ok {
		return errScriptFlush
	}
	if n := c.Scripts.Len(); lazily {
		c.Space.CountLazyFreed(n, n)
	}
	c.Scripts.Flush()
	return resp.OK
}

// scriptDebug accepts NO and refuses to start a debugger.
func scriptDebug(_ *command.Ctx, args resp.Args) resp.Reply {
	switch {
	case command.IsWord(args[2], "no"):
		return resp.OK
	case command.IsWord(args[2], "yes"), command.IsWord(args[2], "sync"):
		// Differs from Redis: there is no Lua debugger.
		return errNoDebugger
	}
	return errScriptDebug
}

func scriptKill(c *command.Ctx, _ resp.Args) resp.Reply { return c.Script.Kill(false) }

var errNoSuchSource = resp.Error("NOSCRIPT No matching script.")

// scriptShow returns the source of a cached script.
func scriptShow(c *command.Ctx, args resp.Args) resp.Reply {
	s, ok := c.Scripts.Lookup(args[2])
	if !ok {
		return errNoSuchSource
	}
	return resp.BulkString(s.Body())
}
