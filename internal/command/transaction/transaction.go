package transaction

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errMultiNested         = resp.Error("ERR MULTI calls can not be nested")
	errExecWithoutMulti    = resp.Error("ERR EXEC without MULTI")
	errDiscardWithoutMulti = resp.Error("ERR DISCARD without MULTI")
	errWatchInMulti        = resp.Error("ERR WATCH inside MULTI is not allowed")
	errExecAbort           = resp.Error("EXECABORT Transaction discarded because of previous errors.")
)

func multi(c *command.Ctx, _ resp.Args) resp.Reply {
	if c.Session.Multi != nil {
		return errMultiNested
	}
	c.Session.Multi = &command.Transaction{}
	return resp.OK
}

// exec sends the array's header and then each reply at once. A later command may change
// the data that an earlier reply points to. Messages to the same client come between the
// replies, as in Redis.
func exec(c *command.Ctx, _ resp.Args) resp.Reply {
	s := c.Session
	if s.Multi == nil {
		return errExecWithoutMulti
	}
	for _, w := range s.Watched { // an expired key counts as changed
		c.Space.DB(w.DB).Peek([]byte(w.Key))
	}
	t, touched := s.Multi, s.Touched
	command.EndTransaction(c)
	switch {
	case t.Dirty:
		return errExecAbort
	case touched:
		return resp.NilArray
	}
	c.Replies.Send(c, resp.ArrayHeader(len(t.Queue)))
	s.Running = t
	c.Runner.RunQueued(c, t)
	s.Running = nil
	return resp.NoReply
}

func discard(c *command.Ctx, _ resp.Args) resp.Reply {
	if c.Session.Multi == nil {
		return errDiscardWithoutMulti
	}
	command.EndTransaction(c)
	return resp.OK
}

func watch(c *command.Ctx, args resp.Args) resp.Reply {
	if c.Session.Multi != nil {
		return errWatchInMulti
	}
	for _, key := range args[1:] {
		c.DB.Peek(key) // deletes an expired key, so that it is watched as missing
		c.Watcher.Watch(c.Session, c.DB.ID(), key)
	}
	return resp.OK
}

func unwatch(c *command.Ctx, _ resp.Args) resp.Reply {
	c.Watcher.Unwatch(c.Session)
	return resp.OK
}
