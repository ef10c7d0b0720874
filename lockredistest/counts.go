package lockredistest

// CommandCount returns how many commands clients have sent, refused ones included. The test's
// own Do and the methods of Keyspace do not count, nor do the commands of scripts.
func (s *Server) CommandCount() (n int) {
	for _, count := range s.CommandCounts() {
		n += count
	}
	return n
}

// CommandCounts returns how often clients have sent each command, by the name in lower case. A
// subcommand's name is "client|list". It counts what CommandCount counts.
func (s *Server) CommandCounts() map[string]int { return door(s).Faults().Requests() }

// CurrentConnectionCount returns how many connections are open. The server notices the end of
// a connection a little later than the client that closed it.
func (s *Server) CurrentConnectionCount() int {
	open, _ := door(s).ConnectionCounts()
	return open
}

// TotalConnectionCount returns how many connections there have been since the server's start
// or its last Restart.
func (s *Server) TotalConnectionCount() int {
	_, total := door(s).ConnectionCounts()
	return total
}
