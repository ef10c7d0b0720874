package lockredistest

import (
	"context"
	"net"

	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/bubble"
)

// The runtime ends the process if a goroutine wakes another one across the border of a synctest
// bubble. A goroutine that waits for a socket is never durably blocked, so the bubble's time
// stands still. This file turns both mistakes into a panic that names them.

const (
	outsideServer = "lockredistest: the server was started outside of this synctest bubble; " +
		"call RunT inside the bubble"
	bubbleServer = "lockredistest: the server was started in a synctest bubble; " +
		"use it only inside that bubble"
	bubbleAddr = "lockredistest: Addr in a synctest bubble: time stands still while a goroutine " +
		"waits for a socket; connect with Client, Options or Dial"
	bubbleSocket = "the options Listen and TLS open a socket, and do not work in a synctest bubble"
)

// stayPut panics if the caller and the server are not on the same side of a bubble's border.
func (s *Server) stayPut() {
	switch inside := bubble.Inside(); {
	case inside == s.bubbled:
	case inside:
		panic(outsideServer)
	default:
		panic(bubbleServer)
	}
}

// door returns the way into the server, for what is to happen now.
func door(s *Server) *backdoor.Inside {
	s.stayPut()
	return within(s)
}

// init makes the process's first lookup of a name. In it the net package makes its resolver's
// channels. If that happens in a bubble, a lookup outside of that bubble ends the process.
// redis.NewFailoverClient looks a name up. The context has ended, so this lookup asks no DNS server.
func init() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, _ = net.DefaultResolver.LookupAddr(ended, "127.0.0.1")
}
