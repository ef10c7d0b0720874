package lockredis

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/config"
)

// membership is a server's place in a cluster of several servers.
type membership struct {
	bus   *cluster.Bus
	index int       // of the node
	nodes []*Server // by index
}

// NewCluster returns servers that are the nodes of one cluster, a node for each Config. All are
// primaries, and share the slots as redis-cli --cluster create divides them. The cluster is ready
// when Start of the last one has returned. Several nodes need a Settings value, an address and
// files of their own each; the zero Config is a node on a free port.
//
// The nodes have cluster-enabled yes, and announce an IP address: the first one of bind, or else
// 127.0.0.1. The directives cluster-announce-ip, cluster-announce-port and cluster-slots of a Config
// override that. With NoSocket a node has only the port that it announces; the others find it there,
// in memory, unless its Config has a Dial.
//
// Close of a node is what the end of its process is in Redis after cluster-node-timeout: for the
// other nodes it has failed. A node does not come back. After a Close of all nodes nothing runs.
func NewCluster(nodes ...Config) []*Server {
	servers := make([]*Server, len(nodes))
	bus := cluster.NewBus()
	for i, cfg := range nodes {
		cfg.member = &membership{bus: bus, index: i, nodes: servers}
		servers[i] = New(cfg)
	}
	return servers
}

// form sets the directives of a node. Nil: the server belongs to no cluster of several servers.
func (m *membership) form(set *config.Config) error {
	if m == nil {
		return nil
	}
	slots := cluster.Share(m.index, len(m.nodes))
	err := errors.Join(set.Load("cluster-enabled", "yes"),
		set.Load("cluster-slots", strings.Fields(slots.String())...))
	if set.Cluster.AnnounceIP == "" {
		err = errors.Join(err, set.Load("cluster-announce-ip", set.OwnIP()))
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

// dialer returns how a node connects to another server: to a node without a socket in memory. Nil: by
// TCP.
func (m *membership) dialer() dialer {
	if m == nil {
		return nil
	}
	return func(ctx context.Context, addr string) (net.Conn, error) {
		if i := m.bus.Find(addr); i >= 0 && m.nodes[i].cfg.NoSocket && len(m.nodes[i].Addrs()) == 0 {
			return m.nodes[i].Dial(ctx)
		}
		return new(net.Dialer).DialContext(ctx, "tcp", addr)
	}
}
