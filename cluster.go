package lockredis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/config"
)

// membership is a server's place in a cluster of several servers.
type membership struct {
	bus       *cluster.Bus
	index     int       // of the node
	primaries int       // the first nodes; the others are their replicas
	nodes     []*Server // by index
}

// NewCluster returns servers that are the nodes of one cluster, a node for each Config. All are
// primaries, and share the slots as redis-cli --cluster create divides them. The cluster is ready
// when Start of the last one has returned. Several nodes need a Settings value, an address and
// files of their own each; the zero Config is a node on a free port.
//
// The nodes have cluster-enabled yes, and announce an IP address: the first one of bind, or else
// 127.0.0.1. The directives cluster-announce-ip, cluster-announce-port and cluster-slots of a Config
// override that. With NoSocket a node has only the port that it announces. The nodes connect to each
// other in memory, unless a Config has a Dial or tls-replication is on.
//
// Close of a node is what the end of its process is in Redis after cluster-node-timeout: for the
// other nodes it has failed. A node does not come back. After a Close of all nodes nothing runs.
func NewCluster(nodes ...Config) []*Server { return NewReplicatedCluster(len(nodes), nodes...) }

// NewReplicatedCluster is NewCluster with replicas: the first nodes are primaries, and each of the
// others is a replica of one of them, in turn. With three primaries and six nodes each primary has one
// replica. The nodes are started in this order. Start of a replica whose primary is started returns when
// their link is up; it gives up after 20 seconds.
//
// When a primary is closed, a replica of it takes over at once, if the majority of the primaries is left: of three or more. So it does on CLUSTER FAILOVER. Each
// node sends the others its Password, unless a directive masterauth says otherwise. With a wrong number of
// primaries Start returns an error.
func NewReplicatedCluster(primaries int, nodes ...Config) []*Server {
	servers := make([]*Server, len(nodes))
	bus := cluster.NewReplicatedBus(primaries)
	for i, cfg := range nodes {
		cfg.member = &membership{bus: bus, index: i, primaries: primaries, nodes: servers}
		servers[i] = New(cfg)
	}
	return servers
}

// form sets the directives of a node. Nil: the server belongs to no cluster of several servers.
func (m *membership) form(set *config.Config) error {
	if m == nil {
		return nil
	}
	if m.primaries < 1 || m.primaries > len(m.nodes) {
		return fmt.Errorf("cluster of %d nodes: %d of them cannot be primaries", len(m.nodes), m.primaries)
	}
	err := set.Load("cluster-enabled", "yes")
	if m.index < m.primaries {
		slots := cluster.Share(m.index, m.primaries)
		err = errors.Join(err, set.Load("cluster-slots", strings.Fields(slots.String())...))
	}
	if set.Cluster.AnnounceIP == "" {
		err = errors.Join(err, set.Load("cluster-announce-ip", set.OwnIP()))
	}
	return err
}

// trust makes the node send other nodes its own password, see config.Config.TrustPeers.
func (m *membership) trust(set *config.Config) error {
	if m == nil {
		return nil
	}
	return set.TrustPeers()
}

// awaitLink is how long Start of a replica waits for the link with its primary.
const awaitLink = 20 * time.Second

// awaitLink waits until the link with the primary is up, if the server is the replica of a cluster and its
// primary is started. After an error the server is closed. s.mu is held, but not while it waits.
func (s *Server) awaitLink(linked <-chan struct{}) error {
	if s.cfg.member == nil || linked == nil {
		return nil
	}
	s.mu.Unlock()
	limit := time.NewTimer(awaitLink)
	defer limit.Stop()
	var err error
	select {
	case <-linked:
	case <-s.closing:
	case <-limit.C:
		err = fmt.Errorf("no link with the primary within %v: do the nodes have the same password?", awaitLink)
	}
	s.mu.Lock()
	switch {
	case s.state == closed:
		return ErrServerClosed
	case err != nil:
		s.abort()
	}
	return err
}

// sharedBus returns the bus of the node, nil for a server that is alone.
func (m *membership) sharedBus() *cluster.Bus {
	if m == nil {
		return nil
	}
	return m.bus
}

// dialer returns how a node connects to another server: to a node of the cluster in memory, as the
// address that it announces may be one for clients only. Nil: by TCP.
func (m *membership) dialer() dialer {
	if m == nil {
		return nil
	}
	return func(ctx context.Context, addr string) (net.Conn, error) {
		if i := m.bus.Find(addr); i >= 0 {
			return m.nodes[i].Dial(ctx)
		}
		return new(net.Dialer).DialContext(ctx, "tcp", addr)
	}
}
