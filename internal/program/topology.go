package program

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/control"
	"github.com/lockredis/lockredis/internal/deployment"
)

// nodes are the nodes of the process: one server or Sentinel, a server with the replicas and Sentinels of
// the directive topology, or these Sentinels alone, or the servers of a topology.
type nodes struct {
	first     *lockredis.Server    // nil: the primary is elsewhere
	more      []*lockredis.Server  // of a cluster, or of primaries, or replicas
	links     *deployment.Links    // between the primary, its replicas and the Sentinels
	sentinels *lockredis.Sentinels // nil: none
	doors     []*control.Door      // one to each server, or none
	kind      string               // of the servers, in lines
	replicas  bool                 // the servers behind the first one are replicas
	host      string               // at which clients reach the nodes; "": no topology
}

// starting is what startNodes starts nodes of.
type starting struct {
	settings *lockredis.Settings
	set      *config.Config // of settings
	log      *slog.Logger
	// again returns the settings once more, for another server.
	again func() (*lockredis.Settings, error)
	// records says that the program looks for leaks at the end.
	records bool
}

// startNodes starts the node of s.settings and what the directive topology adds to it. It gives up
// when ctx ends. After an error nothing is left running.
func startNodes(ctx context.Context, s starting) (*nodes, error) {
	set, t := s.set, s.set.Topology
	if set.Control && (set.Sentinel || t.Primary != "") {
		return nil, errors.New("control needs a server in the process")
	}
	if t.Primary != "" {
		n := &nodes{host: reachableHost(set)}
		set.Listening() // the Sentinels read no file
		return n, n.startSentinels(ctx, t.Primary, set, s.log)
	}
	if t.Kind != "" && (set.Sentinel || set.Port == 0 && !set.PortAuto) {
		return nil, errors.New("topology needs a server with a TCP port that does not speak TLS")
	}
	n := &nodes{replicas: t.Replicas > 0}
	if t.Kind != "" {
		n.host, n.kind = reachableHost(set), "primary"
	}
	if err := n.make(s); err != nil {
		return nil, err
	}
	for _, srv := range n.servers() {
		stop := context.AfterFunc(ctx, func() { srv.Close() }) // it may be loading a large file
		err := srv.Start()
		stop()
		if err != nil {
			n.close()
			return nil, err
		}
	}
	err := n.join(ctx, s)
	if err != nil {
		for _, srv := range n.servers() {
			srv.Close()
		}
	}
	return n, err
}

// join has the replicas follow the primary, and starts the Sentinels.
func (n *nodes) join(ctx context.Context, s starting) error {
	t := s.set.Topology
	if t.Replicas == 0 && t.Sentinels == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, srv := range n.servers() {
		go func() {
			select {
			case <-srv.Done():
				cancel(errors.New("the server has ended"))
			case <-ctx.Done():
			}
		}()
	}
	if t.Replicas > 0 {
		if err := n.replicate(ctx); err != nil {
			return err
		}
	}
	if t.Sentinels == 0 {
		return nil
	}
	return n.startSentinels(ctx, n.reachable(n.first.Addr()), s.set, s.log)
}

// replicate has the replicas follow the primary.
func (n *nodes) replicate(ctx context.Context) error {
	var members []deployment.Node
	for i, srv := range n.servers() {
		local := srv.Addr()
		members = append(members, deployment.Node{Addr: n.reachable(local), Inside: backdoor.Open(srv)})
		n.links.Add(i, members[i].Addr, func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", local)
		})
	}
	return deployment.New(n.links, members).Form(ctx)
}

// reachable returns the address at which clients reach a node that listens on addr.
func (n *nodes) reachable(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return net.JoinHostPort(n.host, port)
}

// make makes the servers.
func (n *nodes) make(s starting) error {
	t := s.set.Topology
	if t.Cluster > 0 || t.Proxy > 0 {
		n.kind = "node"
	}
	if t.Cluster > 0 {
		if err := formCluster(s.set); err != nil {
			return err
		}
	}
	if t.Sentinels == 0 && t.Ports != nil {
		if err := s.set.Load("port", strconv.Itoa(t.Ports[0])); err != nil {
			return err
		}
	}
	n.links = &deployment.Links{}
	cfgs := []lockredis.Config{{Settings: s.settings, Logger: s.log}}
	for i := range t.Servers() - 1 {
		settings, err := s.sibling(i + 1)
		if err != nil {
			return err
		}
		cfgs = append(cfgs, lockredis.Config{Settings: settings, Logger: s.log})
	}
	if t.Replicas > 0 {
		for i := range cfgs {
			cfgs[i].Dial = n.links.Dialer(i)
			if err := n.announceReplica(backdoor.Config(cfgs[i].Settings)); err != nil {
				return err
			}
		}
	}
	if len(cfgs) > 1 {
		if err := s.ownFile(s.set, 0); err != nil {
			return err
		}
	}
	var servers []*lockredis.Server
	if t.Cluster > 1 {
		servers = lockredis.NewReplicatedCluster(t.ClusterPrimaries, cfgs...)
	} else {
		for _, cfg := range cfgs {
			servers = append(servers, lockredis.New(cfg))
		}
	}
	if s.records {
		for _, srv := range servers {
			backdoor.Open(srv).RecordScriptKeys()
		}
	}
	n.first, n.more = servers[0], servers[1:]
	return nil
}

