package server

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/command"
)

// maxReplyLine is the longest reply that another server may send to MIGRATE, in bytes.
const maxReplyLine = 64 << 10

// Dialer returns what connects to a primary.
func (h *host) Dialer() (dial func(ctx context.Context, addr string) (net.Conn, error), err error) {
	if h.cfg.TLS.Links {
		return h.dialTLS()
	}
	return h.dial, nil
}

// Send sends the commands of MIGRATE to another server and returns the lines of its
// replies. It gives up when quit is closed. As in Redis, a connection that fails before a key
// is restored is tried once more, unless it fails by a timeout.
func (h *host) Send(m *command.Migration, quit <-chan struct{}) (end command.Exchange, lines []string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	for range 2 {
		var err error
		end, lines, err = h.exchange(ctx, m)
		if err == nil || errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil || !m.MayRetry(lines) {
			break
		}
	}
	return end, lines
}

// errEmptyReply is for a newline without a reply. As in Redis, "\r\n" is a reply.
var errEmptyReply = errors.New("empty reply")

// exchange sends the commands of m over a connection of its own. err is why the connection
// failed, nil if it could not be made.
func (h *host) exchange(ctx context.Context, m *command.Migration) (end command.Exchange, lines []string, err error) {
	timeout := time.Duration(min(m.Timeout, int64(time.Hour/time.Millisecond)*24)) * time.Millisecond
	patient, cancel := context.WithTimeout(ctx, timeout)
	conn, err := h.dial(patient, m.Addr)
	cancel()
	if err != nil {
		var unknown *net.DNSError
		if errors.As(err, &unknown) {
			return command.NotDialed, nil, nil
		}
		return command.NotWritten, nil, nil
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := write(conn, m.Request, timeout); err != nil {
		return command.NotWritten, nil, err
	}
	r := bufio.NewReaderSize(impatientReader{conn, timeout}, maxReplyLine)
	for range m.Replies {
		line, err := r.ReadSlice('\n')
		if err == nil && len(line) == 1 {
			err = errEmptyReply
		}
		if err != nil {
			return command.NotRead, lines, err
		}
		lines = append(lines, strings.TrimRight(string(line), "\r\n"))
	}
	return command.Exchanged, lines, nil
}

// impatientReader reads with a timeout for each piece that arrives, as Redis for each byte.
type impatientReader struct {
	net.Conn
	timeout time.Duration
}

func (r impatientReader) Read(b []byte) (int, error) {
	r.SetReadDeadline(time.Now().Add(r.timeout))
	return r.Conn.Read(b)
}

// write writes b in pieces, each within timeout.
func write(conn net.Conn, b []byte, timeout time.Duration) error {
	const piece = 64 << 10
	for len(b) > 0 {
		n := min(len(b), piece)
		conn.SetWriteDeadline(time.Now().Add(timeout))
		if _, err := conn.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
