package lockredistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/deployment"
)

// Replicas makes the server a primary with n replicas, which follow it when RunT returns. Server.Nodes
// returns all of them, the primary first. With the option Sentinel, the Sentinels know the replicas.
//
// The nodes are in memory, and work in synctest bubbles. They announce 127.0.0.1 and the ports 6379,
// 6380 and so on; with the option Listen they have real ports. Faults of their links depend on no timing:
// Stop, Lag, Disconnect and Failover say after which write they act. Leaks are looked for at the node
// that is the primary at the end. The option does not work with TLS, ClusterOf and Primaries. n is at
// least 1.
func Replicas(n int) Option { return func(o *options) { o.replicas, o.replicated = n, true } }

// deployed returns the deployment of the option Replicas, nil without it. As within, it is no method.
func deployed(s *Server) *deployment.Deployment {
	d, _ := s.deployment.(*deployment.Deployment)
	return d
}

// mustDeployed is deployed for a method that needs the option.
func mustDeployed(s *Server, method string) *deployment.Deployment {
	s.t.Helper()
	s.stayPut()
	d := deployed(s)
	if d == nil {
		s.t.Fatal("lockredistest: " + method + " needs the option Replicas")
	}
	return d
}

// makeReplicated makes a primary and its replicas. They are not started.
func makeReplicated(nodes []*Server) {
	links := &deployment.Links{}
	for i, s := range nodes {
		s.links = links
		cfg := s.opts.cfg
		cfg.Dial = links.Dialer(i)
		cfg.Directives["replica-announce-ip"] = s.opts.announcedIP()
		if _, own := cfg.Directives["masterauth"]; cfg.Password != "" && !own {
			cfg.Directives["masterauth"] = cfg.Password
		}
		if s.opts.addr == "" {
			port := strconv.Itoa(6379 + i)
			cfg.Directives["replica-announce-port"] = port
			s.inMemory = net.JoinHostPort("127.0.0.1", port)
		}
		s.srv = lockredis.New(cfg)
	}
}

// announcedIP returns the IP address that a replica announces: that of the option Listen, if clients can
// connect to it.
func (o *options) announcedIP() string {
	host, _, _ := net.SplitHostPort(o.addr)
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		return host
	}
	return "127.0.0.1"
}

// replicate has the replicas follow the first node.
func replicate(nodes []*Server) error {
	links := nodes[0].links.(*deployment.Links)
	var members []deployment.Node
	for i, s := range nodes {
		if s.addr != "" { // the option Listen
			_, port, _ := net.SplitHostPort(s.addr)
			s.inMemory = net.JoinHostPort(s.opts.announcedIP(), port)
			if _, err := s.Do("CONFIG", "SET", "replica-announce-port", port); err != nil {
				return err
			}
		}
		members = append(members, deployment.Node{Addr: s.inMemory, Inside: *within(s)})
		links.Add(i, s.inMemory, func(ctx context.Context) (net.Conn, error) { return s.Dial(ctx, "tcp", "") })
	}
	d := deployment.New(links, members)
	for _, s := range nodes {
		s.deployment = d
	}
	return d.Form(context.Background())
}

// watchedBy tells the deployment of the Sentinels.
func (s *Server) watchedBy() {
	if d := deployed(s); d != nil {
		d.Watch(backdoor.Monitors(s.sentinels))
	}
}

// Primary returns the node that is the primary now: the one that the Sentinels name, or else the one of
// the last Failover. Without the option Replicas it is s.
func (s *Server) Primary() *Server {
	d := deployed(s)
	if d == nil {
		return s
	}
	s.stayPut()
	return s.nodes[d.Primary()]
}

// Replicas returns the nodes beside the Primary, also those that do not run. Nil without the option
// Replicas, also with ClusterReplicas.
func (s *Server) Replicas() []*Server {
	if deployed(s) == nil {
		return nil
	}
	primary := s.Primary()
	return slices.DeleteFunc(s.Nodes(), func(n *Server) bool { return n == primary })
}

