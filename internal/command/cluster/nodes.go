package cluster

import (
	"net"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errForgetSelf      = resp.Error("ERR I tried hard but I can't forget myself...")
	errReplicateSelf   = resp.Error("ERR Can't replicate myself")
	errClusterFailover = resp.Error("ERR You should send CLUSTER FAILOVER to a replica")
	errSetslot         = resp.Error("ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP")
	errOneNode         = resp.Error("ERR lockredis is a cluster of one node: it meets no other nodes and moves no slots")
)

func clusterForget(c *command.Ctx, args resp.Args) resp.Reply {
	if n, failure := clusterNode(c, args); n == nil {
		return failure
	}
	return errForgetSelf
}

func clusterReplicate(c *command.Ctx, args resp.Args) resp.Reply {
	if n, failure := clusterNode(c, args); n == nil {
		return failure
	}
	return errReplicateSelf
}

// clusterSaveconfig answers as Redis does. There is no nodes.conf: the node has the slots of
// cluster-slots after a restart.
func clusterSaveconfig(*command.Ctx, resp.Args) resp.Reply { return resp.OK }

func clusterFailover(_ *command.Ctx, args resp.Args) resp.Reply {
	switch {
	case len(args) > 3:
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	case len(args) == 3 && !command.IsWord(args[2], "force") && !command.IsWord(args[2], "takeover"):
		return resp.ErrSyntax
	}
	return errClusterFailover
}

// clusterMeet checks the address of another node.
//
// Differs from Redis: the node stays alone.
func clusterMeet(_ *command.Ctx, args resp.Args) resp.Reply {
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
	return errOneNode
}

// clusterSetslot assigns a slot to the node itself, or ends the move of a slot.
//
// Differs from Redis: no slot moves.
func clusterSetslot(c *command.Ctx, args resp.Args) resp.Reply {
	slot, ok := slotArg(args[2])
	if !ok {
		return errSlotRange
	}
	own := &c.Cluster.Self.Slots
	switch {
	case len(args) == 4 && command.IsWord(args[3], "stable"):
		return resp.OK
	case len(args) != 5:
		return errSetslot
	}
	known := c.Cluster.Node(args.String(4)) != nil
	migrating, importing := command.IsWord(args[3], "migrating"), command.IsWord(args[3], "importing")
	switch {
	case migrating && !own.Has(slot):
		return resp.Errorf("ERR I'm not the owner of hash slot %d", slot)
	case importing && own.Has(slot):
		return resp.Errorf("ERR I'm already the owner of hash slot %d", slot)
	case (migrating || importing) && !known:
		return resp.Errorf("ERR I don't know about node %s", args[4])
	case migrating || importing:
		return errOneNode
	case !command.IsWord(args[3], "node"):
		return errSetslot
	case !known:
		return resp.Errorf("ERR Unknown node %s", args[4])
	}
	own.Add(slot)
	return resp.OK
}
