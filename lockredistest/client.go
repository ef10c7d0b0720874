package lockredistest

import (
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// poolSize is larger than the number of goroutines in a test. The pool dials a connection
// only when it is needed.
const poolSize = 4096

// Options returns options for a go-redis client that connects in memory and is safe in a
// testing/synctest bubble. The caller may change them, except these:
//
//   - Dialer: a goroutine that waits for a socket is not durably blocked.
//   - PoolSize, which is larger than the number of goroutines that use the client. A
//     goroutine that waits for a connection uses a timer from a pool that all go-redis
//     clients of the process share. A timer of another bubble ends the process. Pipelines
//     use the same pool of connections.
//   - MaintNotificationsConfig: notifications start goroutines that outlive the client.
//   - DisableIdentity: it saves two commands for each connection, and errors from servers
//     that do not know the commands.
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

// Client returns a new go-redis client with the server's Options. The client is closed when
// the test ends, before the check for leaks.
func (s *Server) Client() *redis.Client {
	rdb := redis.NewClient(s.Options())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = append(s.clients, rdb)
	return rdb
}
