package lockredistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis"
)

// A test may have several servers: the nodes of a cluster, or independent primaries. The Server that
// RunT returns is the first of them. It closes the others and reports their leaks.

// ClusterOf makes the server the first of n nodes of a cluster, all of them primaries; ClusterReplicas adds
// replicas. They share the slots as redis-cli --cluster create divides them. Server.Nodes returns the nodes.
// ClusterClient and ClusterOptions of any node connect to all of them; Client and Options connect
// to one node, which redirects with MOVED. A slot moves with CLUSTER SETSLOT and MIGRATE. Stop and
// Close of a node are what the end of its process is in Redis after cluster-node-timeout: for the
// other nodes it has failed.
//
// The cluster is in memory and works in synctest bubbles. Addr opens a port for each node. The option
// does not work with TLS and Sentinel. With ManualClock each node has a clock of its own, and
// Server.AdvanceAll turns all of them. n is at least 1.
func ClusterOf(n int) Option { return severalNodes(n, true) }

// Primaries makes the server the first of n independent servers, as RedLock, a multi lock and rlock's
// Quorum use them. Server.Nodes returns the servers. Each has options, a clock, faults and leaks of
// its own. n is at least 1.
func Primaries(n int) Option { return severalNodes(n, false) }

// Proxy makes the server answer as a proxy before a cluster of n nodes does: it knows no CLUSTER, and
// commands, transactions and scripts with keys of several slots fail with CROSSSLOT. A script that
// uses a key of another node than that of its declared keys fails, too. n is 1 to 1000.
func Proxy(n int) Option { return Directive("topology", "proxy:"+strconv.Itoa(n)) }

func severalNodes(n int, clustered bool) Option {
	return func(o *options) {
		o.nodes, o.clustered = n, clustered
		o.several = true
	}
}

// Nodes returns the servers of the options ClusterOf, Primaries and Replicas, in order; replicas come behind the
// primaries. The first is the one that RunT returned. Without these options it is the only one.
func (s *Server) Nodes() []*Server { return slices.Clone(s.nodes) }

// Node returns the i-th of Nodes, from 0 on. It panics if there is none.
func (s *Server) Node(i int) *Server { return s.nodes[i] }

// checkNodes returns an error if the options do not fit several servers.
func (o *options) checkNodes() error {
	switch {
	case o.replicated && (o.several || o.tls):
		return errors.New("the option Replicas does not work with ClusterOf, Primaries and TLS")
	case o.replicated && o.replicas < 1:
		return fmt.Errorf("%d replicas: at least 1 is needed", o.replicas)
	case !o.several && !o.replicated && o.replicas != 0:
		return errors.New("the option ClusterReplicas needs ClusterOf")
	case !o.several:
		o.nodes = 1
	case o.nodes < 1:
		return fmt.Errorf("%d nodes: at least 1 is needed", o.nodes)
	case o.replicas < 0:
		return fmt.Errorf("%d replicas of each primary: at least 0 are needed", o.replicas)
	case o.replicas > 0 && !o.clustered:
		return errors.New("the option ClusterReplicas needs ClusterOf, not Primaries")
	case o.sentinel != nil:
		return errors.New("the option Sentinel works with one primary only")
	case o.clustered && o.tls:
		return errors.New("the options ClusterOf and TLS do not work together")
	}
	o.nodes *= 1 + o.replicas
	return nil
}

// makeServers makes the servers of the nodes. They are not started.
func makeServers(nodes []*Server) {
	if nodes[0].opts.replicated {
		makeReplicated(nodes)
		return
	}
	if !nodes[0].opts.clustered {
		for _, s := range nodes {
			s.srv = lockredis.New(s.opts.cfg)
		}
		return
	}
	var cfgs []lockredis.Config
	for i, s := range nodes {
		s.inMemory = net.JoinHostPort("127.0.0.1", strconv.Itoa(6379+i))
		cfg := s.opts.cfg
		cfg.Directives["cluster-announce-port"] = strconv.Itoa(6379 + i)
		cfgs = append(cfgs, cfg)
	}
	for i, srv := range lockredis.NewReplicatedCluster(len(nodes)/(1+nodes[0].opts.replicas), cfgs...) {
		nodes[i].srv = srv
	}
}

// openPorts opens a port for each node of a cluster, or for this server alone. Nodes that are stopped
// have none.
func (s *Server) openPorts() error {
	if !s.opts.clustered {
		return s.openPort("127.0.0.1:0")
	}
	for _, n := range s.nodes {
		if err := n.openPort("127.0.0.1:0"); err != nil {
			return err
		}
	}
	return nil
}

// openPort makes the server listen on an address, unless it has one already. The node of a cluster
// announces its port then.
func (s *Server) openPort(addr string) error {
	s.mu.Lock()
	if s.addr != "" {
		s.mu.Unlock()
		return nil
	}
	err := s.listen(addr)
	s.mu.Unlock()
	if err != nil || !s.opts.clustered {
		return err
	}
	_, port, _ := net.SplitHostPort(s.addr)
	_, err = s.Do("CONFIG", "SET", "cluster-announce-port", port)
	return err
}

// listenAddr returns the address of the option Listen for the i-th node: the port and those behind it.
func (o *options) listenAddr(i int) string {
	host, port, err := net.SplitHostPort(o.addr)
	if n, notNumber := strconv.Atoi(port); err == nil && notNumber == nil && n > 0 {
		return net.JoinHostPort(host, strconv.Itoa(n+i))
	}
	return o.addr
}

// dialCluster connects in memory to the node that announces an address.
func (s *Server) dialCluster(ctx context.Context, network, addr string) (net.Conn, error) {
	for _, n := range s.nodes {
		n.mu.Lock()
		is := addr == n.inMemory || addr == n.addr
		n.mu.Unlock()
		if is {
			return n.Dial(ctx, network, addr)
		}
	}
	return nil, fmt.Errorf("lockredistest: no node of the cluster has the address %s", addr)
}

// clusterNodes sets the addresses of options for all nodes of a cluster.
func (s *Server) clusterNodes(o *redis.ClusterOptions) {
	if !s.opts.clustered {
		return
	}
	o.Addrs, o.Dialer = nil, s.dialCluster
	for _, n := range s.nodes {
		o.Addrs = append(o.Addrs, n.inMemory)
	}
}

// group returns the servers that Close of s closes: all, or s if it is not the first.
func (s *Server) group() []*Server {
	if s == s.nodes[0] {
		return s.nodes
	}
	return []*Server{s}
}

// named adds the number of the node to an error.
func (s *Server) named(err error) error {
	if err == nil || len(s.nodes) == 1 {
		return err
	}
	return fmt.Errorf("node %d: %w", slices.Index(s.nodes, s), err)
}
