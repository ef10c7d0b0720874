package shell

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// nc connects to a port: nc [-z] [-v] [-w SECONDS] HOST PORT. With -z it ends at once.
// Else it sends standard input and prints what comes until the other end closes, or for
// the time of -w or -q after the end of standard input.
func nc(c *call) int {
	given, values, operands, err := c.options("nvzN", "wq")
	if err == nil && len(operands) != 2 {
		err = errors.New("needs a host and a port")
	}
	wait := time.Duration(0)
	for _, letter := range []byte{'w', 'q'} {
		if given[letter] && err == nil {
			wait, err = duration(values[letter])
		}
	}
	if err != nil {
		return c.fail(2, err)
	}
	address := net.JoinHostPort(operands[0], operands[1])
	conn, err := net.DialTimeout("tcp", address, wait)
	if err != nil {
		if given['v'] {
			c.fail(1, err)
		}
		return 1
	}
	defer conn.Close()
	if given['v'] {
		fmt.Fprintf(c.err, "%s (%s) open\n", address, conn.RemoteAddr())
	}
	if given['z'] {
		return 0
	}
	go func() {
		io.Copy(conn, c.in)
		if wait > 0 {
			conn.SetReadDeadline(time.Now().Add(wait))
		}
		if half, ok := conn.(*net.TCPConn); ok && given['N'] {
			half.CloseWrite()
		}
	}()
	if _, err := io.Copy(c.out, conn); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return c.fail(1, err)
	}
	return 0
}
