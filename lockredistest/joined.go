package lockredistest

import (
	"slices"

	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/internal/leases"
)

// joint is the Limiter of the options that a Server returns. It sets no limit. Through it a lock
// client of this module finds the server of its go-redis client, see package leases.
type joint struct{ s *Server }

// Allow is redis.Limiter's.
func (joint) Allow() error { return nil }

// ReportResult is redis.Limiter's.
func (joint) ReportResult(error) {}

// joined is a lock client that has joined. Its address identifies it.
type joined struct{ leases.Client }

// JoinLeases is leases.Server's. The server also recognises the client's owners from now on,
// whatever the client's id looks like.
func (j joint) JoinLeases(c leases.Client) (leave func()) {
	s, member := j.s, &joined{c}
	within(s).Inspector.Know(c.LeaseID())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joined = append(s.joined, member)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.joined = slices.DeleteFunc(s.joined, func(other *joined) bool { return other == member })
	}
}

// hasJoined reports whether a lock client of this process is to be told which leases end.
func (s *Server) hasJoined() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.joined) > 0
}

// tellOwners tells the joined clients which leases have ended.
func (s *Server) tellOwners(ended []inspect.Lease) {
	if len(ended) == 0 {
		return
	}
	s.mu.Lock()
	members := slices.Clone(s.joined)
	s.mu.Unlock()
	for _, l := range ended {
		for _, c := range members {
			c.LeaseEnded(l.DB, l.Name, l.Owner)
		}
	}
}
