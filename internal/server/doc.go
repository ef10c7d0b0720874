// Package server is the network's side: listeners, connections, output queues.
//
// A connection's link reads, cuts the bytes into commands and runs them in
// batches inside the engine. On Linux most sockets share a loop (loop_linux.go);
// pipes, TLS connections and other systems have a goroutine for each connection
// (link.go). Replies and messages are appended to the connection's output queue
// under the engine's lock and written after it is released, as far as the socket
// takes them without waiting; the rest follows when the reader has caught up. So
// nobody waits for anybody else's socket.
//
// A connection may also be a pipe inside the process (pipe.go), which Dial makes:
// a socket's twin without a socket.
package server
