package server

import (
	"net"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/resp"
)

// conn is one connection: the session's command.Conn and the engine's Source of
// its commands. Three owners share it. The link's goroutine owns the reader and
// the fields below it, and lends them to the engine during Run. The engine's lock
// guards the session. The output has a lock of its own.
type conn struct {
	server  *Server
	link    link
	session command.Session
	out     output
	wake    wake

	reader   resp.Reader
	received int64     // bytes that the engine has not counted yet, see Received
	next     resp.Args // the parsed command, valid if hasNext
	hasNext  bool
	failure  error // not nil after a malformed frame
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{server: s}
	if c.link = s.loopLink(c, nc); c.link == nil {
		c.link = newOwnGoroutine(c, nc)
	}
	c.out.init(c)
	c.session.Conn = c
	c.session.FD = int(s.fds.Add(1)) + 7
	describeAddr(&c.session, nc)
	c.wake.pending = &s.wakes
	return c
}

// idleTooLong reports whether the timeout directive ends this connection. A
// subscriber may be silent, and so may a session that is Waiting or Held.
func (c *conn) idleTooLong() (idle bool) {
	c.server.engine.Do(&engine.Caller{}, func() {
		idle = c.server.cfg.Timeout.Load() > 0 &&
			c.session.State() == command.Ready && !c.session.Subscribed()
	})
	return idle
}

// execute runs the complete commands that are buffered. open reports whether the
// connection stays open. While the server drains, an idle connection does not stay
// open, see Drain. replaced reports that another goroutine has taken over this one's
// work, see engine.Caller: this goroutine must not use the connection any more.
func (c *conn) execute(caller *engine.Caller) (open, replaced bool) {
	open, replaced = c.executeBuffered(caller)
	for open && !replaced && c.server.draining.Load() && c.ready(false) {
		if !c.hasMore() {
			return false, false
		}
		open, replaced = c.executeBuffered(caller)
	}
	return open, replaced
}

// hasMore reports whether a command or a malformed frame is buffered, or the client has
// sent more bytes. A command may still be buffered when a blocking command before it was
// answered after executeBuffered returned.
func (c *conn) hasMore() bool { return c.parse() || c.failure != nil || c.link.readAvailable() }

// executeBuffered runs the complete commands that are buffered, batch by batch. It
// returns what execute returns.
func (c *conn) executeBuffered(caller *engine.Caller) (open, replaced bool) {
	for turn := true; c.ready(turn) && c.parse(); turn = false {
		if c.server.engine.Run(caller, &c.session, c) {
			return false, true
		}
	}
	if c.hasNext {
		c.Unread()
	}
	c.next = nil // it may be large
	if c.failure != nil {
		c.refuseFrame()
		return false, false
	}
	if limit := c.server.cfg.QueryBufferLimit.Load(); int64(c.reader.Buffered()) > limit {
		c.server.log.Warn("closing client that reached the max query buffer length",
			"client", c.session.ID, "bytes", c.reader.Buffered())
		return false, false
	}
	return c.session.State().Live() && !c.out.dead(), false
}

// ready reports whether the session may run its next command. turn is true for the
// first batch after a read or a wake-up. A session that is Held offers its command to
// the engine once for each of these.
func (c *conn) ready(turn bool) bool {
	state := c.session.State()
	return state == command.Ready || state == command.Held && turn
}

// needsPassword reports whether the client has not yet authenticated. It reads two
// atomic values, so it needs no lock.
func (c *conn) needsPassword() bool {
	return !c.session.Authenticated.Load() && c.server.engine.AuthRequired()
}

// Next returns the next complete command.
func (c *conn) Next() (resp.Args, bool) {
	ok := c.parse()
	c.hasNext = false
	return c.next, ok
}

// Unread makes Next return the last command again, for example after a pause.
func (c *conn) Unread() {
	c.reader.Unread()
	c.hasNext = false
}

// Received returns how many bytes have arrived since the last call.
func (c *conn) Received() (n int64) {
	n, c.received = c.received, 0
	return n
}

// parse reads the next complete command into next, unless it is there already. It
// reports whether there is one. The first command of a batch is parsed before the
// engine's lock is taken.
func (c *conn) parse() bool {
	if c.hasNext || c.failure != nil {
		return c.hasNext
	}
	limits := resp.Limits{
		MaxBulk:         c.server.cfg.ProtoMaxBulkLen.Load(),
		Unauthenticated: c.needsPassword(),
	}
	c.next, c.hasNext, c.failure = c.reader.Next(limits)
	return c.hasNext
}

// refuseFrame sends the error reply to a malformed frame, unless CLIENT REPLY is OFF or
// SKIP. The caller closes the connection.
func (c *conn) refuseFrame() {
	c.server.engine.Do(&engine.Caller{}, func() {
		if c.session.ReplyMode != command.ReplyOn {
			return
		}
		c.Write(resp.Append(nil, resp.Error("ERR "+c.failure.Error()), c.session.Proto))
	})
	c.Flush()
}

// Write queues bytes and closes a connection that exceeds its output limit. It is
// called inside the engine.
func (c *conn) Write(encoded []byte) bool {
	c.server.engine.AddNetOut(len(encoded))
	first, size, ok := c.out.append(encoded)
	if first {
		c.server.engine.WantsFlush(c)
	}
	if !within(c.outputLimit(), int64(size)) {
		c.enforceOutputLimit()
	}
	return ok
}

// Flush writes the queued bytes as far as the socket takes them.
func (c *conn) Flush() { c.out.flush() }

// Kill closes the connection. Its queued output is lost.
func (c *conn) Kill() {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	c.link.kill()
}

// Wake makes the link run the buffered commands.
func (c *conn) Wake() {
	c.wake.set()
	c.link.interrupt()
}

// Sizes returns the bytes of queued output. The query buffer belongs to the link's
// goroutine, so its sizes are 0.
func (c *conn) Sizes() (query, queryFree, output int) {
	return 0, 0, c.out.size()
}

// forget removes the connection from the server's list.
func (c *conn) forget() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	delete(c.server.conns, c)
	c.server.checkDrained()
}

// leave removes the session from the engine.
func (c *conn) leave() {
	c.server.engine.Do(&engine.Caller{}, func() { c.server.engine.LeaveUnread(&c.session, c) })
}
