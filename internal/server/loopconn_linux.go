package server

import (
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// loopConn is a connection's link to its loop. These are its states:
//
//	       register          end                finish
//	new ------------> open --------> draining -----------> closed
//	                  |  ^
//	     loop.replace |  | runBuffered offers it to the loop
//	                  v  |
//	                  away
//
//	new       start has offered it to the loop; epoll does not watch it yet
//	open      the loop reads from it and runs its commands
//	away      a script keeps the goroutine that runs its commands, and another
//	          goroutine has taken over the loop
//	draining  the session has ended; the last replies are still being written
//	closed    the socket is closed
//
// The flags below are not one state value, because different locks guard them. away is
// set by a goroutine under the engine's lock. drainEnd belongs to the loop. kill and
// awaitWritable read closed and watched, from any goroutine, under the output's lock.
// watched is no state either: epoll may watch a connection that is away.
type loopConn struct {
	*conn
	loop *loop
	fd   int

	// away is the state of that name. It is atomic, because the goroutine that takes
	// over the loop reads it while the other goroutine resets it.
	away atomic.Bool

	// The fields of the loop's goroutine.
	lastRead time.Time // kept while the timeout directive is set
	drainEnd time.Time // in the state draining: closes at this time; zero: not draining

	// The loop's goroutine writes watched and closed, under the output's lock. So it may
	// read them without the lock. Other goroutines hold the lock.
	watched bool   // epoll watches fd
	closed  bool   // the state of that name: fd may belong to another connection now
	events  uint32 // that epoll reports; guarded by the output's lock
}

// loopLink returns a link to a loop for nc's socket, and closes nc: the link has a copy
// of the descriptor. It returns nil, and leaves nc open, when there is no loop, nc is no
// socket, or no file descriptor is free.
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
		// A copy of the descriptor that Go's poller does not watch.
		copied, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, old, syscall.F_DUPFD_CLOEXEC, 0)
		if errno == 0 {
			fd = int(copied)
		}
	})
	if fd < 0 {
		return nil
	}
	nc.Close()
	c.traffic = &s.traffic[l.number]
	return &loopConn{conn: c, loop: l, fd: fd, events: syscall.EPOLLIN}
}

// descriptor returns the file descriptor of the socket.
func (c *loopConn) descriptor() int { return c.fd }

func (c *loopConn) start() { c.loop.offer(c) }

func (c *loopConn) refuse(text string) {
	c.write([]byte(text))
	syscall.Close(c.fd)
}

// register makes epoll watch c.
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

// control adds c to epoll, changes its events, or removes it.
func (c *loopConn) control(op int) error {
	event := syscall.EpollEvent{Events: c.events, Fd: int32(c.fd)}
	return syscall.EpollCtl(c.loop.epoll, op, c.fd, &event)
}

// unwatch removes c from epoll.
func (c *loopConn) unwatch() {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if c.watched {
		c.watched = false
		c.control(syscall.EPOLL_CTL_DEL)
	}
}

// ask sets the events that epoll reports. The output's lock is held.
func (c *loopConn) ask(events uint32) {
	if c.events != events && !c.closed {
		c.events = events
		if c.watched {
			c.control(syscall.EPOLL_CTL_MOD)
		}
	}
}

// handle handles events of c. It reports false when another goroutine has taken over the
// loop.
func (c *loopConn) handle(events uint32) bool {
	if c.away.Load() {
		c.unwatch() // resume registers it again
		return true
	}
	if events&syscall.EPOLLOUT != 0 {
		c.out.resume()
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
	return c.runBuffered()
}

// resume runs the buffered commands of a connection that was offered: it is new, was
// woken, or is no longer away. It reports false when another goroutine has taken over the
// loop.
func (c *loopConn) resume() bool {
	switch {
	case c.away.Load():
		return true
	case c.closed || !c.drainEnd.IsZero():
		c.wake.abandon() // Wake was called after end
		return true
	case !c.watched && c.register() != nil:
		c.end()
		return true
	}
	c.wake.begin()
	ok := c.runBuffered()
	if ok {
		c.wake.end()
	}
	return ok
}

// mostRead is how many bytes of a large argument read takes before other connections have their
// turn.
const mostRead = 4 << 20

// read reads the bytes that the socket has, without blocking. There may be none. It reads until
// there are no more if a large argument arrives: else the parts of many would be in memory at
// the same time.
func (c *loopConn) read() error {
	for sum := 0; ; {
		space := c.reader.Space()
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ,
			uintptr(c.fd), uintptr(unsafe.Pointer(&space[0])), uintptr(len(space)))
		switch {
		case errno == syscall.EAGAIN || errno == syscall.EINTR:
			return nil
		case errno != 0:
			return errno
		}
		c.traffic.counted(int(n))
		if n == 0 {
			return io.EOF
		}
		c.reader.Advance(int(n))
		if c.server.cfg.Timeout.Load() > 0 {
			c.lastRead = time.Now()
		}
		if sum += int(n); int(n) < len(space) || sum >= mostRead || c.reader.Missing() == 0 {
			return nil
		}
	}
}

// readAvailable reads the bytes that the socket has, without blocking.
func (c *loopConn) readAvailable() bool {
	before := c.reader.Buffered()
	return c.read() == nil && c.reader.Buffered() > before
}

// runBuffered runs the buffered commands. It reports false when another goroutine has
// taken over the loop meanwhile: runBuffered has then offered c to it.
func (c *loopConn) runBuffered() bool {
	l := c.loop
	l.current = c
	open, replaced := c.execute(l.caller)
	if replaced {
		c.away.Store(false)
		l.offer(c)
		return false
	}
	l.current = nil
	c.relax()
	if !open {
		c.end()
	}
	return true
}

// idleFor returns how long the client has sent nothing.
func (c *loopConn) idleFor(now time.Time) time.Duration {
	if at, changed := c.lastActive(); changed {
		c.lastRead = at
	} else if c.lastRead.IsZero() {
		c.lastRead = now
	}
	return now.Sub(c.lastRead)
}

// end removes the session from the engine. The socket stays open until the last replies
// are written.
func (c *loopConn) end() {
	c.leave()
	c.wake.abandon()
	c.out.Flush()
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

// finish closes the socket and removes the connection from the loop and the server.
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

// write writes as much of b as the socket takes without blocking.
func (c *loopConn) write(b []byte) (n int, err error) {
	for n < len(b) {
		m, _, errno := syscall.RawSyscall(syscall.SYS_WRITE,
			uintptr(c.fd), uintptr(unsafe.Pointer(&b[n])), uintptr(len(b)-n))
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

// awaitWritable makes the loop write the rest when the socket takes more.
func (c *loopConn) awaitWritable() { c.ask(c.events | syscall.EPOLLOUT) }

// allWritten ends awaitWritable.
func (c *loopConn) allWritten() { c.ask(c.events &^ syscall.EPOLLOUT) }

// interrupt makes the loop run the buffered commands of c.
func (c *loopConn) interrupt() { c.loop.offer(c) }

// kill shuts the socket down, so that the loop's next read fails. The output's lock is
// held.
func (c *loopConn) kill() {
	if !c.closed {
		syscall.Shutdown(c.fd, syscall.SHUT_RDWR)
	}
}
