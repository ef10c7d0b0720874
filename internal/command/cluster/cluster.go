package cluster

import (
	"fmt"
	"strings"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errNoCluster   = resp.Error("ERR This instance has cluster support disabled")
	errSlot        = resp.Error("ERR Invalid slot")
	errSlotOrCount = resp.Error("ERR Invalid slot or number of keys")
	errEpochSet    = resp.Error("ERR Node config epoch is already non-zero")
	errEpochOthers = resp.Error("ERR The user can assign a config epoch only when the node does not know any other node.")
	errResetKeys   = resp.Error("ERR CLUSTER RESET can't be called with master nodes containing keys")
	errFlushSlots  = resp.Error("ERR DB must be empty to perform CLUSTER FLUSHSLOTS.")
)

// inCluster returns run for a command that only a cluster node accepts. Without cluster
// mode the command answers with an error. The log then tells what to configure, once for
// a client library.
func inCluster(run command.Func) command.Func {
	return func(c *command.Ctx, args resp.Args) resp.Reply {
		if c.Cluster != nil {
			return run(c, args)
		}
		if !c.InScript() && c.Refusals.First(c.Session, "CLUSTER") {
			c.Server.Log("warning", "a client expects a cluster, but cluster-enabled is no: "+
				"start with --cluster-enabled yes, or configure the client for a single server "+
				"(Redisson: useSingleServer)")
		}
		return errNoCluster
	}
}

// asking lets the next command of the client use a slot that the node is importing. In a script it
// has no effect: redis.call asks as the script's client does.
func asking(c *command.Ctx, _ resp.Args) resp.Reply {
	if !c.InScript() {
		c.Session.Asking = true
	}
	return resp.OK
}

// Readonly lets a replica serve reads of its master's slots. A master only shows the mode in CLIENT LIST.
func Readonly(c *command.Ctx, _ resp.Args) resp.Reply {
	c.Session.ReadOnly = true
	return resp.OK
}

// Readwrite ends what Readonly began.
func Readwrite(c *command.Ctx, _ resp.Args) resp.Reply {
	c.Session.ReadOnly = false
	return resp.OK
}

func clusterMyid(c *command.Ctx, _ resp.Args) resp.Reply { return resp.BulkString(c.Cluster.Self().ID) }

func clusterKeyslot(_ *command.Ctx, args resp.Args) resp.Reply {
	return resp.Int(int64(cluster.Slot(args[2])))
}

func clusterInfo(c *command.Ctx, _ resp.Args) resp.Reply {
	v, state := c.Cluster.View(), "fail"
	if v.OK(c.Config.Cluster.FullCoverage) {
		state = "ok"
	}
	var w command.InfoWriter
	w.Line("cluster_state", state)
	w.Line("cluster_slots_assigned", v.Assigned)
	w.Line("cluster_slots_ok", v.Assigned-v.Suspected-v.Failed)
	w.Line("cluster_slots_pfail", v.Suspected)
	w.Line("cluster_slots_fail", v.Failed)
	w.Line("cluster_known_nodes", len(v.Nodes))
	w.Line("cluster_size", v.Size)
	w.Line("cluster_current_epoch", v.Epoch)
	w.Line("cluster_my_epoch", v.EpochOf(c.Cluster.Self()))
	w.Zero("cluster_stats_messages_sent", "cluster_stats_messages_received",
		"total_cluster_links_buffer_limit_exceeded")
	return resp.Verbatim(w.String())
}

func clusterCountkeysinslot(c *command.Ctx, args resp.Args) resp.Reply {
	slot, ok := resp.ParseInt(args[2])
	switch {
	case !ok:
		return resp.ErrNotInt
	case slot < 0 || slot >= cluster.Slots:
		return errSlot
	}
	return resp.Int(int64(c.Space.DB(0).SlotLen(int(slot))))
}

