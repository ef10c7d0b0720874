package server

import (
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/lockredis/lockredis/internal/engine"
)

// loop serves many sockets with one goroutine. It waits for all of them with one
// epoll instance, reads the bytes that have arrived, runs the commands and writes the
// replies. A goroutine for each connection needs two goroutine switches and one read
// more for a request. With a loop the engine's memory also stays in one core's cache, and an
// idle connection has no stack. There is a loop for two processors, and four at most.
//
// Measured with the lock script at 50 connections on two cores: goroutines had 0.9 of
// redis-server's throughput, loops have 1.1.
//
// The loop waits in a system call of its own, not in Go's poller: the kernel wakes the loop's
// thread itself. So a client alone has its answers in 35 µs instead of 100. Replies are
// written after all events of one epoll call have run, see Caller.Flush.
//
// Another goroutine takes over the loop when its goroutine is kept by a script: a busy
// script of its own connections, or a long script of another caller. See replace.
type loop struct {
	server *Server
	number int // from 1
	epoll  int
	wakeFD int // an eventfd: ends epoll_wait when offered has grown

	// The fields of the loop's goroutine.
	events   [128]syscall.EpollEvent
	conns    []*loopConn // by file descriptor
	caller   *engine.Caller
	current  *loopConn   // its commands are running; nil: none
	todo     []*loopConn // the rest of taken
	idleScan time.Time   // when scan last looked at the connections
	draining int         // connections in the state draining

	mu       sync.Mutex  // guards the fields below
	offered  []*loopConn // the loop must resume them
	taken    []*loopConn // the previous offered; its memory is used again
	sleeping bool        // in epoll_wait: notify must write wakeFD
	quit     bool        // the loop ends
}

// newLoop returns a running loop, the server's number-th.
func newLoop(s *Server, number int) (*loop, error) {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	const flags = syscall.O_NONBLOCK | syscall.O_CLOEXEC
	wakeFD, _, errno := syscall.RawSyscall(syscall.SYS_EVENTFD2, 0, flags, 0)
	if errno != 0 {
		syscall.Close(epoll)
		return nil, errno
	}
	l := &loop{server: s, number: number, epoll: epoll, wakeFD: int(wakeFD)}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(wakeFD)}
	if err := syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, l.wakeFD, &event); err != nil {
		syscall.Close(epoll)
		syscall.Close(l.wakeFD)
		return nil, err
	}
	l.start()
	return l, nil
}

// start starts the loop's goroutine, with a Caller of its own.
func (l *loop) start() {
	l.caller = &engine.Caller{Replace: l.replace, Shared: true, Deferred: true}
	l.server.loopsDone.Add(1)
	go l.run()
}

// replace starts another goroutine that takes over the loop. The present one is kept by
// a script: it is in Run or Do. The engine calls replace under its lock.
func (l *loop) replace() {
	if l.current != nil {
		l.current.away.Store(true)
	}
	l.start()
}

// run is the loop. It ends after stop, or when another goroutine has taken over.
func (l *loop) run() {
	defer l.server.loopsDone.Done()
	caller := l.caller
	for {
		for len(l.todo) > 0 {
			c := l.todo[0]
			l.todo = l.todo[1:]
			if !c.resume() {
				return
			}
		}
		caller.Flush()
		timeout := -1 // none
		if l.draining > 0 || l.server.cfg.Timeout.Load() > 0 {
			l.scan()
			timeout = 1000 // ms
		}
		n, quit := l.wait(timeout)
		if quit {
			syscall.Close(l.epoll)
			syscall.Close(l.wakeFD)
			return
		}
		for _, event := range l.events[:n] {
			if int(event.Fd) == l.wakeFD {
				var count [8]byte
				syscall.Read(l.wakeFD, count[:])
			} else if c := l.conns[event.Fd]; c != nil && !c.handle(event.Events) {
				return
			}
		}
	}
}

