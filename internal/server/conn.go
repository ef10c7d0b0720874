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
	received int64     // bytes that INFO does not count yet
	next     resp.Args // the parsed command, if have
	have     bool
	failure  error // of a malformed frame
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
		idle = c.server.cfg.Timeout.Load() > 0 && c.session.State() == command.Ready && !c.session.Subscribed()
	})
	return idle
}

// execute has the engine run the complete commands that are buffered. It reports
// whether the connection stays open, or that another goroutine has replaced this
// one, see engine.Caller. While the server drains, an idle connection does not stay
// open, see Drain.
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

// hasMore reports whether a command is buffered, or the client has sent more bytes. A
// command can be buffered behind a blocking one that was answered since executeBuffered
// returned.
func (c *conn) hasMore() bool { return c.parse() || c.failure != nil || c.link.readAvailable() }

func (c *conn) executeBuffered(caller *engine.Caller) (open, replaced bool) {
	for turn := true; c.ready(turn) && c.parse(); turn = false {
		if c.server.engine.Run(caller, &c.session, c) {
			return false, true
		}
	}
	if c.have {
		c.Unread()
	}
	c.next = nil // it may be large
	if c.failure != nil {
		c.refuseFrame()
		return false, false
	}
	if limit := c.server.cfg.QueryBufferLimit.Load(); int64(c.reader.Buffered()) > limit {
		c.server.log.Warn("closing client that reached the max query buffer length", "client", c.session.ID, "bytes", c.reader.Buffered())
		return false, false
	}
	return c.session.State().Live() && !c.out.dead(), false
}

// ready reports whether the session may run its next command. A session that is
// Held offers its command once at each turn.
func (c *conn) ready(turn bool) bool {
	state := c.session.State()
	return state == command.Ready || state == command.Held && turn
}

// locked reports whether the client has yet to give the password.
func (c *conn) locked() bool {
	return !c.session.Authenticated.Load() && c.server.cfg.HasPassword.Load()
}

// Next returns the next complete command.
func (c *conn) Next() (resp.Args, bool) {
	ok := c.parse()
	c.have = false
	return c.next, ok
}

// Unread makes Next return the last command again.
func (c *conn) Unread() {
	c.reader.Unread()
	c.have = false
}

// Received returns how many bytes have arrived since the last call.
func (c *conn) Received() (n int64) {
	n, c.received = c.received, 0
	return n
}

// parse makes sure that next is the next complete command. The first command of a
// batch is parsed before the engine's lock is taken.
func (c *conn) parse() bool {
	if c.have || c.failure != nil {
		return c.have
	}
	limits := resp.Limits{MaxBulk: c.server.cfg.ProtoMaxBulkLen.Load(), Unauthenticated: c.locked()}
	c.next, c.have, c.failure = c.reader.Next(limits)
	return c.have
}

// refuseFrame answers a malformed frame before the connection is closed, unless
// CLIENT REPLY silences that.
func (c *conn) refuseFrame() {
	c.server.engine.Do(&engine.Caller{}, func() {
		if c.session.ReplyMode != command.ReplyOn {
			return
		}
		c.Write(resp.Append(nil, resp.Error("ERR "+c.failure.Error()), c.session.Proto))
	})
	c.Flush()
}

// Write queues bytes. It is called inside the engine.
func (c *conn) Write(encoded []byte) bool {
	c.server.engine.Env().Stats.NetOut += int64(len(encoded))
	first, size, ok := c.out.append(encoded)
	if first {
		c.server.engine.WantsFlush(c)
	}
	if !within(c.outputLimit(), int64(size)) {
		c.enforceOutputLimit()
	}
	return ok
}

// Flush writes what is queued as far as the socket takes it.
func (c *conn) Flush() { c.out.flush() }

// Kill ends the connection without its last replies.
func (c *conn) Kill() {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	c.link.kill()
}

// Wake has the link run the buffered commands.
func (c *conn) Wake() {
	c.wake.set()
	c.link.interrupt()
}

// Sizes returns the bytes in the query buffer, free there, and queued for
// output.
func (c *conn) Sizes() (query, queryFree, output int) {
	return 0, 0, c.out.size()
}

// forget takes the connection off the server's list.
func (c *conn) forget() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	delete(c.server.conns, c)
	c.server.checkDrained()
}

// leave has the engine forget the session.
func (c *conn) leave() {
	c.server.engine.Do(&engine.Caller{}, func() { c.server.engine.Leave(&c.session) })
}
