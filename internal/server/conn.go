package server

import (
	"net"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

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
	traffic *traffic // counts the reads and writes of several connections

	reader  resp.Reader
	next    resp.Args // the parsed command, valid if hasNext
	hasNext bool
	failure error // not nil after a malformed frame

	numbered bool // the session's FD is of server.numbers

	// rearmed says that the timeout directive has changed: what the link knows of the client's
	// last activity may be wrong, see lastActive.
	rearmed atomic.Bool

	querySizes atomic.Uint64 // see relax: bytes of the reader, and its size
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{server: s, traffic: &s.traffic[0]}
	if c.link = s.loopLink(c, nc); c.link == nil {
		c.link = newOwnGoroutine(c, nc)
	}
	c.reader.Resized = func(by int) { c.traffic.buffers.Add(int64(by)) }
	c.out.init(c)
	c.session.Conn = c
	c.session.FD = c.descriptor(nc)
	describeAddr(&c.session, nc)
	c.wake.pending = &s.wakes
	return c
}

// descriptor returns the socket's file descriptor. A pipe has none: it gets a number that
// no other open pipe of the server has.
func (c *conn) descriptor(nc net.Conn) int {
	if d, ok := c.link.(interface{ descriptor() int }); ok {
		return d.descriptor()
	}
	if secure, ok := nc.(*tlsConn); ok {
		nc = secure.socket.Conn
	}
	fd := -1
	if sc, ok := nc.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			_ = raw.Control(func(n uintptr) { fd = int(n) }) // fails when the socket is closed
		}
	}
	if fd < 0 {
		fd, c.numbered = c.server.numbers.take(), true
	}
	return fd
}

// idleTooLong reports whether the timeout directive ends this connection. A
// subscriber, a monitor or a replica may be silent, and so may a session that is Waiting or Postponed.
func (c *conn) idleTooLong() (idle bool) {
	c.server.engine.Do(&engine.Caller{}, func() {
		idle = c.server.cfg.Timeout.Load() > 0 && !c.rearmed.Load() &&
			c.session.State() == command.Ready && !c.session.Subs.Any() && !c.session.Listens
	})
	return idle
}

// lastActive returns when the client's last command ran, if the timeout directive has changed
// since the last call.
func (c *conn) lastActive() (at time.Time, changed bool) {
	if !c.rearmed.Load() {
		return at, false
	}
	c.server.engine.Do(&engine.Caller{}, func() {
		c.rearmed.Store(false)
		idle := c.server.clock.Now().UnixMilli() - c.session.LastActive
		at = time.Now().Add(-time.Duration(idle) * time.Millisecond)
	})
	return at, true
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
	limit := c.server.cfg.QueryBufferLimit.Load()
	large := int64(c.reader.Buffered()) > limit // only then, the limits of its parts are asked
	if large && c.reader.Arrived() > limit {    // as in Redis, also if the argument is complete
		return c.refuseQuery(), false
	}
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
	if large && (int64(c.reader.Unparsed()) > limit || int64(c.reader.Buffered()) > max(limit, mostFrame)) {
		return c.refuseQuery(), false
	}
	return c.session.State().Live() && !c.out.broken.Load(), false
}

// mostFrame is how many bytes of a command may arrive, even if client-query-buffer-limit is less. Redis
// limits each argument only.
const mostFrame = 1 << 30

// refuseQuery logs that the client has exceeded client-query-buffer-limit, and returns that the
// connection is not open any more.
func (c *conn) refuseQuery() (open bool) {
	c.server.log.Warn("closing client that reached the max query buffer length",
		"client", c.session.ID, "bytes", c.reader.Buffered())
	return false
}

// ready reports whether the session may run its next command. turn is true for the
// first batch after a read or a wake-up. A session that is Postponed offers its command to
// the engine once for each of these.
func (c *conn) ready(turn bool) bool {
	state := c.session.State()
	return state == command.Ready || state == command.Postponed && turn
}

// needsPassword reports whether the client has not yet authenticated. It reads two
// atomic values, so it needs no lock.
func (c *conn) needsPassword() bool {
	return !c.session.Authenticated.Load() && c.server.engine.Env().Users.AuthRequired()
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
// SKIP, or the client is a replica. The caller closes the connection.
func (c *conn) refuseFrame() {
	c.server.engine.Do(&engine.Caller{}, func() {
		text := "ERR " + c.failure.Error()
		c.server.engine.CountError(text)
		if c.session.ReplyMode != command.ReplyOn {
			return
		}
		c.Write(resp.Append(nil, resp.Error(text), c.session.Proto))
	})
	c.out.Flush()
}

// Write queues bytes and closes a connection that exceeds its output limit. It is
// called inside the engine.
func (c *conn) Write(encoded []byte) bool {
	first, size, ok := c.out.append(encoded)
	if first {
		c.server.engine.WantsFlush(&c.out)
	}
	if uint64(size) > c.server.leastOutput && !within(c.outputLimit(), uint64(size)) {
		c.enforceOutputLimit()
	}
	return ok
}

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

// relax frees the reader's large buffer when nothing is unread, and makes the sizes of the query
// buffer known to other goroutines. The link's goroutine calls it when it has run what was buffered.
func (c *conn) relax() {
	c.reader.Relax()
	sizes := uint64(c.reader.Buffered())<<32 | uint64(c.reader.Size())
	if c.querySizes.Load() != sizes {
		c.querySizes.Store(sizes)
	}
}

// Sizes returns the sizes of the buffers. The query buffer belongs to the link's goroutine,
// which has lent it to the engine if own is true.
func (c *conn) Sizes(own bool) command.Buffers {
	b := c.out.sizes()
	sizes := c.querySizes.Load()
	query, size := int(sizes>>32), int(uint32(sizes))
	if own {
		query, size = c.reader.Filled(), c.reader.Size()
	}
	b.Query, b.QueryFree = query, size-query
	b.Fixed = int(unsafe.Sizeof(*c))
	return b
}

// forget removes the connection from the server's list.
func (c *conn) forget() {
	c.release()
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	delete(c.server.conns, c)
	c.server.checkDrained()
}

// release gives back the number of a connection without a socket.
func (c *conn) release() {
	if c.numbered {
		c.server.numbers.free(c.session.FD)
	}
}

// leave removes the session from the engine.
func (c *conn) leave() {
	c.server.engine.Do(&engine.Caller{}, func() { c.server.engine.LeaveUnread(&c.session, c) })
	tellFreed(c.server.cfg.Freed, c.reader.Size())
	c.traffic.buffers.Add(-int64(c.reader.Memory()))
}
