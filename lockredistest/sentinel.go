package lockredistest

import (
	"context"
	"errors"
	"net"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/deployment"
)

// memoryAddr is the address of a server in memory. It is an IP address: nothing is looked up.
const memoryAddr = "127.0.0.1:6379"

// Sentinel starts three Sentinels that monitor the server. Server.FailoverClient and
// Server.FailoverOptions connect through them. change may change their configuration: the
// number and the names of Addrs, Master, Password, Quorum, DownAfter, Logger. Nil means the
// defaults.
//
// The Sentinels are in memory, like the server, and work in synctest bubbles. With the option
// Listen they listen on free ports of 127.0.0.1, unless change sets Addrs. They use the
// machine's clock, also with ManualClock. Their connections and commands count in the
// server's counts, and faults concern them: Stop and Hang make the server +sdown. The option
// does not work with TLS.
func Sentinel(change func(*lockredis.SentinelConfig)) Option {
	return func(o *options) {
		o.sentinel = &lockredis.SentinelConfig{}
		if change != nil {
			change(o.sentinel)
		}
	}
}

// startSentinels starts the Sentinels of the option Sentinel.
func (s *Server) startSentinels() (err error) {
	if s.opts.tls {
		return errors.New("the options Sentinel and TLS do not work together")
	}
	cfg := *s.opts.sentinel
	cfg.Addr, cfg.MasterPassword, cfg.Dial = s.addr, s.password, s.Dial
	if s.addr == "" {
		cfg.Addr, cfg.NoSocket = memoryAddr, true
	} else {
		cfg.Dial = nil
	}
	if s.opts.replicated {
		cfg.Addr = s.inMemory
		if cfg.AnnounceIP == "" { // their connections to the nodes are in memory, and have no IP address
			cfg.AnnounceIP = s.opts.announcedIP()
		}
		cfg.Replicas, cfg.Dial = s.opts.replicas, s.links.(*deployment.Links).Dialer(deployment.Sentinels)
	}
	if s.sentinels, err = lockredis.StartSentinels(context.Background(), cfg); err == nil {
		s.watchedBy()
	}
	return err
}

// Sentinels returns the Sentinels of the option Sentinel, nil without it.
func (s *Server) Sentinels() *lockredis.Sentinels { return s.sentinels }

// FailoverOptions returns options for a go-redis client that asks the Sentinels where the
// server is. The client connects in memory, see Options, or over TCP with the option Listen.
// The server needs the option Sentinel.
//
// An rlock client over a failover client does not learn which leases Advance ended. It goes
// on until its own clock ends them.
func (s *Server) FailoverOptions() *redis.FailoverOptions {
	s.t.Helper()
	if s.sentinels == nil {
		s.t.Fatal("lockredistest: FailoverOptions needs the option Sentinel")
	}
	o := s.Options()
	f := &redis.FailoverOptions{
		MasterName:       "mymaster",
		SentinelAddrs:    s.sentinels.Addrs(),
		SentinelPassword: s.opts.sentinel.Password,
		Username:         o.Username,
		Password:         o.Password,
		PoolSize:         o.PoolSize,
		PipelinePoolSize: o.PipelinePoolSize,
		ReadBufferSize:   o.ReadBufferSize,
		WriteBufferSize:  o.WriteBufferSize,
		DisableIdentity:  o.DisableIdentity,
	}
	if name := s.opts.sentinel.Master; name != "" {
		f.MasterName = name
	}
	if s.opts.addr == "" {
		f.Dialer = s.dialNode
	}
	return f
}

// dialNode connects to a Sentinel, to the node with an address, or else to the server, in memory.
func (s *Server) dialNode(ctx context.Context, network, addr string) (net.Conn, error) {
	if slices.Contains(s.sentinels.Addrs(), addr) {
		return s.sentinels.Dial(ctx, network, addr)
	}
	for _, n := range s.nodes {
		if addr == n.inMemory {
			return n.Dial(ctx, network, addr)
		}
	}
	return s.Dial(ctx, network, addr)
}

// FailoverClient returns a new go-redis client with the server's FailoverOptions. It is closed
// when the test ends, as Client's.
func (s *Server) FailoverClient() *redis.Client {
	s.t.Helper()
	rdb := redis.NewFailoverClient(s.FailoverOptions())
	s.closeLater(rdb)
	return rdb
}
