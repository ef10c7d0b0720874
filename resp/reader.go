package resp

import (
	"bytes"
	"fmt"
	"math"
	"unsafe"

	"github.com/tidwall/redcon"
)

// Limits of the protocol (Redis 7.0 server.h), and sizes of the buffer.
const (
	maxInline        = 64 << 10      // bytes of an inline command, or of a line with a count
	maxUnauthArgs    = 10            // arguments of a command before AUTH
	maxUnauthBulk    = 16 << 10      // bytes of one argument before AUTH
	minRead          = 4 << 10       // bytes of the smallest buffer
	maxRead          = 16 << 10      // bytes of the largest buffer while no large frame arrives
	largestMultibulk = math.MaxInt32 // arguments of a command
)

// Limits are the sizes that a Reader accepts.
type Limits struct {
	MaxBulk         int64 // proto-max-bulk-len: bytes of one argument
	Unauthenticated bool  // the client must still AUTH: small frames only
}

// ProtocolError reports a malformed frame. The connection replies
// "-ERR Protocol error: " and the Reason, then closes.
type ProtocolError struct{ Reason string }

// Error returns the text that is sent to the client, without the leading "-ERR ".
func (e *ProtocolError) Error() string { return "Protocol error: " + e.Reason }

// Reader turns the bytes of a connection into commands. It checks the lengths in a
// frame as they arrive and continues where it stopped when more of the frame has
// arrived. Then redcon parses one complete frame with checked lengths: the parser
// of redcon starts over at each call and trusts lengths.
//
// A Reader is used by one goroutine. The zero Reader is ready.
type Reader struct {
	// Resized is called when Memory has changed, with the difference in bytes. nil: it is not called.
	Resized func(by int)

	buf        []byte
	start, end int // buf[start:end] is unread

	// Progress of the check within the frame that starts at buf[start].
	pos     int   // offset in buf of the first unchecked byte
	missing int64 // bulks that are not checked yet; 0: at the start of a frame
	bulk    int64 // length of the bulk at pos; -1: its header is not checked yet

	last int      // offset in buf of the frame that Next returned last
	args [][]byte // reused by the next call of Next
}

// Space returns the free end of the buffer, to read into. It may move the buffer:
// arguments that Next returned before are invalid afterwards.
func (r *Reader) Space() []byte {
	r.Relax()
	if len(r.buf)-r.end < minRead/4 {
		r.makeRoom()
	}
	return r.buf[r.end:]
}

// Relax frees the memory of a large command if no bytes are unread: the client may
// stay silent for long. Arguments that Next returned before are invalid afterwards.
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

// setBuffer replaces the buffer. It drops the args of a large buffer too, because
// they point into it and keep it in memory.
func (r *Reader) setBuffer(to []byte) {
	before := r.Memory()
	if len(r.buf) > maxRead {
		r.args = nil
	}
	r.buf = to
	r.resized(r.Memory() - before)
}

func (r *Reader) resized(by int) {
	if r.Resized != nil {
		r.Resized(by)
	}
}

