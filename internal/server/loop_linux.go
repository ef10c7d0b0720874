package server

import (
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/lockredis/lockredis/internal/engine"
)

// loop serves many sockets by one goroutine: it waits for all of them with one
// epoll instance, reads what has come, runs it and writes the replies. Compared
// with a goroutine for each connection that spares two switches and a read a
// request, and the engine's memory stays in one core's cache.
//
// While a script of its own connections is busy, or a long one of others that
// it runs, another goroutine goes on in its place, see replace.
type loop struct {
	server *Server
	epoll  int
	wakeFD int // an eventfd, written when the loop sleeps and offered has grown
	events [128]syscall.EpollEvent
	conns  []*loopConn // by file descriptor
	caller *engine.Caller
	unit   *loopConn   // whose unit is under way
	todo   []*loopConn // what is left of taken

	idleScan time.Time // of the connections, for the timeout directive
	draining int       // connections that are closed but for their last replies

	mu       sync.Mutex // guards the fields below
	offered  []*loopConn
	taken    []*loopConn // the list that offered was last, to use again
	sleeping bool
	quit     bool
}

// newLoop returns a running loop.
func newLoop(s *Server) (*loop, error) {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	wakeFD, _, errno := syscall.RawSyscall(syscall.SYS_EVENTFD2, 0, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		syscall.Close(epoll)
		return nil, errno
	}
	l := &loop{server: s, epoll: epoll, wakeFD: int(wakeFD)}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(wakeFD)}
	if err := syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, l.wakeFD, &event); err != nil {
		syscall.Close(epoll)
		syscall.Close(l.wakeFD)
		return nil, err
	}
	l.start()
	return l, nil
}

func (l *loop) start() {
	l.caller = &engine.Caller{Replace: l.replace, Shared: true, Deferred: true}
	l.server.loopsDone.Add(1)
	go l.run()
}

// replace has another goroutine go on as the loop; this one is busy with a
// script. It is called inside the engine, while the loop's goroutine is in Do.
func (l *loop) replace() {
	if l.unit != nil {
		l.unit.away.Store(true)
	}
	l.start()
}

// run is the loop. It ends by stop, or when another goroutine has replaced it.
func (l *loop) run() {
	defer l.server.loopsDone.Done()
	caller := l.caller
	for {
		for len(l.todo) > 0 {
			c := l.todo[0]
			l.todo = l.todo[1:]
			if !c.goOn() {
				return
			}
		}
		caller.Flush()
		n, quit := l.wait()
		if quit {
			syscall.Close(l.epoll)
			syscall.Close(l.wakeFD)
			return
		}
		for _, event := range l.events[:n] {
			if int(event.Fd) == l.wakeFD {
				var count [8]byte
				syscall.Read(l.wakeFD, count[:])
			} else if c := l.conns[event.Fd]; c != nil && !c.ready(event.Events) {
				return
			}
		}
		l.scan()
		l.take()
	}
}

// wait returns how many events there are. It does not leave the processor while
// there are some.
func (l *loop) wait() (n int, quit bool) {
	if n = l.poll(); n > 0 {
		return n, false
	}
	l.mu.Lock()
	if quit = l.quit; quit || len(l.offered) > 0 {
		l.mu.Unlock()
		return 0, quit
	}
	l.sleeping = true
	l.mu.Unlock()
	if l.caller.Readied() {
		// The system call keeps the processor that those whom this goroutine made runnable wait for.
		runtime.Gosched()
	}
	timeout := -1
	if l.draining > 0 || l.server.cfg.Timeout.Load() > 0 {
		timeout = 1000
	}
	n, err := syscall.EpollWait(l.epoll, l.events[:], timeout)
	if err != nil { // EINTR
		n = 0
	}
	l.mu.Lock()
	l.sleeping = false
	l.mu.Unlock()
	return n, false
}

// poll is epoll_wait without waiting.
func (l *loop) poll() int {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(l.epoll),
		uintptr(unsafe.Pointer(&l.events[0])), uintptr(len(l.events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// offer has the loop look after c, which is new, or was away, or woken.
func (l *loop) offer(c *loopConn) {
	l.mu.Lock()
	l.offered = append(l.offered, c)
	l.notify()
}

// stop ends the loop, which has no connections any more.
func (l *loop) stop() {
	l.mu.Lock()
	l.quit = true
	l.notify()
}

// notify unlocks mu, and wakes the loop if it sleeps.
func (l *loop) notify() {
	wake := l.sleeping
	l.sleeping = false
	l.mu.Unlock()
	if wake {
		one := [8]byte{1}
		syscall.Write(l.wakeFD, one[:])
	}
}

// take makes what was offered the list of what is to be done.
func (l *loop) take() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.taken)
	l.offered, l.taken = l.taken[:0], l.offered
	l.todo = l.taken
}

// scan ends, once a second, connections that the timeout directive ends and
// those whose last replies nobody took.
func (l *loop) scan() {
	seconds := l.server.cfg.Timeout.Load()
	if seconds <= 0 && l.draining == 0 {
		return
	}
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
		case c.lastRead.IsZero():
			c.lastRead = now
		case now.Sub(c.lastRead) > time.Duration(seconds)*time.Second && c.idleTooLong():
			c.end()
		}
	}
}

// startLoops starts the loops, unless they run already. A server that cannot
// have them has a goroutine for each connection.
func (s *Server) startLoops() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closing && len(s.loops) < loopCount() {
		l, err := newLoop(s)
		if err != nil {
			s.log.Warn("no event loop", "error", err)
			return
		}
		s.loops = append(s.loops, l)
	}
}

// nextLoop returns the loop whose turn it is, or nil.
func (s *Server) nextLoop() *loop {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.loops) == 0 {
		return nil
	}
	s.turn++
	return s.loops[s.turn%len(s.loops)]
}

// loopCount is how many loops a server has: one for two processors, as most of
// what a request costs is in the kernel's half and the engine is one. A sleeping
// loop may keep its processor from other goroutines for some milliseconds, until
// the runtime notices its system call: so with a single one there is no loop.
func loopCount() int { return min(runtime.GOMAXPROCS(0)/2, 4) }

// stopLoops ends the loops. The connections have ended.
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
