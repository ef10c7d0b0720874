package cluster

import (
	"net"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
)

// clusterNodes describes the nodes in the format of nodes.conf.
//
// Differs from Redis: a node without cluster-announce-ip shows the address that the
// client has connected to. redis-server learns its address from other nodes, and a node
// that is alone shows none. Clients that read CLUSTER NODES, such as Redisson, ignore
// such a node.
func clusterNodes(c *command.Ctx, _ resp.Args) resp.Reply {
	text, nodes := "", c.Cluster.View().Nodes
	for i := range nodes {
		text += line(c, &nodes[i])
	}
	return resp.Verbatim(text)
}

// line returns the node's line in CLUSTER NODES, with the newline.
func line(c *command.Ctx, n *cluster.Node) string {
	at := c.NodeAddress(n, c.Session.TLS)
	if at.IP == "" {
		at.IP = localIP(c.Session)
	}
	return n.Line(at, c.Cluster, c.Now())
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

// clusterSlots lists the ranges of slots in order, with the nodes that serve them.
//
// Differs from Redis: there a replica is listed when it has heard something of its primary.
func clusterSlots(c *command.Ctx, _ resp.Args) resp.Reply {
	var all []resp.Reply
	v := c.Cluster.View()
	for slot := 0; slot < cluster.Slots; {
		n := v.Owner(slot)
		if n == nil {
			slot++
			continue
		}
		last := slot
		for last+1 < cluster.Slots && n.Slots.Has(last+1) {
			last++
		}
		served := []resp.Reply{resp.Int(int64(slot)), resp.Int(int64(last)), server(c, n)}
		for _, r := range v.Replicas(n) {
			if r.Health != cluster.Failed {
				served = append(served, server(c, r))
			}
		}
		all = append(all, resp.Array(served...))
		slot = last + 1
	}
	return resp.Array(all...)
}

// server describes a node in CLUSTER SLOTS.
func server(c *command.Ctx, n *cluster.Node) resp.Reply {
	at := c.NodeAddress(n, c.Session.TLS)
	return resp.Array(endpoint(c, at), resp.Int(int64(at.Port)), resp.BulkString(n.ID), otherNames(c, at))
}

// endpoint returns what a client connects to. Nil stands for the host that the client knows already.
func endpoint(c *command.Ctx, at cluster.Address) resp.Reply {
	if c.Config.Cluster.Endpoint == config.EndpointUnknown {
		return resp.Nil
	}
	return resp.BulkString(c.Endpoint(at))
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
	var shards []resp.Reply
	v := c.Cluster.View()
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Primary == "" {
			shards = append(shards, shard(c, n, v.Replicas(n)))
		}
	}
	return resp.Array(shards...)
}

// shard describes a primary with its slots and its replicas.
func shard(c *command.Ctx, primary *cluster.Node, replicas []*cluster.Node) resp.Reply {
	var bounds []resp.Reply
	for r := range primary.Slots.Ranges() {
		bounds = append(bounds, resp.Int(int64(r.First)), resp.Int(int64(r.Last)))
	}
	nodes := []resp.Reply{member(c, primary)}
	for _, r := range replicas {
		nodes = append(nodes, member(c, r))
	}
	return resp.Map(
		resp.BulkString("slots"), resp.Array(bounds...),
		resp.BulkString("nodes"), resp.Array(nodes...))
}

// member describes a node in its shard.
func member(c *command.Ctx, n *cluster.Node) resp.Reply {
	at := c.NodeAddress(n, c.Session.TLS)
	var node command.MapReply
	node.Add("id", resp.BulkString(n.ID))
	if at.Plain != 0 {
		node.Int("port", at.Plain)
	}
	if at.TLS != 0 {
		node.Int("tls-port", at.TLS)
	}
	node.Add("ip", resp.BulkString(at.IP))
	node.Add("endpoint", resp.BulkString(c.Endpoint(at)))
	if at.Host != "" {
		node.Add("hostname", resp.BulkString(at.Host))
	}
	role, health := "master", "online"
	if n.Primary != "" {
		role = "replica"
	}
	switch {
	case n.Health == cluster.Failed:
		health = "fail"
	case n.Primary != "" && n.At() == 0:
		health = "loading"
	}
	node.Add("role", resp.BulkString(role))
	node.Add("replication-offset", resp.Int(n.At()))
	node.Add("health", resp.BulkString(health))
	return node.Reply()
}

// clusterLinks lists the two connections that the node has in Redis with each other node. Here the
// nodes are in one process, and the connections take no memory.
func clusterLinks(c *command.Ctx, _ resp.Args) resp.Reply {
	links := []resp.Reply{}
	for _, n := range c.Cluster.View().Nodes {
		if n.ID == c.Cluster.Self().ID || n.Health != cluster.Online {
			continue
		}
		for _, direction := range []string{"to", "from"} {
			var link command.MapReply
			link.Add("direction", resp.BulkString(direction))
			link.Add("node", resp.BulkString(n.ID))
			link.Add("create-time", resp.Int(max(n.Joined, c.Cluster.Self().Joined)))
			link.Add("events", resp.BulkString("r"))
			link.Add("send-buffer-allocated", resp.Int(0))
			link.Add("send-buffer-used", resp.Int(0))
			links = append(links, link.Reply())
		}
	}
	return resp.Array(links...)
}
