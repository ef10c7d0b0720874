package cluster

import (
	"net"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errForgetSelf      = resp.Error("ERR I tried hard but I can't forget myself...")
	errReplicateSelf   = resp.Error("ERR Can't replicate myself")
	errClusterFailover = resp.Error("ERR You should send CLUSTER FAILOVER to a replica")
	errSetslot         = resp.Error("ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP")
	errReplicateSlots  = resp.Error("ERR To set a master the node must be empty and without assigned slots.")
	errFixedNodes      = resp.Error("ERR the nodes of this cluster are those that lockredis has started")
	errForgetPrimary   = resp.Error("ERR Can't forget my master!")
	errReplicateOther  = resp.Error("ERR I can only replicate a master, not a replica.")
	errFailoverFailed  = resp.Error("ERR Master is down or failed, please use CLUSTER FAILOVER FORCE")
	errSetslotReplica  = resp.Error("ERR Please use SETSLOT only with masters.")
	errNoPrimary       = resp.Error("ERR The specified node is not a master")
)

// clusterForget refuses.
//
// Differs from Redis: which nodes there are does not change.
func clusterForget(c *command.Ctx, args resp.Args) resp.Reply {
	n, failure := clusterNode(c, args)
	switch n {
	case nil:
		return failure
	case c.Cluster.Self():
		return errForgetSelf
	case c.Cluster.Primary():
		return errForgetPrimary
	}
	return errFixedNodes
}

// clusterReplicate makes the node a replica of another one: an empty node, or one that is a replica.
func clusterReplicate(c *command.Ctx, args resp.Args) resp.Reply {
	n, failure := clusterNode(c, args)
	switch self := c.Cluster.Self(); {
	case n == nil:
		return failure
	case n == self:
		return errReplicateSelf
	case n.Primary != "":
		return errReplicateOther
	case self.Primary == "" && (self.Slots.Len() > 0 || c.DB.Len() > 0):
		return errReplicateSlots
	}
	before := c.Cluster.View()
	c.Cluster.Replicate(n.ID)
	c.ViewChanged(before)
	return resp.OK
}

// clusterSaveconfig answers as Redis does. There is no nodes.conf: the node has the slots of
// cluster-slots after a restart.
func clusterSaveconfig(*command.Ctx, resp.Args) resp.Reply { return resp.OK }

// clusterFailover makes this replica the primary of its shard. The primary hands its slots over when the
// replica has all data. FORCE does not ask the primary, and TAKEOVER not the other ones either.
//
// Differs from Redis: FORCE and TAKEOVER have taken effect when the reply comes.
func clusterFailover(c *command.Ctx, args resp.Args) resp.Reply {
	force := len(args) == 3 && command.IsWord(args[2], "force")
	takeover := len(args) == 3 && command.IsWord(args[2], "takeover")
	primary := c.Cluster.Primary()
	switch {
	case len(args) > 3:
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	case len(args) == 3 && !force && !takeover:
		return resp.ErrSyntax
	case primary == nil:
		return errClusterFailover
	case !force && !takeover && primary.Health != cluster.Online:
		return errFailoverFailed
	case !force && !takeover:
		c.Cluster.AskForLead()
		return resp.OK
	}
	before := c.Cluster.View()
	c.Cluster.TakeOver(force, func(v *cluster.View, _ *cluster.Node) bool { return takeover || v.Majority() })
	c.ViewChanged(before)
	return resp.OK
}

// clusterMeet checks the address of another node.
//
// Differs from Redis: the node meets no node that it does not know.
func clusterMeet(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 5 {
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	}
	port, ok := resp.ParseInt(args[3])
	if !ok {
		return resp.Errorf("ERR Invalid TCP base port specified: %s", args[3])
	}
	bus := port + 10000
	if len(args) == 5 {
		if bus, ok = resp.ParseInt(args[4]); !ok {
			return resp.Errorf("ERR Invalid TCP bus port specified: %s", args[4])
		}
	}
	valid := func(n int64) bool { return n > 0 && n <= 65535 }
	if net.ParseIP(args.String(2)) == nil || !valid(port) || !valid(bus) {
		return resp.Errorf("ERR Invalid node address specified: %s:%s", args[2], args[3])
	}
	nodes := c.Cluster.View().Nodes
	for i := range nodes {
		if at := c.NodeAddress(&nodes[i], false); len(nodes) > 1 && at.IP == args.String(2) && at.Port == int(port) {
			return resp.OK
		}
	}
	return errFixedNodes
}

// clusterSetslot opens a slot that is to move, closes it, or says who owns it.
//
// Differs from Redis: only the owner of a slot and the node that receives it change who owns it. In
// Redis each node changes what it knows itself. A node without slots does not become a replica.
func clusterSetslot(c *command.Ctx, args resp.Args) resp.Reply {
	if c.Cluster.Primary() != nil {
		return errSetslotReplica
	}
	slot, ok := slotArg(args[2])
	if !ok {
		return errSlotRange
	}
	cl := c.Cluster
	switch {
	case len(args) == 4 && command.IsWord(args[3], "stable"):
		delete(cl.Migrating, slot)
		delete(cl.Importing, slot)
		return resp.OK
	case len(args) != 5:
		return errSetslot
	}
	id := args.String(4)
	known := cl.Node(id) != nil
	migrating, importing := command.IsWord(args[3], "migrating"), command.IsWord(args[3], "importing")
	switch {
	case migrating && !cl.Owns(slot):
		return resp.Errorf("ERR I'm not the owner of hash slot %d", slot)
	case importing && cl.Owns(slot):
		return resp.Errorf("ERR I'm already the owner of hash slot %d", slot)
	case (migrating || importing) && !known:
		return resp.Errorf("ERR I don't know about node %s", args[4])
	case migrating:
		cl.Migrating[slot] = id
		return resp.OK
	case importing:
		cl.Importing[slot] = id
		return resp.OK
	case !command.IsWord(args[3], "node"):
		return errSetslot
	case !known:
		return resp.Errorf("ERR Unknown node %s", args[4])
	}
	return assign(c, slot, id)
}

// assign makes the node with an id the owner of a slot, if this node owns the slot or is that node. A
// node that was importing the slot gets a new epoch.
func assign(c *command.Ctx, slot int, id string) resp.Reply {
	cl, mine := c.Cluster, id == c.Cluster.Self().ID
	if keys := c.Space.DB(0).SlotLen(slot); cl.Owns(slot) && !mine && keys > 0 {
		return resp.Errorf("ERR Can't assign hashslot %d to a different node "+
			"while I still hold keys for this hash slot.", slot)
	} else if keys == 0 {
		delete(cl.Migrating, slot)
	}
	imported := mine && cl.Importing[slot] != ""
	if imported {
		delete(cl.Importing, slot)
	}
	before := cl.View()
	cl.Change(func(v *cluster.View, self *cluster.Node) {
		if owner := v.Owner(slot); mine || owner == nil || owner == self {
			v.Give(slot, v.Node(id))
		}
		if imported {
			v.Bump(self)
		}
	})
	c.ViewChanged(before)
	return resp.OK
}