func clusterGetkeysinslot(c *command.Ctx, args resp.Args) resp.Reply {
	slot, ok := resp.ParseInt(args[2])
	count, ok2 := resp.ParseInt(args[3])
	switch {
	case !ok || !ok2:
		return resp.ErrNotInt
	case slot < 0 || slot >= cluster.Slots || count < 0:
		return errSlotOrCount
	}
	db := c.Space.DB(0)
	return resp.BulkArray(db.SlotKeys(int(slot), int(min(count, int64(db.Len())))))
}

// clusterNode returns the node that args[2] names, or the error.
func clusterNode(c *command.Ctx, args resp.Args) (n *cluster.Node, failure resp.Reply) {
	if n = c.Cluster.Node(args.String(2)); n == nil {
		return nil, resp.Errorf("ERR Unknown node %s", args[2])
	}
	return n, resp.NoReply
}

// clusterReplicas lists a node's replicas, as CLUSTER NODES does.
func clusterReplicas(c *command.Ctx, args resp.Args) resp.Reply {
	n, failure := clusterNode(c, args)
	switch {
	case n == nil:
		return failure
	case n.Primary != "":
		return errNoPrimary
	}
	lines := []resp.Reply{}
	for _, r := range c.Cluster.View().Replicas(n) {
		lines = append(lines, resp.BulkString(strings.TrimSuffix(line(c, r), "\n")))
	}
	return resp.Array(lines...)
}

// clusterCountFailureReports counts the other nodes that report a node as failing: all that are
// online and own slots.
func clusterCountFailureReports(c *command.Ctx, args resp.Args) resp.Reply {
	n, failure := clusterNode(c, args)
	if n == nil {
		return failure
	}
	reports := 0
	for _, other := range c.Cluster.View().Nodes {
		if n.Health != cluster.Online && other.Health == cluster.Online &&
			other.Slots.Len() > 0 && other.ID != c.Cluster.Self().ID {
			reports++
		}
	}
	return resp.Int(int64(reports))
}

func clusterBumpepoch(c *command.Ctx, _ resp.Args) resp.Reply {
	verb := "STILL"
	c.Cluster.Change(func(v *cluster.View, self *cluster.Node) {
		if v.Bump(self) {
			verb = "BUMPED"
		}
	})
	return resp.Status(fmt.Sprintf("%s %d", verb, c.Cluster.Self().Epoch))
}

func clusterSetConfigEpoch(c *command.Ctx, args resp.Args) resp.Reply {
	epoch, ok := resp.ParseInt(args[2])
	switch {
	case !ok:
		return resp.ErrNotInt
	case epoch < 0:
		return resp.Errorf("ERR Invalid config epoch specified: %d", epoch)
	case len(c.Cluster.View().Nodes) > 1:
		return errEpochOthers
	case c.Cluster.Self().Epoch != 0:
		return errEpochSet
	}
	c.Cluster.Change(func(v *cluster.View, self *cluster.Node) {
		self.Epoch = uint64(epoch)
		v.Epoch = max(v.Epoch, uint64(epoch))
	})
	return resp.OK
}

// clusterReset makes the node forget its slots. A replica becomes an empty primary. HARD also gives it a
// new id.
//
// Differs from Redis: the node still knows the other nodes.
func clusterReset(c *command.Ctx, args resp.Args) resp.Reply {
	hard := len(args) == 3 && command.IsWord(args[2], "hard")
	switch {
	case len(args) > 3:
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	case len(args) == 3 && !hard && !command.IsWord(args[2], "soft"):
		return resp.ErrSyntax
	}
	replica := c.Cluster.Primary() != nil
	if c.DB.Len() > 0 && !replica {
		return errResetKeys
	}
	before, id := c.Cluster.View(), ""
	if hard {
		id = command.NewNodeID(c.Rand.Uint64)
	}
	c.Cluster.Reset(id)
	if replica {
		c.Replicas.Lead()
		c.ChangeOther("flush", int64(c.DB.Flush()))
	}
	c.ViewChanged(before)
	return resp.OK
}
