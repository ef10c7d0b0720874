package program

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/control"
)

// nodes are the nodes of the process: one server or Sentinel, a server with the Sentinels of the
// directive topology, or these Sentinels alone.
type nodes struct {
	first     *lockredis.Server    // nil: the primary is elsewhere
	sentinels *lockredis.Sentinels // nil: none
	host      string               // at which clients reach the nodes; "": no topology
}

// startNodes starts the node of settings and what the directive topology adds to it. It gives up
// when ctx ends. After an error nothing is left running.
func startNodes(
	ctx context.Context, settings *lockredis.Settings, set *config.Config, log *slog.Logger,
) (*nodes, error) {
	t := set.Topology
	if set.Control && (set.Sentinel || t.Primary != "") {
		return nil, errors.New("control needs a server in the process")
	}
	if t.Primary != "" {
		n := &nodes{host: reachableHost(set)}
		set.Listening() // the Sentinels read no file
		return n, n.startSentinels(ctx, t.Primary, set, log)
	}
	if (t.Cluster || t.Sentinels > 0) && (set.Sentinel || set.Port == 0 && !set.PortAuto) {
		return nil, errors.New("topology needs a server with a TCP port that does not speak TLS")
	}
	if err := formCluster(set); err != nil {
		return nil, err
	}
	n := &nodes{first: lockredis.New(lockredis.Config{Settings: settings, Logger: log})}
	if t.Cluster || t.Sentinels > 0 {
		n.host = reachableHost(set)
	}
	stop := context.AfterFunc(ctx, func() { n.first.Close() }) // it may be loading a large file
	err := n.first.Start()
	stop()
	if err != nil || t.Sentinels == 0 {
		return n, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-n.first.Done():
			cancel(errors.New("the server has ended"))
		case <-ctx.Done():
		}
	}()
	_, port, _ := net.SplitHostPort(n.first.Addr())
	err = n.startSentinels(ctx, net.JoinHostPort(n.host, port), set, log)
	if err != nil {
		n.first.Close()
	}
	return n, err
}

// startSentinels starts the Sentinels of the directive topology for a primary.
func (n *nodes) startSentinels(
	ctx context.Context, primary string, set *config.Config, log *slog.Logger,
) (err error) {
	t := set.Topology
	n.sentinels, err = lockredis.StartSentinels(ctx, lockredis.SentinelConfig{
		Master: t.Name, Addr: primary, MasterPassword: set.RequirePass,
		Addrs: sentinelAddrs(set), AnnounceIP: n.host, Quorum: t.Quorum, Password: t.Password,
		DownAfter: time.Duration(t.DownAfter) * time.Millisecond, Logger: asSentinel(log),
	})
	return err
}

// formCluster sets the directives that the topology cluster:1 stands for.
func formCluster(set *config.Config) error {
	if !set.Topology.Cluster {
		return nil
	}
	err := set.Load("cluster-enabled", "yes")
	if host := set.Topology.Host; host != "" {
		err = errors.Join(err, set.Load("cluster-announce-ip", host))
	}
	return err
}

// asSentinel returns a log with the letter of a Sentinel in its lines.
func asSentinel(log *slog.Logger) *slog.Logger {
	h := *log.Handler().(*handler)
	h.role = 'X'
	return slog.New(&h)
}

// boundHost returns the first address of the directive bind.
func boundHost(set *config.Config) string {
	if len(set.Bind) == 0 {
		return "*"
	}
	return strings.TrimPrefix(set.Bind[0], "-")
}

// reachableHost returns the address at which clients reach the nodes.
func reachableHost(set *config.Config) string {
	if set.Topology.Host != "" {
		return set.Topology.Host
	}
	if host := boundHost(set); net.ParseIP(host) != nil && !net.ParseIP(host).IsUnspecified() {
		return host
	}
	return "127.0.0.1"
}

// sentinelAddrs returns the addresses that the Sentinels listen on. Without a port of their own
// they have free ports beside a server on a free port, else Redis's ports for Sentinels.
func sentinelAddrs(set *config.Config) []string {
	t := set.Topology
	addrs := make([]string, t.Sentinels)
	auto := t.PortAuto || t.Ports == nil && set.PortAuto
	next, _ := strconv.Atoi(config.SentinelPort)
	for i := range addrs {
		port := "0"
		if i < len(t.Ports) {
			next = t.Ports[i]
		}
		if !auto {
			port = strconv.Itoa(next)
		}
		next++
		addrs[i] = net.JoinHostPort(boundHost(set), port)
	}
	return addrs
}

// lines names the nodes of a topology, one a line: "primary=127.0.0.1:6379".
func (n *nodes) lines() (lines []string) {
	line := func(kind, addr string) {
		_, port, _ := net.SplitHostPort(addr)
		lines = append(lines, kind+"="+net.JoinHostPort(n.host, port))
	}
	switch {
	case n.host == "":
		return nil
	case n.sentinels == nil:
		line("node", n.first.Addr())
		return lines
	}
	if n.first != nil {
		line("primary", n.first.Addr())
	}
	for _, addr := range n.sentinels.Addrs() {
		line("sentinel", addr)
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

// addrs returns the addresses of the server, or of the Sentinels without a server.
func (n *nodes) addrs() []string {
	if n.first == nil {
		return n.sentinels.Addrs()
	}
	return n.first.Addrs()
}

// openDoor opens the door by which a test kit controls the server.
func (n *nodes) openDoor() (*control.Door, error) {
	inside := backdoor.Open(n.first)
	return control.Open(control.Node{
		Visit:   func() control.Visitor { return inside.Visit() },
		Running: inside.Running, EndScript: inside.EndScript, Remember: inside.Remember, Together: inside.Together,
	})
}

// done returns a channel that is closed when all nodes have ended.
func (n *nodes) done() <-chan struct{} {
	switch {
	case n.sentinels == nil:
		return n.first.Done()
	case n.first == nil:
		return n.sentinels.Done()
	}
	ended := make(chan struct{})
	go func() {
		<-n.first.Done()
		<-n.sentinels.Done()
		close(ended)
	}()
	return ended
}

// close closes all nodes.
func (n *nodes) close() {
	if n.sentinels != nil {
		n.sentinels.Close()
	}
	if n.first != nil {
		n.first.Close()
	}
}
