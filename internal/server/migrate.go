package server

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/command"
)

// maxReplyLine is the longest reply that another server may send to MIGRATE, in bytes.
const maxReplyLine = 64 << 10

// Send sends the commands of MIGRATE to another server and returns the lines of its
// replies. It gives up when quit is closed.
func (h *host) Send(m *command.Migration, quit <-chan struct{}) (end command.Exchange, lines []string) {
	timeout := time.Duration(min(m.Timeout, int64(time.Hour/time.Millisecond)*24)) * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	dialer := net.Dialer{Timeout: timeout}
	conn, err := dialer.DialContext(ctx, "tcp", m.Addr)
	if err != nil {
		var unknown *net.DNSError
		if errors.As(err, &unknown) {
			return command.NotDialed, nil
		}
		return command.NotWritten, nil
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if !write(conn, m.Request, timeout) {
		return command.NotWritten, nil
	}
	r := bufio.NewReaderSize(conn, maxReplyLine)
	for range m.Replies {
		conn.SetReadDeadline(time.Now().Add(timeout))
		line, err := r.ReadSlice('\n')
		if err != nil {
			return command.NotRead, lines
		}
		lines = append(lines, strings.TrimRight(string(line), "\r\n"))
	}
	return command.Exchanged, lines
}

// write writes b in pieces, each within timeout.
func write(conn net.Conn, b []byte, timeout time.Duration) bool {
	const piece = 64 << 10
	for len(b) > 0 {
		n := min(len(b), piece)
		conn.SetWriteDeadline(time.Now().Add(timeout))
		if _, err := conn.Write(b[:n]); err != nil {
			return false
		}
		b = b[n:]
	}
	return true
}
