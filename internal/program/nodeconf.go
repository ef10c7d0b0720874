package program

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/config"
)

// The directives and addresses of the nodes of a topology, which follow from those of the first one.

// sibling returns the settings of the server with an index from 1 on: the same as of the first, with
// the ports behind, or that of the option port.
func (s starting) sibling(index int) (*lockredis.Settings, error) {
	if s.set.TLS.Enabled() || s.set.UnixSocket != "" || s.set.AOF.On {
		return nil, errors.New("topology: several servers cannot share a tls-port, a unixsocket and " +
			"an append-only log")
	}
	settings, err := s.again()
	if err != nil {
		return nil, err
	}
	set := backdoor.Config(settings)
	set.RDB.Program = s.set.RDB.Program
	set.Freed = s.set.Freed
	if s.set.Topology.Cluster > 0 {
		err = formCluster(set)
	}
	ports := map[string]int{"port": set.Port, "cluster-announce-port": set.Cluster.AnnouncePort}
	if own := set.Topology.Ports; own != nil {
		err = errors.Join(err, set.Load("port", strconv.Itoa(own[index])))
		delete(ports, "port")
	}
	for name, port := range ports {
		if port != 0 && !(name == "port" && set.PortAuto) {
			err = errors.Join(err, set.Load(name, strconv.Itoa(port+index)))
		}
	}
	return settings, errors.Join(err, s.ownFile(set, index))
}

// announceReplica sets the directives by which a node, as a replica, logs in at its primary and tells
// its address. Each node may become a replica.
func (n *nodes) announceReplica(set *config.Config) error {
	if set.Replication.AnnounceIP != "" || set.Replication.AnnouncePort != 0 {
		return errors.New("topology: replicas announce the option host and their ports, " +
			"not replica-announce-ip and replica-announce-port")
	}
	return errors.Join(set.Load("replica-announce-ip", n.host), set.TrustPeers())
}

// ownFile gives one of several servers an RDB file of its own, if the servers have any.
func (s starting) ownFile(set *config.Config, index int) error {
	if !set.HasFile() {
		return nil
	}
	return set.Load("dbfilename", fmt.Sprintf("node%d-%s", index+1, set.RDB.File))
}

// formCluster sets the directives that a topology of a cluster stands for.
func formCluster(set *config.Config) error {
	err := set.Load("cluster-enabled", "yes")
	if host := set.Topology.Host; host != "" {
		err = errors.Join(err, set.Load("cluster-announce-ip", host))
	}
	return err
}

// reachableHost returns the address at which clients reach the nodes.
func reachableHost(set *config.Config) string {
	if set.Topology.Host != "" {
		return set.Topology.Host
	}
	return set.OwnIP()
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
		addrs[i] = net.JoinHostPort(set.FirstBind(), port)
	}
	return addrs
}