// makeRoom moves the unread bytes to the front of the buffer, and doubles the
// buffer until they fill no more than half of it. The buffer grows with the bytes
// that have arrived, never with a length that a frame announces. But the announced end of a
// large frame can make it grow less.
func (r *Reader) makeRoom() {
	unread := r.end - r.start
	size := max(len(r.buf), minRead)
	for unread > size/2 {
		size *= 2
	}
	if r.missing == 1 && r.bulk >= 0 && size > maxRead {
		frame := int64(r.pos-r.start) + r.bulk + int64(len("\r\n"))
		size = int(min(int64(size), max(frame+minRead, int64(unread+minRead), int64(len(r.buf)))))
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

// Advance records that n bytes were read into Space.
func (r *Reader) Advance(n int) {
	r.end += n
	if r.end == len(r.buf) && r.end < maxRead {
		r.makeRoomFor(2 * len(r.buf))
	}
}

// makeRoomFor enlarges the buffer of a client that filled it, so that a pipeline
// takes fewer reads. size is the new size in bytes.
func (r *Reader) makeRoomFor(size int) {
	to := make([]byte, size)
	copy(to, r.buf[:r.end])
	r.setBuffer(to)
}

// Buffered returns the number of bytes that Next has not consumed yet.
func (r *Reader) Buffered() int { return r.end - r.start }

// Missing returns how many bytes of the argument that arrives are still missing, 0 if its length is
// not known yet.
func (r *Reader) Missing() int64 { return r.announced() - r.Arrived() }

// Arrived returns how many bytes of the argument that arrives are there, with the end of its line; 0
// if its length is not known yet.
func (r *Reader) Arrived() int64 { return min(r.announced(), int64(r.end-r.pos)) }

// announced returns the length of the argument that arrives, with the end of its line; 0 if it is
// not known yet.
func (r *Reader) announced() int64 {
	if r.missing == 0 || r.bulk < 0 {
		return 0
	}
	return r.bulk + int64(len("\r\n"))
}

// Unparsed returns how many bytes have arrived of what Next has not checked yet: a part of an
// argument, or whole commands. Arguments before it do not count.
func (r *Reader) Unparsed() int {
	if r.missing > 0 {
		return r.end - r.pos
	}
	return r.end - r.start
}

// Filled returns the number of bytes in the buffer: what Buffered counts, and the commands
// that Next has returned since the last read.
func (r *Reader) Filled() int { return r.end }

// Size returns the size of the buffer in bytes.
func (r *Reader) Size() int { return len(r.buf) }

// Memory returns the bytes that the Reader keeps in memory: the buffer, and the list of
// arguments that Next fills.
func (r *Reader) Memory() int { return len(r.buf) + cap(r.args)*argSize }

// argSize is the size of an argument in the list, in bytes.
const argSize = int(unsafe.Sizeof([]byte(nil)))

// Next returns the next complete command, which may have no words. ok is false if more bytes are
// needed. The arguments alias the buffer and are valid until the next call of Space or
// Relax. err is a *ProtocolError; the Reader must not be used after it.
func (r *Reader) Next(lim Limits) (args Args, ok bool, err error) {
	if r.start == r.end {
		return nil, false, nil
	}
	if r.missing == 0 {
		r.last = r.start
		if r.buf[r.start] != '*' {
			return r.nextInline()
		}
	}
	return r.nextMultibulk(lim)
}

// Unread makes Next return its last command once more. It must be called before
// the next call of Space or Relax.
func (r *Reader) Unread() { r.start = r.last }

// nextMultibulk returns a command that was sent as an array of bulks. It returns
// an empty command for *0 and *-1.
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
	if grown := cap(args) - cap(r.args); grown != 0 {
		r.resized(grown * argSize)
	}
	r.args, r.start = args, r.pos
	return args, true, nil
}

// multibulkCount reads the line with the number of arguments.
func (r *Reader) multibulkCount(lim Limits) (int64, bool, error) {
	r.pos = r.start + 1
	n, ok := r.length()
	if !ok {
		line, ok := r.line()
		if !ok {
			return 0, false, r.lineTooLong("too big mbulk count string")
		}
		if n, ok = ParseInt(line); !ok || n > largestMultibulk {
			return 0, false, &ProtocolError{"invalid multibulk length"}
		}
	}
	if n > maxUnauthArgs && lim.Unauthenticated {
		return 0, false, &ProtocolError{"unauthenticated multibulk length"}
	}
	return n, true, nil
}

// checkBulk checks the header of the next bulk. It returns true once the bytes of
// the bulk have arrived.
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
			return false, &ProtocolError{fmt.Sprintf("expected '$', got '%s'", string(charOf(c)))}
		}
		r.pos++
		n, ok := r.length()
		if !ok {
			line, ok := r.line()
			if !ok {
				r.pos = header
				return false, r.lineTooLong("too big bulk count string")
			}
			if n, ok = ParseInt(line); !ok {
				n = -1
			}
		}
		if n < 0 || n > lim.MaxBulk {
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

// charOf formats c as C's %c does within a string: a NUL byte prints nothing.
func charOf(c byte) []byte {
	if c == 0 {
		return nil
	}
	return []byte{c}
}

// length reads a line at pos that is the digits of a usual length, and moves pos past it. ok is
// false if line must decide: the line is incomplete, longer, or no number.
func (r *Reader) length() (n int64, ok bool) {
	const most = 6 // digits
	for i := r.pos; i < min(r.pos+most+1, r.end-1); i++ {
		switch c := r.buf[i]; {
		case c == '\r' && i > r.pos:
			r.pos = i
			r.endLine()
			return n, true
		case c < '0' || c > '9' || n == 0 && i > r.pos: // no digit, or a leading zero
			return 0, false
		default:
			n = 10*n + int64(c-'0')
		}
	}
	return 0, false
}

// line returns the bytes from pos to the next carriage return. It moves pos past
// the two bytes that end the line. ok is false if the line is incomplete.
func (r *Reader) line() (line []byte, ok bool) {
	i := r.findCR()
	if i < 0 || r.pos+i+2 > r.end {
		return nil, false
	}
	line = r.buf[r.pos : r.pos+i]
	r.pos += i
	r.endLine()
	return line, true
}

// hasLine reports whether the line at pos is complete.
func (r *Reader) hasLine() bool {
	i := r.findCR()
	return i >= 0 && r.pos+i+2 <= r.end
}

// findCR returns the distance from pos to the next carriage return, -1 if there is
// none. A NUL byte hides it, as with C's strchr.
func (r *Reader) findCR() int {
	unread := r.buf[r.pos:r.end]
	i := bytes.IndexByte(unread, '\r')
	if i >= 0 && bytes.IndexByte(unread[:i], 0) >= 0 {
		return -1
	}
	return i
}

// endLine moves pos past the two bytes that end a line or a bulk. Redis skips
// them unread, but redcon accepts only \r\n there: endLine writes \r\n.
func (r *Reader) endLine() {
	r.buf[r.pos], r.buf[r.pos+1] = '\r', '\n'
	r.pos += 2
}

// lineTooLong returns an error if the incomplete line is longer than maxInline.
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
