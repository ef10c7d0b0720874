package server

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/lockredis/lockredis/internal/engine"
)

// link is how a connection reads and writes. On Linux most sockets share a
// loop; pipes, TLS and other systems have a goroutine for each connection.
type link interface {
	// start begins to read and run commands. The link calls server.done.Done when the
	// connection has ended.
	start()
	// refuse sends text and closes a connection that was not accepted.
	refuse(text string)
	// write writes as much of b as it can without blocking. n < len(b) without an
	// error means that the client must read first.
	write(b []byte) (n int, err error)
	// readAvailable reads bytes that the client has already sent into the reader. It waits
	// a millisecond at most. It reports false when there are none, or when the read fails.
	readAvailable() bool
	// interrupt makes the link run the buffered commands. conn.wake is set before.
	interrupt()

	// The following are called with the output's lock held.

	// awaitWritable makes the link write the rest of the output when the client has
	// read: by output.resume, or by output.writeAll.
	awaitWritable()
	// allWritten ends awaitWritable: output.resume has written the rest.
	allWritten()
	// kill closes the connection, or makes its next read fail.
	kill()
}

// ownGoroutine is the link of a connection that has a goroutine for itself.
type ownGoroutine struct {
	*conn
	nc       net.Conn
	writeNow func([]byte) (int, error) // writes without blocking
	caller   *engine.Caller
	timed    bool // a read deadline is set
}

func newOwnGoroutine(c *conn, nc net.Conn) *ownGoroutine {
	g := &ownGoroutine{conn: c, nc: nc, writeNow: newNowWriter(nc).Write}
	if pipe, ok := nc.(*pipeEnd); ok {
		g.writeNow = pipe.WriteNow
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

// run executes and reads until the connection ends, or until another goroutine takes
// over.
func (g *ownGoroutine) run() {
	defer g.server.done.Done()
	for {
		open, replaced := g.execute(g.caller)
		if replaced {
			return
		}
		g.relax()
		if !open || g.read() != nil {
			g.end()
			return
		}
	}
}

// replace starts another goroutine that takes over the connection. The present one is
// busy with a script of another connection.
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
	g.countRead(n, err)
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

// countRead counts a read, unless Wake or a timeout has ended it.
func (g *ownGoroutine) countRead(n int, err error) {
	if n > 0 || err == io.EOF {
		g.traffic.counted(n)
	}
}

// availableTime is how long readAvailable waits. Bytes that have reached this machine are
// read at once. Go has no read of a TLS connection that does not wait at all.
const availableTime = time.Millisecond

// readAvailable reads a pipe as it is, and anything else with a short deadline. Such a read
// may have seen nothing because the deadline passed before it began, or because Wake set
// another deadline: then there is another one, ten at most.
func (g *ownGoroutine) readAvailable() bool {
	if pipe, ok := g.nc.(*pipeEnd); ok {
		n := pipe.ReadNow(g.reader.Space())
		g.reader.Advance(n)
		g.countRead(n, nil)
		return n > 0
	}
	g.timed = true // armIdleTimeout removes the deadline
	for range 10 {
		begun := time.Now()
		g.nc.SetReadDeadline(begun.Add(availableTime))
		n, err := g.nc.Read(g.reader.Space())
		g.reader.Advance(n)
		g.countRead(n, err)
		switch {
		case n > 0:
			return true
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return false
		}
		if took := time.Since(begun); took >= availableTime && took < 2*availableTime {
			return false
		}
	}
	return false
}

// armIdleTimeout sets the read deadline that the timeout directive asks for, or removes
// an earlier deadline if the directive is 0.
func (g *ownGoroutine) armIdleTimeout() {
	seconds := g.server.cfg.Timeout.Load()
	if seconds <= 0 && !g.timed {
		return
	}
	g.timed = seconds > 0
	var deadline time.Time
	if g.timed {
		from, changed := g.lastActive()
		if !changed {
			from = time.Now()
		}
		deadline = from.Add(time.Duration(seconds) * time.Second)
	}
	g.nc.SetReadDeadline(deadline)
	if g.wake.isSet() { // Wake came first, and SetReadDeadline above replaced its deadline
		g.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// end closes the connection. It writes the queued output first, for drainTime at most.
func (g *ownGoroutine) end() {
	g.leave()
	g.wake.abandon()
	g.nc.SetWriteDeadline(time.Now().Add(drainTime))
	g.out.drain()
	g.nc.Close()
	g.forget()
	g.wake.abandon() // Wake may have been called since the first abandon
}

func (g *ownGoroutine) write(b []byte) (n int, err error) { return g.writeNow(b) }

// interrupt makes the read fail with os.ErrDeadlineExceeded. read then finds that wake
// is set.
func (g *ownGoroutine) interrupt() { g.nc.SetReadDeadline(time.Unix(1, 0)) }

// awaitWritable starts a goroutine that writes the rest and blocks for the client.
func (g *ownGoroutine) awaitWritable() {
	g.server.done.Add(1)
	go g.writeRest()
}

func (g *ownGoroutine) writeRest() {
	defer g.server.done.Done()
	g.out.writeAll(g.nc)
}

// allWritten does nothing: the goroutine of awaitWritable ends by itself.
func (g *ownGoroutine) allWritten() {}

func (g *ownGoroutine) kill() { g.nc.Close() }
