package engine

import (
	"bytes"
	"sync/atomic"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
)

// becomeNode turns cluster mode on. It is called by New.
func (e *Engine) becomeNode(opts Options) {
	cfg := opts.Config
	bus, node := opts.Bus, cluster.Node{
		ID: command.NewNodeID(opts.Rand.Uint64), Slots: cfg.Cluster.Slots, Joined: opts.Clock.Now().UnixMilli(),
		Offset: new(atomic.Int64),
	}
	if bus == nil {
		e.env.Cluster = cluster.NewBus().Join(node, nil)
	} else {
		e.peer = newPeer(e)
		e.env.Cluster = bus.Join(node, e.peer)
	}
	e.env.Space.IndexSlots()
	cfg.OnChange(config.ClusterChange, func() error {
		if e.peer != nil {
			e.peer.announce()
		}
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
	tryAgain                  // the slot moves, and only some of its keys are here
	moved                     // another node owns the slot
	asks                      // the slot moves, and its keys are at the node that it moves to
)

// way is where a command with keys is served.
type way struct {
	slot  int // noSlot: the command has no keys
	route route
	to    *cluster.Node // of moved and asks
}

// wayOf finds the slot of a command's keys and decides whether this node serves them. The
// table's key specs name the keys, so that takes no allocation. Without cluster mode
// Env.Cluster is nil: a command of a client or script, and a change of the key space, then cost
// a comparison each. Handlers do not check slots. Handlers that name databases, or keys by
// patterns, refuse to in cluster mode.
// EXEC has the keys of all commands that it has queued. A server that stands for a proxy has no
// Cluster: there only keys of several slots are refused.
func wayOf(c *command.Ctx, args resp.Args) way {
	k := keySlots{c: c, way: way{slot: noSlot}}
	if multi := c.Session.Multi; multi != nil && c.Cmd.Has(command.RunsQueue) {
		for i := 0; i < len(multi.Cmds) && k.route == local; i++ {
			multi.Cmds[i].SlotKeys(multi.Queue[i], k.visit)
		}
	} else {
		c.Cmd.SlotKeys(args, k.visit)
	}
	if k.route == local && k.slot != noSlot && c.Cluster != nil {
		if k.route = routeInState(c, args); k.route == local {
			k.redirect(args)
		}
	}
	return k.way
}

// keySlots visits the keys of a command.
type keySlots struct {
	way
	c     *command.Ctx
	first []byte // key
	owner *cluster.Node

	// While the slot moves:

	migrating, importing bool
	several              bool // there are different keys
	present, missing     int  // keys that are here, and keys that are not
}

// visit notes a key. It returns false when the command cannot be served.
func (k *keySlots) visit(key []byte) bool {
	switch s := cluster.Slot(key); {
	case k.slot == noSlot:
		k.slot, k.first = s, key
		if k.c.Cluster != nil {
			k.begin()
		}
	case k.slot != s:
		k.route = crossesSlots
	}
	if k.route != local {
		return false
	}
	if (k.migrating || k.importing) && !k.c.Cmd.Sharded() {
		k.several = k.several || !bytes.Equal(k.first, key)
		if k.c.Space.DB(0).Peek(key) == nil {
			k.missing++
		} else {
			k.present++
		}
	}
	return true
}

// begin looks at the slot of the first key.
func (k *keySlots) begin() {
	cl := k.c.Cluster
	k.owner = cl.Owner(k.slot)
	switch {
	case k.owner == nil:
		k.route = unbound
	case k.owner == cl.Self():
		k.migrating = cl.Migrating[k.slot] != ""
	default:
		k.importing = cl.Importing[k.slot] != ""
	}
}

// redirect decides about a command in a cluster that serves commands.
func (k *keySlots) redirect(args resp.Args) {
	cl := k.c.Cluster
	asking := k.importing && (k.c.Session.Asking || k.c.Cmd.Has(command.Asking))
	switch {
	case (k.migrating || k.importing) && k.c.Cmd.Name == "migrate":
	case k.migrating && k.missing > 0 && k.present > 0, asking && k.several && k.missing > 0:
		k.route = tryAgain
	case k.migrating && k.missing > 0:
		if to := cl.Node(cl.Migrating[k.slot]); to != nil { // else it has another id since CLUSTER RESET
			k.route, k.to = asks, to
		}
	case asking:
	case cl.Reads(k.owner) && (k.c.Session.ReadOnly && !lineFlags(k.c, args).Has(command.Write) || k.c.Cmd.Sharded()):
	case k.owner != cl.Self():
		k.route, k.to = moved, k.owner
	}
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
	tryAgain:     resp.Error("TRYAGAIN Multiple keys request during rehashing of slot"),
}

// misrouted reports whether the node does not serve a client's command because of its
// keys. A refused EXEC ends the transaction, but its reply is the refusal itself.
func (k *checks) misrouted(c *command.Ctx, args resp.Args) (refusal resp.Reply, is bool) {
	if k.e.peer != nil && !k.e.midway && !c.Session.Follows() { // to follow may close a replica's connection
		k.e.peer.follow()
	}
	w := wayOf(c, args)
	c.Session.Slot = w.slot
	switch w.route {
	case local:
		return refusal, false
	case moved:
		return c.Redirection(c.Session, "MOVED", w.slot, w.to), true
	case asks:
		return c.Redirection(c.Session, "ASK", w.slot, w.to), true
	}
	return refusals[w.route], true
}

// endAsking ends the effect of ASKING after the next command of s, or after its transaction.
func endAsking(s *command.Session, cmd *command.Command) {
	if s.Asking && s.Multi == nil && (cmd == nil || cmd.Name != "asking") {
		s.Asking = false
	}
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
	w := wayOf(c, args)
	switch {
	case w.route == down:
		return errScriptDown, true
	case w.route == downForWrite:
		return errScriptDownForWrite, true
	case w.route != local, w.slot != noSlot && c.Cluster == nil && k.elsewhere(c.Session.Slot, w.slot):
		return errScriptNotLocal, true
	case w.slot == noSlot || k.e.script.anySlot || w.slot == c.Session.Slot:
		return refusal, false
	case c.Session.Slot == noSlot:
		c.Session.Slot = w.slot
		return refusal, false
	}
	return errScriptCrossSlot, true
}

// elsewhere reports whether the nodes behind a proxy do not have both slots on one node. A script
// without keys runs on the first node.
func (k *checks) elsewhere(declared, slot int) bool {
	n := k.e.env.Config.Topology.Proxy
	return cluster.ShareOf(max(declared, 0), n) != cluster.ShareOf(slot, n)
}
