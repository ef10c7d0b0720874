//go:build !unix

package program

import (
	"errors"
	"io"
)

// detaches says that this system has no daemonize: the configuration refuses it.
const detaches = false

// startDaemon fails.
func startDaemon(string, []byte) (io.ReadCloser, func() error, error) {
	return nil, nil, errors.New("not available on this system")
}
