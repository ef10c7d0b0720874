//go:build unix

package server

import (
	"net"
	"syscall"
)

// nowWriter writes to a socket without blocking. One goroutine at a time uses it.
type nowWriter struct {
	raw syscall.RawConn       // nil when the connection is no socket
	try func(fd uintptr) bool // the method write, made once

	// Argument and results of write.
	b   []byte
	n   int
	err error
}

func newNowWriter(nc net.Conn) *nowWriter {
	w := &nowWriter{}
	if sc, ok := nc.(syscall.Conn); ok {
		w.raw, _ = sc.SyscallConn()
	}
	w.try = w.write
	return w
}

// Write writes as much of b as the socket takes without blocking. n < len(b)
// without an error means that the socket's buffer is full.
func (w *nowWriter) Write(b []byte) (n int, err error) {
	if w.raw == nil {
		return 0, nil
	}
	w.b, w.n, w.err = b, 0, nil
	err = w.raw.Write(w.try)
	w.b = nil
	if err == nil {
		err = w.err
	}
	return w.n, err
}

// write is called by the Go runtime with the socket. It always returns true, so that
// the runtime does not wait for the socket to become writable.
func (w *nowWriter) write(fd uintptr) bool {
	for w.n < len(w.b) {
		m, err := syscall.Write(int(fd), w.b[w.n:])
		switch err {
		case nil:
			w.n += m
		case syscall.EINTR:
		case syscall.EAGAIN:
			return true
		default:
			w.err = err
			return true
		}
	}
	return true
}
