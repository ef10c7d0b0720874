package server

import (
	"net"
	"sync/atomic"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/resp"
)

// batch is how many pipelined commands run before others get the lock.
const batch = 64

// conn is one connection. Its link's goroutine owns the reader; the session
// belongs to the engine's lock; the output has a lock of its own.
type conn struct {
	server  *Server
	link    link
	session command.Session
	reader  resp.Reader
	out     output

	received int64 // bytes that INFO does not count yet

	woken    atomic.Bool // Wake asked to go on
	resuming bool        // after Wake, until all that was buffered has run

	// What the unit under way found, see runBatch.
	next    resp.Args
	have    bool // next is to be run
	waiting bool // parked, or held back by CLIENT PAUSE
	failure error
	unit    func() // runBatch, made once
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
	c.unit = c.runBatch
	return c
}

// idleTooLong reports whether the timeout directive ends this connection:
// subscribers and those who wait, for a key or the end of a pause, may be
// silent.
func (c *conn) idleTooLong() (idle bool) {
	c.server.engine.Do(&engine.Caller{}, func() {
		idle = c.server.cfg.Timeout.Load() > 0 && c.session.Parked == nil && !c.session.Held && !c.session.Subscribed()
	})
	return idle
}

// execute runs all complete commands that are buffered. It reports whether the
// connection stays open, or that another goroutine has taken it over. While the server
// drains, an idle connection does not stay open, see Drain.
func (c *conn) execute(caller *engine.Caller) (open, replaced bool) {
	open, replaced = c.executeBuffered(caller)
	for open && !replaced && c.server.draining.Load() && !c.waiting && c.idle() {
		if !c.link.readAvailable() {
			return false, false
		}
		open, replaced = c.executeBuffered(caller)
	}
	return open, replaced
}

func (c *conn) executeBuffered(caller *engine.Caller) (open, replaced bool) {
	c.waiting = false
	for !c.session.Closing && !c.waiting && (c.have || c.parse()) {
		if c.server.engine.Do(caller, c.unit) {
			return false, true
		}
	}
	if !c.have {
		c.next = nil // it may be large
	}
	if c.failure != nil {
		c.refuseFrame()
		return false, false
	}
	if limit := c.server.cfg.QueryBufferLimit.Load(); int64(c.reader.Buffered()) > limit {
		c.server.log.Warn("closing client that reached the max query buffer length", "client", c.session.ID, "bytes", c.reader.Buffered())
		return false, false
	}
	return !c.session.Closing && !c.out.dead(), false
}

// locked reports whether the client has to give the password yet.
func (c *conn) locked() bool { return !c.session.Authenticated && c.server.cfg.HasPassword.Load() }

// parse takes the next command from the buffer, without the engine's lock.
func (c *conn) parse() bool {
	if c.failure != nil {
		return false
	}
	limits := resp.Limits{MaxBulk: c.server.cfg.ProtoMaxBulkLen.Load(), Unauthenticated: c.locked()}
	c.next, c.have, c.failure = c.reader.Next(limits)
	return c.have
}

// runBatch runs commands inside the engine: the parsed one and those that
// follow it in the buffer, up to a batch.
func (c *conn) runBatch() {
	c.server.engine.Env().Stats.NetIn += c.received
	c.received = 0
	if c.session.Gone {
		c.have, c.session.Closing = false, true
		return
	}
	if c.session.Parked != nil {
		c.reader.Unread()
		c.have, c.waiting = false, true
		return
	}
	for range batch {
		if !c.server.engine.Execute(&c.session, c.next) {
			c.reader.Unread()
			c.have, c.waiting = false, true
			return
		}
		c.have = false
		if c.session.Parked != nil || c.session.Closing {
			c.waiting = true
			return
		}
		if !c.parse() {
			return
		}
	}
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

// Wake has the link look after the connection, so that the connection goes on with what it has
// buffered.
func (c *conn) Wake() {
	if !c.woken.Swap(true) {
		c.server.wakes.add(1)
	}
	c.link.interrupt()
}

// resumed says that what Wake asked for is done.
func (c *conn) resumed() {
	if c.resuming {
		c.resuming = false
		c.server.wakes.add(-1)
	}
}

// Sizes returns the bytes in the query buffer, free there, and queued for
// output.
func (c *conn) Sizes() (query, queryFree, output int) {
	return 0, 0, c.out.size()
}

// settle says that nothing buffered will run any more.
func (c *conn) settle() {
	c.resumed()
	if c.woken.Swap(false) {
		c.server.wakes.add(-1)
	}
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
