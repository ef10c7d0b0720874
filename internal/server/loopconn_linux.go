package server

import (
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// loopConn is a connection's link to its loop. Its fields but the output's
// belong to the loop's goroutine, or to whoever runs its unit when it is away.
type loopConn struct {
	*conn
	loop *loop
	fd   int

	away     atomic.Bool // another goroutine runs its unit and offers it again
	lastRead time.Time   // kept while the timeout directive is set
	drainEnd time.Time   // until when its last replies may take; zero: open

	// Guarded by the output's lock.
	watched bool   // by epoll
	closed  bool   // fd is no longer ours
	events  uint32 // that epoll is asked for
}

// loopLink returns a link to a loop for nc's socket, which nc itself has no part
// in any more; or nil: nc is no socket, or there are no descriptors left.
func (s *Server) loopLink(c *conn, nc net.Conn) link {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	l := s.nextLoop()
	if l == nil {
		return nil
	}
	fd := -1
	raw.Control(func(old uintptr) {
		// A copy, which the Go runtime does not wait for.
		copied, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, old, syscall.F_DUPFD_CLOEXEC, 0)
		if errno == 0 {
			fd = int(copied)
		}
	})
	if fd < 0 {
		return nil
	}
	nc.Close()
	return &loopConn{conn: c, loop: l, fd: fd, events: syscall.EPOLLIN}
}

func (c *loopConn) start() { c.loop.offer(c) }

func (c *loopConn) refuse(text string) {
	c.write([]byte(text))
	syscall.Close(c.fd)
}

// register has epoll watch c.
func (c *loopConn) register() error {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	for len(c.loop.conns) <= c.fd {
		c.loop.conns = append(c.loop.conns, make([]*loopConn, len(c.loop.conns)+64)...)
	}
	c.loop.conns[c.fd] = c
	c.watched = true
	return c.control(syscall.EPOLL_CTL_ADD)
}

func (c *loopConn) control(op int) error {
	return syscall.EpollCtl(c.loop.epoll, op, c.fd, &syscall.EpollEvent{Events: c.events, Fd: int32(c.fd)})
}

// unwatch has epoll forget c.
func (c *loopConn) unwatch() {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if c.watched {
		c.watched = false
		c.control(syscall.EPOLL_CTL_DEL)
	}
}

// ask has epoll report other events from now on. The output's lock is held.
func (c *loopConn) ask(events uint32) {
	if c.events != events && !c.closed {
		c.events = events
		if c.watched {
			c.control(syscall.EPOLL_CTL_MOD)
		}
	}
}

// ready handles events of c. It reports false when the loop was replaced.
func (c *loopConn) ready(events uint32) bool {
	if c.away.Load() {
		c.unwatch()
		return true
	}
	if events&syscall.EPOLLOUT != 0 {
		c.out.goOn()
	}
	if !c.drainEnd.IsZero() {
		if events&(syscall.EPOLLHUP|syscall.EPOLLERR) != 0 || c.out.empty() {
			c.finish()
		}
		return true
	}
	if events&^syscall.EPOLLOUT == 0 {
		return true
	}
	if c.read() != nil {
		c.end()
		return true
	}
	return c.execute()
}

// goOn looks after a connection that was offered: new, woken, or no longer
// away. It reports false when the loop was replaced.
func (c *loopConn) goOn() bool {
	switch {
	case c.away.Load():
		return true
	case c.closed || !c.drainEnd.IsZero():
		c.wake.abandon() // it was woken after its end
		return true
	case !c.watched && c.register() != nil:
		c.end()
		return true
	}
	c.wake.begin()
	ok := c.execute()
	if ok {
		c.wake.end()
	}
	return ok
}

// read takes what the socket has. No bytes without an error means that there
// were none.
func (c *loopConn) read() error {
	space := c.reader.Space()
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(c.fd), uintptr(unsafe.Pointer(&space[0])), uintptr(len(space)))
	switch {
	case errno == syscall.EAGAIN || errno == syscall.EINTR:
		return nil
	case errno != 0:
		return errno
	case n == 0:
		return io.EOF
	}
	c.reader.Advance(int(n))
	c.received += int64(n)
	if c.server.cfg.Timeout.Load() > 0 {
		c.lastRead = time.Now()
	}
	return nil
}

// readAvailable reads what the socket has, without waiting.
func (c *loopConn) readAvailable() bool {
	before := c.reader.Buffered()
	return c.read() == nil && c.reader.Buffered() > before
}

// execute runs what is buffered. It reports false when the loop was replaced
// meanwhile: then c is offered to it.
func (c *loopConn) execute() bool {
	l := c.loop
	l.unit = c
	open, replaced := c.conn.execute(l.caller)
	if replaced {
		c.away.Store(false)
		l.offer(c)
		return false
	}
	l.unit = nil
	c.reader.Relax()
	if !open {
		c.end()
	}
	return true
}

// end ends the session; the socket lives on until the last replies are written.
func (c *loopConn) end() {
	c.leave()
	c.wake.abandon()
	c.Flush()
	if c.out.empty() {
		c.finish()
		return
	}
	c.loop.draining++
	c.drainEnd = time.Now().Add(drainTime)
	c.out.mu.Lock()
	c.ask(syscall.EPOLLOUT)
	c.out.mu.Unlock()
}

// finish closes the socket.
func (c *loopConn) finish() {
	if !c.drainEnd.IsZero() {
		c.loop.draining--
	}
	c.unwatch()
	c.loop.conns[c.fd] = nil
	c.out.close(func() {
		c.closed = true
		syscall.Close(c.fd)
	})
	c.forget()
	c.server.done.Done()
}

// write writes what the socket takes without waiting.
func (c *loopConn) write(b []byte) (n int, err error) {
	for n < len(b) {
		m, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(c.fd), uintptr(unsafe.Pointer(&b[n])), uintptr(len(b)-n))
		switch errno {
		case 0:
			n += int(m)
		case syscall.EINTR:
		case syscall.EAGAIN:
			return n, nil
		default:
			return n, errno
		}
	}
	return n, nil
}

// wantsMore has the loop write the rest when the socket takes more.
func (c *loopConn) wantsMore() { c.ask(c.events | syscall.EPOLLOUT) }

// hasAll says that there is no rest any more.
func (c *loopConn) hasAll() { c.ask(c.events &^ syscall.EPOLLOUT) }

// interrupt has the loop go on with what c has buffered.
func (c *loopConn) interrupt() { c.loop.offer(c) }

// kill ends the connection: the loop sees its end. The output's lock is held.
func (c *loopConn) kill() {
	if !c.closed {
		syscall.Shutdown(c.fd, syscall.SHUT_RDWR)
	}
}