// wait returns the number of events, and makes the offered connections the list todo. It blocks
// only when there are neither, for timeout ms at most; -1: without an end. quit reports that the
// loop ends.
func (l *loop) wait(timeout int) (n int, quit bool) {
	n = l.poll()
	l.mu.Lock()
	defer l.mu.Unlock()
	if n == 0 && len(l.offered) == 0 && !l.quit {
		l.sleeping = true
		l.mu.Unlock()
		if l.caller.Readied() {
			// EpollWait blocks this processor (P) without releasing it. Yield first, so that
			// the goroutines readied above can run.
			runtime.Gosched()
		}
		n, _ = syscall.EpollWait(l.epoll, l.events[:], timeout)
		l.mu.Lock()
		l.sleeping = false
	}
	clear(l.taken)
	l.offered, l.taken = l.taken[:0], l.offered
	l.todo = l.taken
	return max(n, 0), l.quit // n is -1 after EINTR
}

// poll returns the number of events without blocking.
func (l *loop) poll() int {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(l.epoll),
		uintptr(unsafe.Pointer(&l.events[0])), uintptr(len(l.events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// offer makes the loop resume c: c is new, was woken, or is no longer away. It may be
// called from any goroutine.
func (l *loop) offer(c *loopConn) {
	l.mu.Lock()
	l.offered = append(l.offered, c)
	l.notify()
}

// stop ends the loop. Its connections have ended before.
func (l *loop) stop() {
	l.mu.Lock()
	l.quit = true
	l.notify()
}

// notify unlocks mu and wakes the loop if it sleeps.
func (l *loop) notify() {
	wake := l.sleeping
	l.sleeping = false
	l.mu.Unlock()
	if wake {
		one := [8]byte{1}
		syscall.Write(l.wakeFD, one[:])
	}
}

// scan looks at the connections once a second, while a connection is draining or the timeout
// directive is set. It ends a connection that is idle for longer than the directive allows. It closes
// a draining connection after drainTime.
func (l *loop) scan() {
	seconds := l.server.cfg.Timeout.Load()
	now := time.Now()
	if now.Sub(l.idleScan) < time.Second {
		return
	}
	l.idleScan = now
	for _, c := range l.conns {
		switch {
		case c == nil || c.away.Load():
		case !c.drainEnd.IsZero():
			if now.After(c.drainEnd) {
				c.finish()
			}
		case seconds <= 0:
		case c.idleFor(now) > time.Duration(seconds)*time.Second && c.idleTooLong():
			c.end()
		}
	}
}

// startLoops starts the loops, unless they run already. If the system refuses, each
// connection has a goroutine of its own.
func (s *Server) startLoops() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closing && len(s.loops) < loopCount() {
		l, err := newLoop(s, len(s.loops)+1)
		if err != nil {
			s.log.Warn("cannot start an event loop: connections use goroutines of their own", "error", err)
			return
		}
		s.loops = append(s.loops, l)
	}
}

// nextLoop returns the loop for the next connection, in turn. It is nil when there are no
// loops.
func (s *Server) nextLoop() *loop {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.loops) == 0 {
		return nil
	}
	s.assigned++
	return s.loops[s.assigned%len(s.loops)]
}

// loopCount returns how many loops a server has: one for two processors, at most four.
// More loops do not help, because most of a request's cost is in the kernel and there is
// only one engine. A sleeping loop may keep its processor (P) for some milliseconds, until
// the Go runtime notices the system call. So there is no loop on a single processor.
func loopCount() int { return min(runtime.GOMAXPROCS(0)/2, maxLoops) }

// stopLoops ends the loops. Their connections have ended before.
func (s *Server) stopLoops() {
	s.mu.Lock()
	loops := s.loops
	s.loops = nil
	s.mu.Unlock()
	for _, l := range loops {
		l.stop()
	}
	s.loopsDone.Wait()
}
