package cluster

import (
	"net"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
)

// busPortOffset is the distance from a node's port to the port where it talks to other
// nodes.
const busPortOffset = 10000

// nodeAddress returns the node's address for c's client, as the node announces it.
//
// A node has one or two ports. With tls-cluster, and on a server that speaks only TLS, the
// first is the one with TLS; the second, without TLS, is for clients that do not use TLS.
func nodeAddress(c *command.Ctx) cluster.Address {
	set, facts := &c.Config.Cluster, c.Server.Identity()
	first, second, bus := facts.Port, 0, set.AnnounceBusPort
	secure := facts.TLSPort != 0 && (set.TLS || facts.Port == facts.TLSPort)
	if secure && facts.Port != facts.TLSPort {
		first, second = facts.TLSPort, facts.Port
	}
	if bus == 0 {
		bus = set.BusPort
	}
	if bus == 0 && first+busPortOffset <= 65535 { // else 0: no node listens there anyway
		bus = first + busPortOffset
	}
	switch {
	case set.TLS && set.AnnounceTLSPort != 0:
		first, second = set.AnnounceTLSPort, set.AnnouncePort
	case set.AnnouncePort != 0:
		first = set.AnnouncePort
	}
	at := cluster.Address{
		IP: shorten(set.AnnounceIP), Host: set.AnnounceHost, Port: first, BusPort: bus, Plain: first,
	}
	if second != 0 && !c.Session.TLS {
		at.Port = second
	}
	if secure {
		at.Plain, at.TLS = second, first
	}
	return at
}

// shorten returns what Redis keeps of cluster-announce-ip: as many bytes as the longest IP
// address has. CONFIG GET shows all.
func shorten(ip string) string { return ip[:min(len(ip), 45)] }

// clusterNodes describes the node in the format of nodes.conf.
//
// Differs from Redis: a node without cluster-announce-ip shows the address that the
// client has connected to. redis-server learns its address from other nodes, and a node
// that is alone shows none. Clients that read CLUSTER NODES, such as Redisson, ignore
// such a node.
func clusterNodes(c *command.Ctx, _ resp.Args) resp.Reply {
	at := nodeAddress(c)
	if at.IP == "" {
		at.IP = localIP(c.Session)
	}
	return resp.Verbatim(c.Cluster.Self.Line(at))
}

// localIP returns the address of this machine that the client has connected to, "" when
// that is no IP address.
func localIP(s *command.Session) string {
	host, _, err := net.SplitHostPort(s.LAddr)
	if err != nil || net.ParseIP(host) == nil {
		return ""
	}
	return host
}

func clusterSlots(c *command.Ctx, _ resp.Args) resp.Reply {
	at := nodeAddress(c)
	node := resp.Array(endpoint(c, at), resp.Int(int64(at.Port)),
		resp.BulkString(c.Cluster.Self.ID), otherNames(c, at))
	var all []resp.Reply
	for r := range c.Cluster.Self.Slots.Ranges() {
		all = append(all, resp.Array(resp.Int(int64(r.First)), resp.Int(int64(r.Last)), node))
	}
	return resp.Array(all...)
}

// endpoint returns what a client connects to, as cluster-preferred-endpoint-type says. Nil
// stands for the host that the client knows already.
func endpoint(c *command.Ctx, at cluster.Address) resp.Reply {
	switch c.Config.Cluster.Endpoint {
	case config.EndpointHostname:
		if at.Host == "" {
			return resp.BulkString("?")
		}
		return resp.BulkString(at.Host)
	case config.EndpointUnknown:
		return resp.Nil
	}
	return resp.BulkString(at.IP)
}

// otherNames returns the addresses of CLUSTER SLOTS that are not the endpoint.
func otherNames(c *command.Ctx, at cluster.Address) resp.Reply {
	var names []resp.Reply
	if c.Config.Cluster.Endpoint != config.EndpointIP {
		names = append(names, resp.BulkString("ip"), resp.BulkString(at.IP))
	}
	if c.Config.Cluster.Endpoint != config.EndpointHostname && at.Host != "" {
		names = append(names, resp.BulkString("hostname"), resp.BulkString(at.Host))
	}
	return resp.Map(names...)
}

func clusterShards(c *command.Ctx, _ resp.Args) resp.Reply {
	at := nodeAddress(c)
	var bounds []resp.Reply
	var node command.MapReply
	for r := range c.Cluster.Self.Slots.Ranges() {
		bounds = append(bounds, resp.Int(int64(r.First)), resp.Int(int64(r.Last)))
	}
	node.Add("id", resp.BulkString(c.Cluster.Self.ID))
	if at.Plain != 0 {
		node.Int("port", at.Plain)
	}
	if at.TLS != 0 {
		node.Int("tls-port", at.TLS)
	}
	node.Add("ip", resp.BulkString(at.IP))
	to := endpoint(c, at)
	if c.Config.Cluster.Endpoint == config.EndpointUnknown {
		to = resp.BulkString("")
	}
	node.Add("endpoint", to)
	if at.Host != "" {
		node.Add("hostname", resp.BulkString(at.Host))
	}
	node.Add("role", resp.BulkString("master"))
	node.Add("replication-offset", resp.Int(0))
	node.Add("health", resp.BulkString("online"))
	return resp.Array(resp.Map(
		resp.BulkString("slots"), resp.Array(bounds...),
		resp.BulkString("nodes"), resp.Array(node.Reply())))
}

// clusterLinks lists the connections to other nodes: none.
func clusterLinks(*command.Ctx, resp.Args) resp.Reply { return resp.EmptyArray }
