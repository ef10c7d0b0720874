package server

import (
	"io"
	"net"
	"os"
	"strconv"
	"sync"

	"github.com/lockredis/lockredis/internal/bubble"
)

// pipeCapacity is how many bytes one direction of a pipe holds before its writer blocks.
// A socket and its peer's socket hold about as many.
const pipeCapacity = 1 << 20

// maxIdlePipeBuffer is the largest buffer, in bytes, that an empty direction keeps.
const maxIdlePipeBuffer = 64 << 10

// newPipe returns the two ends of a connection inside the process. They behave as
// sockets do. Bytes are buffered. After Close the peer reads all buffered bytes before
// io.EOF. Deadlines interrupt blocked reads and writes.
//
// A pipe consists of mutexes, conditions and timers only, and the goroutines that use it make
// them. So a reply needs no goroutine of the pipe, and timers exist only while a deadline is
// waited for. A goroutine of a testing/synctest bubble that waits on a pipe is durably blocked.
// On the other side of a bubble's border the client's writes fail with errBubble, and so does
// every wait. A write that the server took could be answered before the client waits.
func newPipe(id int64) (client, server net.Conn) {
	bubbled := bubble.Inside()
	up, down := newStream(bubbled), newStream(bubbled)
	name := pipeAddr("pipe:" + strconv.FormatInt(id, 10))
	return &clientEnd{pipeEnd{in: down, out: up, local: name, remote: pipeAddr("pipe:0")}},
		&pipeEnd{in: up, out: down, local: pipeAddr("pipe:0"), remote: name}
}

// pipeAddr is a pipe's address as CLIENT LIST shows it: pipe:0 is the server.
type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }

// pipeEnd is one end of a pipe: a net.Conn.
type pipeEnd struct {
	in, out       *stream
	local, remote pipeAddr
}

func (p *pipeEnd) LocalAddr() net.Addr  { return p.local }
func (p *pipeEnd) RemoteAddr() net.Addr { return p.remote }

func (p *pipeEnd) Read(b []byte) (int, error)  { return p.in.read(b) }
func (p *pipeEnd) Write(b []byte) (int, error) { return p.out.write(b, true) }

// clientEnd is the end that Dial returns. Its goroutines are the caller's, which can be on the
// wrong side of a bubble's border. The server's own goroutines never are.
type clientEnd struct{ pipeEnd }

func (c *clientEnd) Write(b []byte) (int, error) {
	if bubble.Inside() != c.out.bubbled {
		return 0, errBubble
	}
	return c.pipeEnd.Write(b)
}

// WriteNow writes as much of b as there is room for, without blocking.
func (p *pipeEnd) WriteNow(b []byte) (int, error) { return p.out.write(b, false) }

// ReadNow reads what is buffered, without blocking and whatever the deadline is.
func (p *pipeEnd) ReadNow(b []byte) int {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	return p.in.take(b)
}

// Close ends both directions: the peer reads what is buffered and then io.EOF,
// and its writes fail with errPeerClosed.
func (p *pipeEnd) Close() error {
	p.out.closeWriter()
	p.in.closeReader()
	return nil
}

// errPeerClosed is the error of a write after the peer's Close. It is a *net.OpError as a
// socket's is, because clients retry a command after that.
var errPeerClosed = &net.OpError{Op: "write", Net: "pipe", Err: io.ErrClosedPipe}

// stream is one direction of a pipe.
type stream struct {
	mu           sync.Mutex // guards the fields below
	buf          []byte     // buf[from:] is unread
	from         int
	writerClosed bool
	readerClosed bool
	bubbled      bool // the pipe was made in a synctest bubble
	reading      side
	writing      side
}

func newStream(bubbled bool) *stream {
	s := &stream{bubbled: bubbled}
	s.reading.init(s)
	s.writing.init(s)
	return s
}

func (s *stream) unread() int { return len(s.buf) - s.from }

// read waits for bytes, the writer's Close, or the deadline. A deadline that has passed
// wins over buffered bytes, as with a socket.
func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readerClosed:
			return 0, net.ErrClosed
		case s.reading.expired:
			return 0, os.ErrDeadlineExceeded
		case s.unread() > 0 || len(b) == 0:
			return s.take(b), nil
		case s.writerClosed:
			return 0, io.EOF
		}
		if err := s.reading.wait(); err != nil {
			return 0, err
		}
	}
}

// take copies unread bytes into b.
func (s *stream) take(b []byte) int {
	n := copy(b, s.buf[s.from:])
	s.from += n
	if s.unread() == 0 {
		s.buf, s.from = s.buf[:0], 0
		if cap(s.buf) > maxIdlePipeBuffer {
			s.buf = nil
		}
	}
	if s.writing.waiting > 0 && s.unread() <= pipeCapacity/2 {
		s.writing.cond.Broadcast()
	}
	return n
}

// write appends b. Without wait it appends only the part of b that there is room for.
func (s *stream) write(b []byte, wait bool) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.writerClosed:
			return n, net.ErrClosed
		case s.readerClosed:
			return n, errPeerClosed
		case s.writing.expired:
			return n, os.ErrDeadlineExceeded
		}
		n += s.put(b[n:])
		if n == len(b) || !wait {
			return n, nil
		}
		if err := s.writing.wait(); err != nil {
			return n, err
		}
	}
}

// put appends as much of b as there is room for.
func (s *stream) put(b []byte) int {
	b = b[:min(len(b), pipeCapacity-s.unread())]
	if len(b) == 0 {
		return 0
	}
	if s.from > 0 && len(s.buf)+len(b) > cap(s.buf) {
		s.buf = s.buf[:copy(s.buf, s.buf[s.from:])]
		s.from = 0
	}
	s.buf = append(s.buf, b...)
	if s.reading.waiting > 0 {
		s.reading.cond.Broadcast()
	}
	return len(b)
}

// closeWriter is the writer's Close.
func (s *stream) closeWriter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writerClosed = true
	s.wakeAll()
}

// closeReader is the reader's Close. The unread bytes are lost.
func (s *stream) closeReader() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readerClosed = true
	s.buf, s.from = nil, 0
	s.wakeAll()
}

// wakeAll wakes the reader and the writer, because an end was closed. It stops the timers
// when both ends are closed. s.mu is held.
func (s *stream) wakeAll() {
	for _, d := range []*side{&s.reading, &s.writing} {
		d.cond.Broadcast()
		if s.writerClosed && s.readerClosed {
			d.stop()
		}
	}
}