// Failover promotes the replica with the most data, and returns it. It waits for no timeout of
// Redis, and works with a primary that runs, or that was stopped before. With Sentinels, a replica that does
// not run costs a second. It needs the option Replicas.
//
// Before, each replica gets what was written, except what Lag holds back and what a link that is
// disconnected has missed. With the option Sentinel the Sentinels carry it out, as SENTINEL FAILOVER
// does: their subscribers get +switch-master, and all Sentinels name the new primary when Failover
// returns. The other nodes follow it then, and so does the old primary, which loses what only it had.
// An old primary that Disconnect has cut off goes on as a primary. One that was stopped is a primary again
// after Restart, until Heal or until the Sentinels see it.
func (s *Server) Failover() (*Server, error) { return s.failover(-1, "Failover") }

// Promote is Failover to this node, which must be a replica.
func (s *Server) Promote() error {
	_, err := s.failover(slices.Index(s.nodes, s), "Promote")
	return err
}

func (s *Server) failover(to int, method string) (*Server, error) {
	s.t.Helper()
	promoted, err := mustDeployed(s, method).Failover(context.Background(), to)
	if err != nil {
		return nil, fmt.Errorf("lockredistest: failover: %w", err)
	}
	return s.nodes[promoted], nil
}

// Lag keeps the last writes from this node, whichever primary it follows: it gets a write when the
// primary has made that many more. A script or a transaction is one write. The node's link works
// meanwhile, and it acknowledges what it has: WAIT waits. Lag(0) ends that, and the node gets all.
//
// A node that gets all data anew has all writes. The writes that Lag holds back are lost when the primary stops, or a Failover promotes this node.
func (s *Server) Lag(writes int) {
	s.t.Helper()
	mustDeployed(s, "Lag").Lag(slices.Index(s.nodes, s), max(writes, 0))
}

// Disconnect breaks the links between this node and others, and refuses new ones until Reconnect or
// Heal. Without others it is cut off from all nodes and from the Sentinels. What was written before has
// arrived. Clients still reach every node: a primary that is cut off serves those that know its address.
func (s *Server) Disconnect(others ...*Server) error {
	s.t.Helper()
	d := mustDeployed(s, "Disconnect")
	return s.eachOther(others, func(a, b int) error { return d.Cut(context.Background(), a, b) })
}

// Reconnect ends Disconnect. When it returns, replicas have what they have missed. A primary that was
// cut off during a Failover stays a primary, until the Sentinels see it, some seconds later, or Heal.
func (s *Server) Reconnect(others ...*Server) error {
	s.t.Helper()
	d := mustDeployed(s, "Reconnect")
	return s.eachOther(others, func(a, b int) error { return d.Heal(context.Background(), a, b) })
}

// eachOther calls do with the index of s and of each other node; without others of all, and of the
// Sentinels.
func (s *Server) eachOther(others []*Server, do func(a, b int) error) (err error) {
	own := slices.Index(s.nodes, s)
	if len(others) == 0 {
		others = s.nodes
		err = do(own, deployment.Sentinels)
	}
	for _, other := range others {
		if other != s {
			err = errors.Join(err, do(own, slices.Index(s.nodes, other)))
		}
	}
	return err
}

// Heal ends every Disconnect and Lag. All nodes that run follow the Primary when it returns. Another
// node that was a primary loses what only it had.
func (s *Server) Heal() error {
	s.t.Helper()
	if err := mustDeployed(s, "Heal").HealAll(context.Background()); err != nil {
		return fmt.Errorf("lockredistest: heal: %w", err)
	}
	return nil
}

// settleReplicas has the replicas of a node get all that it has written, and the node what its primary
// has, before it ends.
func (s *Server) settleReplicas() {
	if d := deployed(s); d != nil {
		if err := d.Settle(context.Background(), slices.Index(s.nodes, s)); err != nil {
			s.t.Log("lockredistest:", err)
		}
	}
}
