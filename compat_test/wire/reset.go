package wire

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// IsReset tells whether err says that the server tore the connection down (a reset or
// a broken pipe), in contrast to a deadline or a malformed reply.
func IsReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// IsClosed tells whether err means that the connection is over, whoever ended it.
func IsClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || IsReset(err)
}
