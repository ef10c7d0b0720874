//go:build !linux

package server

import "net"

// loop exists on Linux only.
type loop struct{}

func (*Server) loopLink(*conn, net.Conn) link { return nil }

func (*Server) startLoops() {}

func (*Server) stopLoops() {}
