package wire

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// IsReset reports whether err means that the server reset the connection: a reset or a
// broken pipe, not a deadline or a malformed reply.
func IsReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// IsClosed reports whether err means that the connection has ended, from either side.
func IsClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || IsReset(err)
}
