package server

import (
	"errors"
	"net"
	"os"
	"time"

	"github.com/lockredis/lockredis/internal/engine"
)

// link is how a connection reads and writes. On Linux most sockets share a
// loop; pipes, TLS and other systems have a goroutine for each connection.
type link interface {
	// start has the connection read and run what comes. The link calls
	// server.done.Done when the connection has ended.
	start()
	// refuse ends a connection that was not let in, with a last word.
	refuse(text string)
	// write writes what can be written without waiting. n < len(b) without an
	// error means that the client has to read first.
	write(b []byte) (n int, err error)
	// readAvailable reads bytes that the client has already sent into the reader. It waits
	// a millisecond at most. It reports false when there are none, or when the read fails.
	readAvailable() bool
	// interrupt has the connection go on with what it has buffered, after
	// woken was set.
	interrupt()

	// The following are called with the output's lock held.

	// wantsMore has output.goOn called when more can be written.
	wantsMore()
	// hasAll says that the rest that wantsMore was called for is written.
	hasAll()
	// kill ends the connection soon.
	kill()
}

// ownGoroutine is the link of a connection that has a goroutine for itself.
type ownGoroutine struct {
	*conn
	nc     net.Conn
	now    func([]byte) (int, error)
	caller *engine.Caller
	timed  bool // the timeout directive set the read's deadline
}

func newOwnGoroutine(c *conn, nc net.Conn) *ownGoroutine {
	g := &ownGoroutine{conn: c, nc: nc, now: newNowWriter(nc).Write}
	if pipe, ok := nc.(*pipeEnd); ok {
		g.now = pipe.WriteNow
	}
	g.caller = &engine.Caller{Replace: g.replace}
	return g
}

func (g *ownGoroutine) start() { go g.run() }

func (g *ownGoroutine) refuse(text string) {
	g.nc.SetWriteDeadline(time.Now().Add(time.Second))
	g.nc.Write([]byte(text))
	g.nc.Close()
}

// run executes and reads until the connection ends, or until another goroutine
// goes on with it.
func (g *ownGoroutine) run() {
	defer g.server.done.Done()
	for {
		open, replaced := g.execute(g.caller)
		if replaced {
			return
		}
		if !open || g.read() != nil {
			g.end()
			return
		}
	}
}

// replace has another goroutine go on with the connection: this one is busy
// with the script of another connection.
func (g *ownGoroutine) replace() {
	g.caller = &engine.Caller{Replace: g.replace}
	g.server.done.Add(1)
	go g.run()
}

// read waits for bytes, or for Wake.
func (g *ownGoroutine) read() error {
	g.wake.end()
	g.armIdleTimeout()
	n, err := g.nc.Read(g.reader.Space())
	g.reader.Advance(n)
	g.received += int64(n)
	if err == nil || n > 0 {
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if g.wake.begin() {
			g.nc.SetReadDeadline(time.Time{})
			return nil
		}
		if !g.idleTooLong() {
			return nil
		}
	}
	return err
}

// availableTime is how long readAvailable waits. Bytes that have reached this machine need
// none of it, but Go's deadlines know no read that does not wait at all.
const availableTime = time.Millisecond

func (g *ownGoroutine) readAvailable() bool {
	g.timed = true // armIdleTimeout removes the deadline
	g.nc.SetReadDeadline(time.Now().Add(availableTime))
	n, _ := g.nc.Read(g.reader.Space())
	g.reader.Advance(n)
	g.received += int64(n)
	return n > 0
}

// armIdleTimeout sets the read deadline that the timeout directive asks for, or
// takes away the one that it asked for before.
func (g *ownGoroutine) armIdleTimeout() {
	seconds := g.server.cfg.Timeout.Load()
	if seconds <= 0 && !g.timed {
		return
	}
	g.timed = seconds > 0
	var deadline time.Time
	if g.timed {
		deadline = time.Now().Add(time.Duration(seconds) * time.Second)
	}
	g.nc.SetReadDeadline(deadline)
	if g.wake.isSet() { // it came between, and its deadline is lost
		g.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// end ends the connection after what is queued has been written, if the client
// takes it.
func (g *ownGoroutine) end() {
	g.leave()
	g.wake.abandon()
	g.nc.SetWriteDeadline(time.Now().Add(drainTime))
	g.out.drain()
	g.nc.Close()
	g.forget()
	g.wake.abandon() // it may have been woken after its end
}

func (g *ownGoroutine) write(b []byte) (n int, err error) { return g.now(b) }

// interrupt has the read fail.
func (g *ownGoroutine) interrupt() { g.nc.SetReadDeadline(time.Unix(1, 0)) }

// wantsMore leaves the rest to a goroutine that waits for the client.
func (g *ownGoroutine) wantsMore() {
	g.server.done.Add(1)
	go g.writeRest()
}

func (g *ownGoroutine) writeRest() {
	defer g.server.done.Done()
	g.out.writeAll(g.nc)
}

func (g *ownGoroutine) hasAll() {}

func (g *ownGoroutine) kill() { g.nc.Close() }