// startSentinels starts the Sentinels of the directive topology for a primary.
func (n *nodes) startSentinels(
	ctx context.Context, primary string, set *config.Config, log *slog.Logger,
) (err error) {
	t := set.Topology
	var dial func(ctx context.Context, network, addr string) (net.Conn, error)
	if t.Replicas > 0 {
		dial = n.links.Dialer(deployment.Sentinels)
	}
	n.sentinels, err = lockredis.StartSentinels(ctx, lockredis.SentinelConfig{
		Master: t.Name, Addr: primary, MasterPassword: set.RequirePass,
		Replicas: t.Replicas, Dial: dial,
		Addrs: sentinelAddrs(set), AnnounceIP: n.host, Quorum: t.Quorum, Password: t.Password,
		DownAfter: time.Duration(t.DownAfter) * time.Millisecond, Logger: asSentinel(log),
	})
	return err
}

// asSentinel returns a log with the letter of a Sentinel in its lines.
func asSentinel(log *slog.Logger) *slog.Logger {
	h := *log.Handler().(*handler)
	h.role = 'X'
	return slog.New(&h)
}

// servers returns the servers of the process.
func (n *nodes) servers() []*lockredis.Server {
	if n.first == nil {
		return nil
	}
	return append([]*lockredis.Server{n.first}, n.more...)
}

// lines names the nodes of a topology, one a line: "primary=127.0.0.1:6379".
func (n *nodes) lines() (lines []string) {
	if n.host == "" {
		return nil
	}
	line := func(kind, addr string) { lines = append(lines, kind+"="+n.reachable(addr)) }
	for i, srv := range n.servers() {
		if i > 0 && n.replicas {
			line("replica", srv.Addr())
		} else {
			line(n.kind, srv.Addr())
		}
	}
	if n.sentinels != nil {
		for _, addr := range n.sentinels.Addrs() {
			line("sentinel", addr)
		}
	}
	return lines
}

// ports returns the ports of the server. A port is "" when the server has none, and both are
// when no server runs in the process.
func (n *nodes) ports() (port, tlsPort string) {
	if n.first == nil {
		return "", ""
	}
	_, port, _ = net.SplitHostPort(n.first.Addr())
	_, tlsPort, _ = net.SplitHostPort(n.first.TLSAddr())
	return port, tlsPort
}

// addrs returns the addresses of the servers, or of the Sentinels without a server.
func (n *nodes) addrs() (addrs []string) {
	if n.first == nil {
		return n.sentinels.Addrs()
	}
	for _, srv := range n.servers() {
		addrs = append(addrs, srv.Addrs()...)
	}
	return addrs
}

// save saves the data of all servers, if the directives ask for that at the program's end.
func (n *nodes) save() (err error) {
	for _, srv := range n.servers() {
		select {
		case <-srv.Done(): // its SHUTDOWN has saved
		default:
			err = errors.Join(err, backdoor.Open(srv).SaveAtEnd())
		}
	}
	return err
}

// openDoors opens the doors by which a test kit controls the servers, if the directives ask for that.
func (n *nodes) openDoors(set *config.Config) (err error) {
	if !set.Control {
		return nil
	}
	var insides []backdoor.Inside
	for _, srv := range n.servers() {
		insides = append(insides, backdoor.Open(srv))
	}
	n.doors, err = control.Open(insides...)
	return err
}

// done returns a channel that is closed when all nodes have ended.
func (n *nodes) done() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		for _, srv := range n.servers() {
			<-srv.Done()
		}
		if n.sentinels != nil {
			<-n.sentinels.Done()
		}
		close(ended)
	}()
	return ended
}

// close closes all nodes, and then the doors: a command of a door ends with its server.
func (n *nodes) close() {
	if n.sentinels != nil {
		n.sentinels.Close()
	}
	for _, srv := range n.servers() {
		srv.Close()
	}
	for _, door := range n.doors {
		door.Close()
	}
}
