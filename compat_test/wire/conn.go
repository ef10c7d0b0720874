package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// DefaultTimeout is the limit of every send and receive of a Conn until SetTimeout
// changes it.
const DefaultTimeout = 30 * time.Second

// Conn is one connection to a server. Only one goroutine may use it at a time. Close may
// be called at any time.
type Conn struct {
	nc      net.Conn
	r       *bufio.Reader
	timeout time.Duration
}

// Dial connects to addr, which is host:port, or the path of a Unix socket when it
// begins with a slash.
func Dial(addr string) (*Conn, error) {
	network := "tcp"
	if strings.HasPrefix(addr, "/") {
		network = "unix"
	}
	nc, err := net.DialTimeout(network, addr, DefaultTimeout)
	if err != nil {
		return nil, err
	}
	return NewConn(nc), nil
}

// NewConn returns a Conn over an established connection, which the Conn then owns.
func NewConn(nc net.Conn) *Conn {
	return &Conn{nc: nc, r: bufio.NewReaderSize(nc, 1<<16), timeout: DefaultTimeout}
}

// SetTimeout sets the limit of a send and of a receive. 0 means no limit.
func (c *Conn) SetTimeout(d time.Duration) { c.timeout = d }

// Close ends the connection. A second Close returns net.ErrClosed.
func (c *Conn) Close() error { return c.nc.Close() }

// LocalAddr returns the client's own address, as CLIENT LIST of the server shows it.
func (c *Conn) LocalAddr() string { return c.nc.LocalAddr().String() }

// Do sends one command and returns the next reply. On a RESP3 connection with
// subscriptions the next reply may be a push that was already on its way.
func (c *Conn) Do(args ...string) (Value, error) {
	if err := c.Send(args...); err != nil {
		return Value{}, err
	}
	return c.Receive()
}

// Send sends one command as an array of bulk strings. It reads nothing.
func (c *Conn) Send(args ...string) error { return c.WriteRaw(AppendCommand(nil, args...)) }

// SendAll sends several commands in a single write, as a pipelining client does.
func (c *Conn) SendAll(cmds ...[]string) error {
	var b []byte
	for _, args := range cmds {
		b = AppendCommand(b, args...)
	}
	return c.WriteRaw(b)
}

// WriteRaw sends bytes as they are.
func (c *Conn) WriteRaw(b []byte) error {
	if err := c.nc.SetWriteDeadline(c.deadline(c.timeout)); err != nil {
		return err
	}
	_, err := c.nc.Write(b)
	return err
}

// Receive reads the next reply. The error is io.EOF when the server closed the connection
// between two replies, and os.ErrDeadlineExceeded when no reply came in time. After an
// error the connection cannot be used again, except after a deadline that passed between
// two replies.
func (c *Conn) Receive() (Value, error) { return c.ReceiveWithin(c.timeout) }

// ReceiveWithin is Receive with its own time limit. 0 means no limit.
func (c *Conn) ReceiveWithin(d time.Duration) (Value, error) {
	if err := c.nc.SetReadDeadline(c.deadline(d)); err != nil {
		return Value{}, err
	}
	p := parser{r: c.r}
	v, err := p.value()
	if err != nil && len(p.raw) > 0 {
		return Value{}, fmt.Errorf("wire: inside a reply, after %s: %w", Quote(tail(p.raw)), noEOF(err))
	}
	return v, err
}

// ReadQuiet returns the bytes that arrive until no byte has come for the given time, or
// until the server closed the connection (closed). It is for requests that may get a
// malformed answer or none.
func (c *Conn) ReadQuiet(quiet time.Duration) (got []byte, closed bool, err error) {
	buf := make([]byte, 4096)
	for {
		if err := c.nc.SetReadDeadline(time.Now().Add(quiet)); err != nil &&
			!errors.Is(err, io.ErrClosedPipe) {
			return got, false, err // Read reports a closed pipe
		}
		n, err := c.r.Read(buf)
		got = append(got, buf[:n]...)
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			return got, false, nil
		case isClosed(err):
			return got, true, nil
		default:
			return got, false, err
		}
	}
}

func (c *Conn) deadline(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Now().Add(d)
}

// AppendCommand appends args to b as an array of bulk strings.
func AppendCommand(b []byte, args ...string) []byte {
	b = append(b, '*')
	b = strconv.AppendInt(b, int64(len(args)), 10)
	b = append(b, "\r\n"...)
	for _, a := range args {
		b = append(b, '$')
		b = strconv.AppendInt(b, int64(len(a)), 10)
		b = append(b, "\r\n"...)
		b = append(b, a...)
		b = append(b, "\r\n"...)
	}
	return b
}

// isClosed reports whether err means that the other side ended the connection. A server
// that closes with unread input in its buffer makes the kernel send a reset.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || IsReset(err)
}

// noEOF turns io.EOF inside a reply into io.ErrUnexpectedEOF. io.EOF alone means an end
// between two replies.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func tail(b []byte) []byte {
	const keep = 64
	if len(b) > keep {
		return b[len(b)-keep:]
	}
	return b
}
