package lockredistest

import "github.com/redis/go-redis/v9"

// ClusterOptions returns options for a go-redis cluster client that connects in memory, see
// Options. The server needs the option Cluster or ClusterOf.
//
// An rlock client over a cluster client does not learn which leases Advance ended. It goes on
// until its own clock ends them.
func (s *Server) ClusterOptions() *redis.ClusterOptions {
	o := s.Options()
	if o.TLSConfig != nil {
		o.TLSConfig.ServerName = "localhost" // CLUSTER SLOTS names no host
	}
	c := &redis.ClusterOptions{
		Addrs:                    []string{o.Addr},
		Dialer:                   o.Dialer,
		TLSConfig:                o.TLSConfig,
		Username:                 o.Username,
		Password:                 o.Password,
		PoolSize:                 o.PoolSize,
		PipelinePoolSize:         o.PipelinePoolSize,
		ReadBufferSize:           o.ReadBufferSize,
		WriteBufferSize:          o.WriteBufferSize,
		MaintNotificationsConfig: o.MaintNotificationsConfig,
		DisableIdentity:          o.DisableIdentity,
	}
	s.clusterNodes(c)
	return c
}

// ClusterClient returns a new go-redis cluster client with the server's ClusterOptions. It is
// closed when the test ends, as Client's.
func (s *Server) ClusterClient() *redis.ClusterClient {
	rdb := redis.NewClusterClient(s.ClusterOptions())
	s.closeLater(rdb)
	return rdb
}
