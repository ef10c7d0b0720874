package lockredistest

import (
	"errors"
	"io"
	"slices"

	"github.com/lockredis/lockredis/internal/inspect"
)

// Close closes the clients of Client, ClusterClient and FailoverClient, looks for leaks, and closes
// the server, its Sentinels, and with the first of several nodes the others. The locks of these
// clients must be released before. The error names the leaks, which AllowLeaks leaves out, and what
// went wrong with the If of faults. A server that RunT started is closed when its test ends. If
// Close was called before, the test still fails with its error. A second call returns nil, when the
// first is over. Use Stop for a server that is to serve again.
func (s *Server) Close() error {
	if s.srv == nil {
		panic("lockredistest: a Server comes from Run or RunT")
	}
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		<-s.ended
		return nil
	}
	defer close(s.ended)
	group := slices.DeleteFunc(slices.Clone(s.group()), func(n *Server) bool { return n != s && n.closeFirst() })
	stuck := make([]error, len(group))
	var clients []io.Closer
	for i, n := range group {
		n.mu.Lock()
		clients, n.clients = append(clients, n.clients...), nil
		faulty := n.faulty
		n.mu.Unlock()
		if faulty || !n.opts.allowLeaks {
			stuck[i] = n.awaitScript()
		}
		for _, f := range n.takeFaults() {
			f.remove()
		}
		if faulty {
			door(n).Faults().Abandon()
		}
	}
	err := closeClients(group, stuck, clients)
	if s.sentinels != nil {
		s.sentinels.Close()
	}
	for _, n := range group {
		n.srv.Close()
		n.mu.Lock()
		served := n.served
		n.mu.Unlock()
		if served != nil {
			<-served
		}
		err = errors.Join(err, n.asks.err()) // after the last call of an If
		if n != s {
			close(n.ended)
		}
	}
	s.mu.Lock()
	s.closeErr = err
	s.mu.Unlock()
	return err
}

// closeFirst begins the Close of a node that the first node closes. It reports whether that was done
// before.
func (s *Server) closeFirst() (closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	closed, s.closed = s.closed, true
	return closed
}

// closeClients closes the clients that Client, ClusterClient and FailoverClient returned. It
// returns an error that names the leaks of the servers. stuck is what awaitScript returned for each.
func closeClients(servers []*Server, stuck []error, clients []io.Closer) error {
	subscribed := make([][]inspect.Leftover, len(servers))
	for i, s := range servers {
		if !s.opts.allowLeaks && stuck[i] == nil {
			subscribed[i] = s.subscriptionLeaks()
		}
	}
	for _, rdb := range clients {
		rdb.Close()
	}
	var err error
	for i, s := range servers {
		if s.opts.allowLeaks {
			continue
		}
		if stuck[i] == nil {
			stuck[i] = s.checkLeaks(subscribed[i])
		}
		err = errors.Join(err, s.named(stuck[i]))
	}
	return err
}

// end closes the server at the end of the test and reports leaks. After a failure it only
// logs them: most likely the failed test could not clean up.
func (s *Server) end() {
	s.t.Helper()
	err := s.Close()
	if err == nil { // the test may have called Close
		s.mu.Lock()
		err = s.closeErr
		s.mu.Unlock()
	}
	switch {
	case err == nil:
	case s.t.Failed():
		s.t.Log(err)
	default:
		s.t.Error(err)
	}
}
