// Package server is the network side: listeners, connections, output queues.
//
// A connection's link reads bytes, parses commands and runs them in batches inside
// the engine. On Linux most sockets share a loop (loop_linux.go). Pipes, TLS
// connections and other systems have a goroutine for each connection (link.go).
//
// Replies and messages are appended to the connection's output queue under the
// engine's lock. They are written after the lock is released, as far as the socket
// takes them without blocking. The rest is written when the client has read more.
// So no client waits for another client's socket.
//
// A connection may also be a pipe inside the process (pipe.go). Dial makes it. It
// behaves as a socket does.
package server
