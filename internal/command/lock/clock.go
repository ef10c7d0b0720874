package lock

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

// clockNow runs CLOCK.NOW. It returns the server's time in Unix ms.
func clockNow(c *command.Ctx, _ resp.Args) resp.Reply { return resp.Int(c.Now()) }

// clockAdvance runs CLOCK.ADVANCE ms [WAKE YES|NO].
func clockAdvance(c *command.Ctx, args resp.Args) resp.Reply {
	by, failure := command.ParseAtLeast(args[1], 0)
	if failure.IsError() {
		return failure
	}
	return turn(c, command.Turn{Kind: command.TurnBy, Millis: by}, args, 2)
}

// clockSet runs CLOCK.SET ms [WAKE YES|NO].
func clockSet(c *command.Ctx, args resp.Args) resp.Reply {
	to, failure := command.ParseAtLeast(args[1], 1)
	if failure.IsError() {
		return failure
	}
	return turn(c, command.Turn{Kind: command.TurnTo, Millis: to}, args, 2)
}

// clockReset runs CLOCK.RESET [WAKE YES|NO].
func clockReset(c *command.Ctx, args resp.Args) resp.Reply {
	return turn(c, command.Turn{Kind: command.TurnReal}, args, 1)
}

// turn turns the clock. The option WAKE may be args[at].
func turn(c *command.Ctx, t command.Turn, args resp.Args, at int) resp.Reply {
	t.Wake, t.Reply = true, turnReply
	if options := args[at:]; len(options) > 0 {
		if len(options) != 2 || !command.IsWord(options[0], "wake") {
			return resp.ErrSyntax
		}
		if t.Wake = command.IsWord(options[1], "yes"); !t.Wake && !command.IsWord(options[1], "no") {
			return resp.ErrSyntax
		}
	}
	return c.Turning.Begin(c, t)
}

func turnReply(now int64, t *inspect.Turned) resp.Reply {
	return resp.Map(
		resp.BulkString("now"), resp.Int(now),
		resp.BulkString("ended"), names(t.Ended),
		resp.BulkString("woken"), resp.Int(int64(t.Woken)))
}

// names returns an array of texts.
func names(list []string) resp.Reply {
	elems := make([]resp.Reply, len(list))
	for i, name := range list {
		elems[i] = resp.BulkString(name)
	}
	return resp.Array(elems...)
}
