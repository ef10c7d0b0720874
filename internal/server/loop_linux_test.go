package server

import (
	"errors"
	"net"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

func TestAnEarlierTimeoutDirectiveDoesNotMakeABusyClientIdle(t *testing.T) {
	s := newTestServer(t)
	c := &loopConn{conn: &conn{server: s}}
	c.session.LastActive = s.clock.Now().UnixMilli()
	c.lastRead = time.Now().Add(-time.Hour) // the directive was 0 since then
	c.rearmed.Store(true)
	if idle := c.idleFor(time.Now()); idle > time.Minute {
		t.Errorf("the client is idle for %v", idle)
	}
}

func TestASignalDoesNotEndALoop(t *testing.T) {
	if loopCount() == 0 {
		t.Skip("loops need two processors")
	}
	s := newTestServer(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	nc, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for range 20 {
		ping(t, nc)
		threads, _ := os.ReadDir("/proc/self/task")
		for _, thread := range threads { // one of them sleeps in epoll_wait
			id, _ := strconv.Atoi(thread.Name())
			syscall.Tgkill(os.Getpid(), id, syscall.SIGURG)
		}
		runtime.Gosched()
	}
	ping(t, nc)
	s.Close()
	if err := <-served; !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}
