package command

import (
	"net"

	"github.com/lockredis/lockredis/resp"
)

// The commands that would change the server's role, and MODULE. A server has no replicas, no
// master and no modules, so most answers are Redis's errors.
var (
	errFailoverCluster  = resp.Error("ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.")
	errFailoverNone     = resp.Error("ERR No failover in progress.")
	errFailoverTimeout  = resp.Error("ERR FAILOVER timeout must be greater than 0")
	errFailoverReplicas = resp.Error("ERR FAILOVER requires connected replicas.")
	errReplicaCluster   = resp.Error("ERR REPLICAOF not allowed in cluster mode.")
	errMasterPort       = resp.Error("ERR Invalid master port")
	errNoReplication    = resp.Error("ERR lockredis has no replication: REPLICAOF takes only NO ONE")
	errModuleLoad       = resp.Error("ERR Error loading the extension. Please check the server logs.")
	errModuleUnload     = resp.Error("ERR Error unloading module: no such module with that name")

	errForgetSelf      = resp.Error("ERR I tried hard but I can't forget myself...")
	errReplicateSelf   = resp.Error("ERR Can't replicate myself")
	errClusterFailover = resp.Error("ERR You should send CLUSTER FAILOVER to a replica")
	errSetslot         = resp.Error("ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP")
	errOneNode         = resp.Error("ERR lockredis is a cluster of one node: it meets no other nodes and moves no slots")
)

// failover hands the role of the master to a replica. There is none.
func failover(c *Ctx, args resp.Args) resp.Reply {
	if c.Cluster != nil {
		return errFailoverCluster
	}
	if len(args) == 2 && isWord(args[1], "abort") {
		return errFailoverNone
	}
	if failure := parseFailover(args[1:]); failure.IsError() {
		return failure
	}
	return errFailoverReplicas
}

// parseFailover checks the options of FAILOVER. Each may be given once.
func parseFailover(options resp.Args) (failure resp.Reply) {
	var to, force, timeout bool
	for len(options) > 0 {
		used := 1
		switch {
		case isWord(options[0], "timeout") && len(options) > 1 && !timeout:
			n, ok := resp.ParseInt(options[1])
			if !ok {
				return resp.ErrNotInt
			}
			if n <= 0 {
				return errFailoverTimeout
			}
			timeout, used = true, 2
		case isWord(options[0], "to") && len(options) > 2 && !to:
			if _, ok := resp.ParseInt(options[2]); !ok {
				return resp.ErrNotInt
			}
			to, used = true, 3
		case isWord(options[0], "force") && !force:
			force = true
		default:
			return resp.ErrSyntax
		}
		options = options[used:]
	}
	return resp.NoReply
}

// replicaof takes NO ONE: the server is a master already.
//
// Differs from Redis: there is no replication, so a master's address is refused.
func replicaof(c *Ctx, args resp.Args) resp.Reply {
	if c.Cluster != nil {
		return errReplicaCluster
	}
	if isWord(args[1], "no") && isWord(args[2], "one") {
		return resp.OK
	}
	if port, ok := resp.ParseInt(args[2]); !ok || port < 0 || port > 65535 {
		return errMasterPort
	}
	return errNoReplication
}

// moduleList replies what HELLO has as modules.
func moduleList(c *Ctx, _ resp.Args) resp.Reply { return modules(c) }

// moduleLoad is MODULE LOAD and LOADEX. No file is a module for lockredis.
func moduleLoad(c *Ctx, args resp.Args) resp.Reply {
	c.Server.Log("warning", "lockredis loads no modules: "+args.String(2))
	return errModuleLoad
}

func moduleUnload(*Ctx, resp.Args) resp.Reply { return errModuleUnload }

func clusterForget(c *Ctx, args resp.Args) resp.Reply {
	if n, failure := clusterNode(c, args); n == nil {
		return failure
	}
	return errForgetSelf
}

func clusterReplicate(c *Ctx, args resp.Args) resp.Reply {
	if n, failure := clusterNode(c, args); n == nil {
		return failure
	}
	return errReplicateSelf
}

// clusterSaveconfig answers as Redis does. There is no nodes.conf: the node has the slots of
// cluster-slots after a restart.
func clusterSaveconfig(*Ctx, resp.Args) resp.Reply { return resp.OK }

func clusterFailover(_ *Ctx, args resp.Args) resp.Reply {
	switch {
	case len(args) > 3:
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	case len(args) == 3 && !isWord(args[2], "force") && !isWord(args[2], "takeover"):
		return resp.ErrSyntax
	}
	return errClusterFailover
}

// clusterMeet checks the address of another node.
//
// Differs from Redis: the node stays alone.
func clusterMeet(_ *Ctx, args resp.Args) resp.Reply {
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
func clusterSetslot(c *Ctx, args resp.Args) resp.Reply {
	slot, ok := slotArg(args[2])
	if !ok {
		return errSlotRange
	}
	own := &c.Cluster.Self.Slots
	switch {
	case len(args) == 4 && isWord(args[3], "stable"):
		return resp.OK
	case len(args) != 5:
		return errSetslot
	}
	known := c.Cluster.Node(args.String(4)) != nil
	migrating, importing := isWord(args[3], "migrating"), isWord(args[3], "importing")
	switch {
	case migrating && !own.Has(slot):
		return resp.Errorf("ERR I'm not the owner of hash slot %d", slot)
	case importing && own.Has(slot):
		return resp.Errorf("ERR I'm already the owner of hash slot %d", slot)
	case (migrating || importing) && !known:
		return resp.Errorf("ERR I don't know about node %s", args[4])
	case migrating || importing:
		return errOneNode
	case !isWord(args[3], "node"):
		return errSetslot
	case !known:
		return resp.Errorf("ERR Unknown node %s", args[4])
	}
	own.Add(slot)
	return resp.OK
}
