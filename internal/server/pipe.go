package server

import (
	"io"
	"net"
	"os"
	"strconv"
	"sync"
)

// pipeRoom is how many bytes one direction of a pipe holds before its writer
// waits: as much as a socket and its peer's socket hold between them.
const pipeRoom = 1 << 20

// pipeKeep is the largest buffer that an empty direction keeps, in bytes.
const pipeKeep = 64 << 10

// newPipe returns the two ends of a connection inside the process. It behaves
// as a socket does: bytes are buffered, an end that was closed is read to its
// last byte before io.EOF, deadlines interrupt who waits.
//
// It holds nothing but mutexes, conditions and timers, all made by those who
// use it: in a testing/synctest bubble whoever waits on it is durably blocked.
func newPipe(id int64) (client, server net.Conn) {
	up, down := newStream(), newStream()
	name := pipeAddr("pipe:" + strconv.FormatInt(id, 10))
	return &pipeEnd{in: down, out: up, local: name, remote: pipeAddr("pipe:0")},
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

// WriteNow writes as much of b as there is room for, without waiting.
func (p *pipeEnd) WriteNow(b []byte) (int, error) { return p.out.write(b, false) }

// Close ends both directions: the peer reads what is buffered and then io.EOF,
// and its writes fail with io.ErrClosedPipe.
func (p *pipeEnd) Close() error {
	p.out.end()
	p.in.abandon()
	return nil
}

// stream is one direction of a pipe.
type stream struct {
	mu      sync.Mutex // guards the fields below
	buf     []byte     // buf[from:] is unread
	from    int
	ended   bool // the writer closed its end
	gone    bool // the reader closed its end
	reading side
	writing side
}

func newStream() *stream {
	s := &stream{}
	s.reading.init(s)
	s.writing.init(s)
	return s
}

func (s *stream) unread() int { return len(s.buf) - s.from }

// read waits for bytes, the end, or the deadline. A deadline that has passed
// wins over bytes, as with a socket.
func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.gone:
			return 0, net.ErrClosed
		case s.reading.passed:
			return 0, os.ErrDeadlineExceeded
		case s.unread() > 0 || len(b) == 0:
			return s.take(b), nil
		case s.ended:
			return 0, io.EOF
		}
		s.reading.wait()
	}
}

// take copies what there is into b.
func (s *stream) take(b []byte) int {
	n := copy(b, s.buf[s.from:])
	s.from += n
	if s.unread() == 0 {
		s.buf, s.from = s.buf[:0], 0
		if cap(s.buf) > pipeKeep {
			s.buf = nil
		}
	}
	if s.writing.waiting > 0 && s.unread() <= pipeRoom/2 {
		s.writing.cond.Broadcast()
	}
	return n
}

// write appends b, or without wait the part of it for which there is room.
func (s *stream) write(b []byte, wait bool) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.ended:
			return n, net.ErrClosed
		case s.gone:
			return n, io.ErrClosedPipe
		case s.writing.passed:
			return n, os.ErrDeadlineExceeded
		}
		n += s.put(b[n:])
		if n == len(b) || !wait {
			return n, nil
		}
		s.writing.wait()
	}
}

// put appends as much of b as there is room for.
func (s *stream) put(b []byte) int {
	b = b[:min(len(b), pipeRoom-s.unread())]
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

// end is the writer's Close.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.release()
}

// abandon is the reader's Close.
func (s *stream) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.buf, s.from = nil, 0
	s.release()
}

// release wakes everybody to see that an end was closed.
func (s *stream) release() {
	for _, d := range []*side{&s.reading, &s.writing} {
		d.cond.Broadcast()
		if s.ended && s.gone {
			d.stop()
		}
	}
}
