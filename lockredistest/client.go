package lockredistest

import (
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// poolSize is more connections than a test has goroutines. They are dialled one
// by one as they are needed.
const poolSize = 4096

// Options returns options for a go-redis client that reaches the server in
// memory and is safe in a testing/synctest bubble. The caller may change them,
// but not these:
//
//   - Dialer: a socket is not durably blocking.
//   - PoolSize, larger than the number of goroutines that use the client: one that
//     waits for a connection takes a timer out of a pool that go-redis shares
//     between all clients of the process, and a timer of another bubble ends the
//     process. Pipelines use the same pool of connections.
//   - MaintNotificationsConfig: notifications would start goroutines that outlive
//     the client.
//   - DisableIdentity: it saves two commands a connection, and errors where they
//     are not known.
func (s *Server) Options() *redis.Options {
	o := &redis.Options{
		Addr:                     "127.0.0.1:6379", // an IP address: nothing is looked up
		Dialer:                   s.Dial,
		Password:                 s.opts.cfg.Password,
		PoolSize:                 poolSize,
		PipelinePoolSize:         -1,
		ReadBufferSize:           16 << 10,
		WriteBufferSize:          16 << 10,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		DisableIdentity:          true,
	}
	if s.trust != nil {
		o.Addr, o.Dialer, o.TLSConfig = s.Addr(), nil, s.TLSConfig()
	}
	return o
}

// Client returns a new go-redis client with the server's Options, which is
// closed when the test ends, before the check for leaks.
func (s *Server) Client() *redis.Client {
	rdb := redis.NewClient(s.Options())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = append(s.clients, rdb)
	return rdb
}
