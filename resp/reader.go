package resp

import (
	"bytes"
	"fmt"
	"math"

	"github.com/tidwall/redcon"
)

// Sizes that are part of the protocol (Redis 7.0 server.h).
const (
	maxInline        = 64 << 10 // an inline command, or a count's line, in bytes
	maxUnauthArgs    = 10       // arguments of a command before AUTH
	maxUnauthBulk    = 16 << 10 // bytes of one argument before AUTH
	minRead          = 4 << 10  // bytes of buffer an idle connection keeps
	maxRead          = 16 << 10 // bytes that one read asks for while no large frame is coming
	largestMultibulk = math.MaxInt32
)

// Limits are what a Reader lets through.
type Limits struct {
	MaxBulk         int64 // proto-max-bulk-len, bytes of one argument
	Unauthenticated bool  // the client has yet to AUTH: small frames only
}

// ProtocolError is a malformed frame. The connection answers
// "-ERR Protocol error: " and its text, then closes.
type ProtocolError struct{ Reason string }

// Error returns the text that the client is sent, without the leading "-ERR ".
func (e *ProtocolError) Error() string { return "Protocol error: " + e.Reason }

// Reader takes a connection's bytes and hands out commands. It checks a frame's
// lengths step by step, resuming where it stopped when the rest of a large
// frame arrives, so that redcon's parser (which starts over at each call and
// trusts lengths) only ever sees one complete, checked frame.
//
// A Reader is used by one goroutine.
type Reader struct {
	buf        []byte
	start, end int // buf[start:end] is unread

	// Progress within a frame that starts at buf[start].
	pos     int   // where the check goes on
	missing int64 // bulks still to come; 0: at the start of a frame
	bulk    int64 // length of the bulk at pos, -1: its header is to come

	last int // where the frame that Next returned last began
	args [][]byte
}

// Space returns free room at the buffer's end to read into. It may move the
// buffer: arguments handed out before are dead.
func (r *Reader) Space() []byte {
	r.Relax()
	if len(r.buf)-r.end < minRead/4 {
		r.makeRoom()
	}
	return r.buf[r.end:]
}

// Relax lets go of what a large command has left behind, if nothing is unread:
// the client may be silent for long. Arguments handed out before are dead.
func (r *Reader) Relax() {
	if r.start < r.end {
		return
	}
	r.start, r.end = 0, 0
	if r.missing == 0 {
		r.pos = 0
	}
	if len(r.buf) > maxRead {
		r.setBuffer(nil)
	}
}

// setBuffer replaces the buffer, on which the last arguments must not hold.
func (r *Reader) setBuffer(to []byte) {
	if len(r.buf) > maxRead {
		r.args = nil
	}
	r.buf = to
}

// makeRoom moves the unread bytes to the front and doubles the buffer while
// they fill more than half of it. It grows with what has arrived, never with
// what a length announces.
func (r *Reader) makeRoom() {
	unread := r.end - r.start
	size := max(len(r.buf), minRead)
	for unread > size/2 {
		size *= 2
	}
	to := r.buf
	if size != len(r.buf) {
		to = make([]byte, size)
	}
	copy(to, r.buf[r.start:r.end])
	if size != len(r.buf) {
		r.setBuffer(to)
	}
	r.pos -= r.start
	r.start, r.end = 0, unread
}

// Advance says that n bytes were read into Space.
func (r *Reader) Advance(n int) {
	r.end += n
	if r.end == len(r.buf) && r.end < maxRead {
		r.makeRoomFor(2 * len(r.buf))
	}
}

// makeRoomFor enlarges the buffer of a client that fills it, so that a
// pipeline comes in with fewer reads.
func (r *Reader) makeRoomFor(size int) {
	to := make([]byte, size)
	copy(to, r.buf[:r.end])
	r.setBuffer(to)
}

// Buffered returns how many bytes wait for Next.
func (r *Reader) Buffered() int { return r.end - r.start }

// Next returns the next complete command. ok is false when more bytes are
// needed. The arguments alias the buffer and are valid until the next call of
// Space. An error is a *ProtocolError, after which the Reader is done.
func (r *Reader) Next(lim Limits) (args Args, ok bool, err error) {
	for r.start < r.end {
		if r.missing == 0 {
			r.last = r.start
		}
		if r.missing == 0 && r.buf[r.start] != '*' {
			args, ok, err = r.nextInline()
		} else {
			args, ok, err = r.nextMultibulk(lim)
		}
		if err != nil || !ok || len(args) > 0 {
			return args, ok, err
		}
	}
	return nil, false, nil
}

