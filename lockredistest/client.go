package lockredistest

import (
	"io"

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
//   - PoolSize: it is larger than the number of goroutines that use the client. A goroutine
//     that waits for a connection uses a timer from a pool. All go-redis clients of the
//     process share that pool. A timer of another bubble ends the process. Pipelines use
//     the same pool of connections.
//   - MaintNotificationsConfig: notifications start goroutines that outlive the client.
//   - Limiter: it sets no limit. Through it an rlock client learns which leases Advance ended.
//   - DisableIdentity: without it each connection begins with two more commands.
//
// Options panics in a synctest bubble if the server was started outside of it.
func (s *Server) Options() *redis.Options {
	s.stayPut()
	user, password := s.credentials()
	o := &redis.Options{
		Addr:                     memoryAddr,
		Dialer:                   s.Dial,
		Username:                 user,
		Password:                 password,
		PoolSize:                 poolSize,
		PipelinePoolSize:         -1,
		ReadBufferSize:           16 << 10,
		WriteBufferSize:          16 << 10,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		DisableIdentity:          true,
		Limiter:                  joint{s},
	}
	if s.trust != nil {
		o.Addr, o.Dialer, o.TLSConfig = s.Addr(), nil, s.TLSConfig()
	}
	return o
}

// Client returns a new go-redis client with the server's Options. The client is closed when
// the test ends. Its open subscriptions are leaks; its blocked commands are not.
func (s *Server) Client() *redis.Client {
	rdb := redis.NewClient(s.Options())
	s.closeLater(rdb)
	return rdb
}

// closeLater closes a client when the test ends.
func (s *Server) closeLater(rdb io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = append(s.clients, rdb)
}
