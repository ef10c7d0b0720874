package engine

import (
	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
)

// becomeNode turns cluster mode on. It is called by New.
func (e *Engine) becomeNode(opts Options) {
	cfg := opts.Config
	e.env.Cluster = cluster.New(command.NewNodeID(opts.Rand.Uint64), cfg.Cluster.Slots)
	e.env.Space.IndexSlots()
	cfg.OnChange(config.ClusterChange, func() error {
		command.RefuseWaits(&e.env)
		return nil
	})
}

// noSlot is the slot of a command without keys.
const noSlot = -1

// route is what the cluster says about a command's keys.
type route uint8

const (
	local        route = iota // the node serves the command
	crossesSlots              // its keys are in several slots
	unbound                   // no node owns the slot
	down                      // the cluster is down
	downForWrite              // the cluster is down and serves only reads
)

// routeOf finds the slot of a command's keys and decides whether this node serves them. The
// table's key specs name the keys, so that takes no allocation. Without cluster mode
// Env.Cluster is nil: a command of a client or script, and a change of the key space, then cost
// a comparison each. Handlers do not check slots. Handlers that name databases, or keys by
// patterns, refuse to in cluster mode.
// EXEC has the keys of all commands that it has queued. A redirection to another node
// belongs here.
func routeOf(c *command.Ctx, args resp.Args) (slot int, r route) {
	slot = noSlot
	visit := func(key []byte) bool {
		switch s := cluster.Slot(key); {
		case slot == noSlot:
			slot = s
			if c.Cluster.Owner(s) == nil {
				r = unbound
			}
		case slot != s:
			r = crossesSlots
		}
		return r == local
	}
	if multi := c.Session.Multi; multi != nil && c.Cmd.Has(command.RunsQueue) {
		for i := 0; i < len(multi.Cmds) && r == local; i++ {
			multi.Cmds[i].SlotKeys(multi.Queue[i], visit)
		}
	} else {
		c.Cmd.SlotKeys(args, visit)
	}
	if r == local && slot != noSlot {
		r = routeInState(c, args)
	}
	return slot, r
}

// routeInState decides about a command with keys by the cluster's state.
func routeInState(c *command.Ctx, args resp.Args) route {
	set := &c.Config.Cluster
	switch {
	case c.Cluster.OK(set.FullCoverage):
		return local
	case c.Cmd.Sharded() && set.ShardPubSubWhenDown:
		return local
	case c.Cmd.Sharded() || !set.ReadsWhenDown:
		return down
	case command.LineFlags(c, args).Has(command.Write):
		return downForWrite
	}
	return local
}

// refusals are the replies to a client's command that the node does not serve.
var refusals = [...]resp.Reply{
	crossesSlots: resp.Error("CROSSSLOT Keys in request don't hash to the same slot"),
	unbound:      command.ErrSlotUnbound,
	down:         command.ErrClusterDown,
	downForWrite: resp.Error("CLUSTERDOWN The cluster is down and only accepts read commands"),
}

// misrouted reports whether the node does not serve a client's command because of its
// keys. A refused EXEC ends the transaction, but its reply is the refusal itself.
func (k *checks) misrouted(c *command.Ctx, args resp.Args) (refusal resp.Reply, is bool) {
	slot, r := routeOf(c, args)
	c.Session.Slot = slot
	return refusals[r], r != local
}

// The errors of redis.call for a command that the node does not serve.
var (
	errScriptNotLocal = resp.Error("ERR Script attempted to access a non local key " +
		"in a cluster node")
	errScriptDown = resp.Error("ERR Script attempted to execute a command " +
		"while the cluster is down")
	errScriptDownForWrite = resp.Error("ERR Script attempted to execute a write command " +
		"while the cluster is down and readonly")
	errScriptCrossSlot = resp.Error("ERR Script attempted to access keys " +
		"that do not hash to the same slot")
)

// misroutedInScript reports whether the node does not serve a script's command because of
// its keys. A script with a shebang line keeps to one slot, unless it declares
// allow-cross-slot-keys. The declared keys decide that slot, or the keys of the transaction, or
// else the first key that a script uses.
func (k *checks) misroutedInScript(c *command.Ctx, args resp.Args) (refusal resp.Reply, is bool) {
	slot, r := routeOf(c, args)
	switch {
	case r == down:
		return errScriptDown, true
	case r == downForWrite:
		return errScriptDownForWrite, true
	case r != local:
		return errScriptNotLocal, true
	case slot == noSlot || k.e.script.anySlot || slot == c.Session.Slot:
		return refusal, false
	case c.Session.Slot == noSlot:
		c.Session.Slot = slot
		return refusal, false
	}
	return errScriptCrossSlot, true
}