// Unread puts the command that Next returned last back, to be returned again.
// It must be called before the next call of Space.
func (r *Reader) Unread() { r.start = r.last }

// nextMultibulk returns an empty command for *0 and *-1, which Redis ignores.
func (r *Reader) nextMultibulk(lim Limits) (Args, bool, error) {
	if r.missing == 0 {
		n, ok, err := r.multibulkCount(lim)
		if err != nil || !ok {
			return nil, false, err
		}
		if n <= 0 {
			r.start = r.pos
			return nil, true, nil
		}
		r.missing, r.bulk = n, -1
	}
	for r.missing > 0 {
		ok, err := r.checkBulk(lim)
		if err != nil || !ok {
			return nil, false, err
		}
	}
	_, args, _, _, err := redcon.ReadNextCommand(r.buf[r.start:r.pos], r.args[:0])
	if err != nil {
		return nil, false, &ProtocolError{err.Error()}
	}
	r.args, r.start = args, r.pos
	return args, true, nil
}

func (r *Reader) multibulkCount(lim Limits) (int64, bool, error) {
	r.pos = r.start + 1
	line, ok := r.line()
	if !ok {
		return 0, false, r.lineTooLong("too big mbulk count string")
	}
	n, ok := ParseInt(line)
	if !ok || n > largestMultibulk {
		return 0, false, &ProtocolError{"invalid multibulk length"}
	}
	if n > maxUnauthArgs && lim.Unauthenticated {
		return 0, false, &ProtocolError{"unauthenticated multibulk length"}
	}
	return n, true, nil
}

// checkBulk checks the header of the next bulk and then waits for its bytes.
func (r *Reader) checkBulk(lim Limits) (bool, error) {
	if r.bulk < 0 {
		if r.pos == r.end {
			return false, nil
		}
		header := r.pos
		if c := r.buf[r.pos]; c != '$' {
			if !r.hasLine() {
				return false, r.lineTooLong("too big bulk count string")
			}
			return false, &ProtocolError{fmt.Sprintf("expected '$', got '%s'", string(rune0(c)))}
		}
		r.pos++
		line, ok := r.line()
		if !ok {
			r.pos = header
			return false, r.lineTooLong("too big bulk count string")
		}
		n, ok := ParseInt(line)
		if !ok || n < 0 || n > lim.MaxBulk {
			return false, &ProtocolError{"invalid bulk length"}
		}
		if n > maxUnauthBulk && lim.Unauthenticated {
			return false, &ProtocolError{"unauthenticated bulk length"}
		}
		r.bulk = n
	}
	if int64(r.end-r.pos) < r.bulk+2 {
		return false, nil
	}
	r.pos += int(r.bulk)
	r.endLine()
	r.missing--
	r.bulk = -1
	return true, nil
}

// rune0 is C's %c: the byte itself, and nothing at all for a NUL.
func rune0(c byte) []byte {
	if c == 0 {
		return nil
	}
	return []byte{c}
}

// line returns the bytes from pos to the next carriage return and moves behind
// the line's two end bytes.
func (r *Reader) line() ([]byte, bool) {
	i := r.findCR()
	if i < 0 || r.pos+i+2 > r.end {
		return nil, false
	}
	line := r.buf[r.pos : r.pos+i]
	r.pos += i
	r.endLine()
	return line, true
}

func (r *Reader) hasLine() bool {
	i := r.findCR()
	return i >= 0 && r.pos+i+2 <= r.end
}

// findCR finds the line's end as C's strchr does: a NUL byte hides it.
func (r *Reader) findCR() int {
	unread := r.buf[r.pos:r.end]
	i := bytes.IndexByte(unread, '\r')
	if i >= 0 && bytes.IndexByte(unread[:i], 0) >= 0 {
		return -1
	}
	return i
}

// endLine moves behind a line's or a bulk's end. Redis skips the two bytes
// unseen, redcon insists on \r\n: so they are made that.
func (r *Reader) endLine() {
	r.buf[r.pos], r.buf[r.pos+1] = '\r', '\n'
	r.pos += 2
}

// lineTooLong returns an error when the unfinished line has passed the limit.
func (r *Reader) lineTooLong(reason string) error {
	from := r.pos
	if r.missing == 0 {
		from = r.start
	}
	if r.findCR() < 0 && r.end-from > maxInline {
		return &ProtocolError{reason}
	}
	return nil
}
