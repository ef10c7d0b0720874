//go:build !unix

package server

import "net"

// nowWriter writes nothing: there is no portable way to write without blocking. A
// goroutine that may block writes everything, see ownGoroutine.awaitWritable.
type nowWriter struct{}

func newNowWriter(net.Conn) *nowWriter { return &nowWriter{} }

// Write writes nothing.
func (*nowWriter) Write([]byte) (n int, err error) { return 0, nil }
