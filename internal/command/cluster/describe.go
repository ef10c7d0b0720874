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
		at := c.NodeAddress(&nodes[i], c.Session.TLS)
		if at.IP == "" {
			at.IP = localIP(c.Session)
		}
		text += nodes[i].Line(at, c.Cluster, c.Now())
	}
	return resp.Verbatim(text)
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

// clusterSlots lists the ranges of slots in order.
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
		at := c.NodeAddress(n, c.Session.TLS)
		node := resp.Array(endpoint(c, at), resp.Int(int64(at.Port)), resp.BulkString(n.ID), otherNames(c, at))
		all = append(all, resp.Array(resp.Int(int64(slot)), resp.Int(int64(last)), node))
		slot = last + 1
	}
	return resp.Array(all...)
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
	nodes := c.Cluster.View().Nodes
	for i := range nodes {
		shards = append(shards, shard(c, &nodes[i]))
	}
	return resp.Array(shards...)
}

// shard describes a node and its slots.
func shard(c *command.Ctx, n *cluster.Node) resp.Reply {
	at := c.NodeAddress(n, c.Session.TLS)
	var bounds []resp.Reply
	var node command.MapReply
	for r := range n.Slots.Ranges() {
		bounds = append(bounds, resp.Int(int64(r.First)), resp.Int(int64(r.Last)))
	}
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
	node.Add("role", resp.BulkString("master"))
	node.Add("replication-offset", resp.Int(0))
	health := "online"
	if n.Health == cluster.Failed {
		health = "fail"
	}
	node.Add("health", resp.BulkString(health))
	return resp.Map(
		resp.BulkString("slots"), resp.Array(bounds...),
		resp.BulkString("nodes"), resp.Array(node.Reply()))
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
