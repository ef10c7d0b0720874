package command

import (
	"fmt"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
)

// busPortOffset is the distance from a node's port to the port where it talks to other
// nodes.
const busPortOffset = 10000

// Reach says how the node is reached, as it announces it.
//
// A node has one or two ports. With tls-cluster, and on a server that speaks only TLS, the
// first is the one with TLS; the second, without TLS, is for clients that do not use TLS.
func (env *Env) Reach() cluster.Reach {
	set, facts := &env.Config.Cluster, env.Server.Identity()
	r := cluster.Reach{
		IP: shorten(set.AnnounceIP), Host: set.AnnounceHost, First: facts.Port, Bus: set.AnnounceBusPort,
	}
	r.Secure = facts.TLSPort != 0 && (set.TLS || facts.Port == facts.TLSPort)
	if r.Secure && facts.Port != facts.TLSPort {
		r.First, r.Second = facts.TLSPort, facts.Port
	}
	if r.Bus == 0 {
		r.Bus = set.BusPort
	}
	if r.Bus == 0 && r.First+busPortOffset <= 65535 { // else 0: no node listens there anyway
		r.Bus = r.First + busPortOffset
	}
	switch {
	case set.TLS && set.AnnounceTLSPort != 0:
		r.First, r.Second = set.AnnounceTLSPort, set.AnnouncePort
	case set.AnnouncePort != 0:
		r.First = set.AnnouncePort
	}
	return r
}

// shorten returns what Redis keeps of cluster-announce-ip: as many bytes as the longest IP
// address has. CONFIG GET shows all.
func shorten(ip string) string { return ip[:min(len(ip), 45)] }

// NodeAddress returns the address of a node for a client that uses TLS, or does not.
func (env *Env) NodeAddress(n *cluster.Node, tls bool) cluster.Address {
	if n == env.Cluster.Self() {
		return env.Reach().For(tls)
	}
	return n.Reach.For(tls)
}

// Endpoint returns what a client connects to, as cluster-preferred-endpoint-type says. "" stands for
// the host that the client knows already.
func (env *Env) Endpoint(at cluster.Address) string {
	switch env.Config.Cluster.Endpoint {
	case config.EndpointHostname:
		if at.Host == "" {
			return "?"
		}
		return at.Host
	case config.EndpointUnknown:
		return ""
	}
	return at.IP
}

// ErrClusterDown and ErrSlotUnbound refuse a command that has keys.
var (
	ErrClusterDown = resp.Error("CLUSTERDOWN The cluster is down")
	ErrSlotUnbound = resp.Error("CLUSTERDOWN Hash slot not served")
)

// Redirection is the reply that sends the client s to node n: with "MOVED", or with "ASK" for one
// command.
func (env *Env) Redirection(s *Session, word string, slot int, n *cluster.Node) resp.Reply {
	at := env.NodeAddress(n, s.TLS)
	return resp.Error(fmt.Sprintf("%s %d %s:%d", word, slot, env.Endpoint(at), at.Port))
}

// NewNodeID returns the id of a new node, from random numbers.
func NewNodeID(random func() uint64) string {
	id := ""
	for len(id) < 40 {
		id += fmt.Sprintf("%016x", random())
	}
	return id[:40]
}

// ViewChanged ends what depends on how the node's View of the cluster was before: subscriptions to
// the shard channels of slots that the node does not serve any more, and blocking commands that wait for their keys.
func (env *Env) ViewChanged(before *cluster.View) {
	if lost := env.Cluster.Unserved(before); lost.Len() > 0 {
		env.Clients.Each(func(s *Session) bool {
			loseShardChannels(env, s, &lost)
			return true
		})
	}
	RefuseWaits(env)
}

// loseShardChannels ends the subscriptions of s to the shard channels of slots that are lost.
func loseShardChannels(env *Env, s *Session, lost *cluster.Set) {
	for _, name := range s.Subs.Names(pubsub.Shard) {
		if lost.Has(cluster.Slot([]byte(name))) {
			env.PubSub.Unsubscribe(s, &s.Subs, pubsub.Shard, name)
			s.Push(resp.Append(nil, resp.Push(resp.BulkString("sunsubscribe"), resp.BulkString(name),
				resp.Int(int64(s.Subs.Count(pubsub.Shard)))), s.Proto))
		}
	}
}

// RefuseWaits ends the blocking commands that wait for keys of a slot that the node does not serve.
// If the cluster is down, it ends all that wait for keys.
func RefuseWaits(env *Env) {
	down := !env.Cluster.OK(env.Config.Cluster.FullCoverage)
	env.Clients.Each(func(s *Session) bool {
		p := s.Parked
		if p == nil || len(p.Keys) == 0 {
			return true
		}
		slot := cluster.Slot([]byte(p.Keys[0])) // all its keys are in one slot
		switch owner := env.Cluster.Owner(slot); {
		case down:
			env.Parking.Unpark(s, ErrClusterDown)
		case owner == env.Cluster.Self() || env.Cluster.Importing[slot] != "":
		case s.ReadOnly && env.Cluster.Reads(owner) && !p.Cmd.Has(Write):
		case owner == nil:
			env.Parking.Unpark(s, ErrSlotUnbound)
		default:
			env.Parking.Unpark(s, env.Redirection(s, "MOVED", slot, owner))
		}
		return true
	})
}

// SlotKeys calls do for each argument that decides the slot of a command line, until do
// returns false: keys, and the channels of sharded pub/sub. They are the arguments that
// Redis looks at, in its order: it parses a number of keys as C's atoi does, and a
// destination comes after the keys that are counted. A line with a wrong number of keys
// has none. It allocates nothing for most commands.
func (cmd *Command) SlotKeys(args resp.Args, do func(key []byte) bool) {
	if cmd.Flags&MovableKeys != 0 && cmd.Keys[0].Refine != nil { // MIGRATE with KEYS
		found, _ := cmd.KeyPositions(args)
		for _, p := range found {
			if !do(args[p.At]) {
				return
			}
		}
		return
	}
	for i := range cmd.Keys {
		k := &cmd.Keys[i]
		if k.Find != Keynum {
			continue
		}
		first, n := k.counted(args)
		if n == 0 {
			return
		}
		for _, key := range args[first : first+n] {
			if !do(key) {
				return
			}
		}
	}
	for i := range cmd.Keys {
		if k := &cmd.Keys[i]; k.Find != Keynum && !k.slotKeys(args, do) {
			return
		}
	}
}

// slotKeys calls do for the keys of a spec without a number of keys. It reports whether do
// always returned true.
func (k *KeySpec) slotKeys(args resp.Args, do func(key []byte) bool) bool {
	if k.Find == Unknown && k.Refine != nil {
		for _, p := range k.Refine(args, nil) {
			if !do(args[p.At]) {
				return false
			}
		}
		return true
	}
	if k.Begin == Keyword && k.Keyword == KeywordStreams {
		for _, key := range streamKeys(args) {
			if !do(key) {
				return false
			}
		}
		return true
	}
	begin, ok := k.begin(args)
	if !ok {
		return true
	}
	first, last, ok := k.bounds(args, begin)
	for i := first; ok && i <= last; i += k.Step {
		if !do(args[i]) {
			return false
		}
	}
	return true
}

// counted returns the position of the first key of a Keynum spec, and the number of keys.
// It parses that number as C's atoi does ("2x" is 2). n is 0 when it does not fit the line.
func (k *KeySpec) counted(args resp.Args) (first, n int) {
	begin, ok := k.begin(args)
	if !ok {
		return 0, 0
	}
	first, n = begin+k.FirstKey, Atoi(args[begin+k.CountAt])
	if n < 1 || n > len(args)-first {
		return 0, 0
	}
	return first, n
}

// KeywordStreams is the argument of XREAD and XREADGROUP before their keys.
const KeywordStreams = "STREAMS"

// streamKeys returns the keys of XREAD and XREADGROUP.
// It is stricter than the spec: a line with an unknown option has no keys, nor has one
// without an id for each key.
func streamKeys(args resp.Args) [][]byte {
	for i := 1; i < len(args); i++ {
		switch {
		case IsWord(args[i], "block"), IsWord(args[i], "count"):
			i++
		case IsWord(args[i], "group"):
			i += 2
		case IsWord(args[i], "noack"):
		case IsWord(args[i], "streams") && (len(args)-i)%2 == 1:
			return args[i+1 : i+1+(len(args)-i)/2]
		default:
			return nil
		}
	}
	return nil
}

// Sharded reports whether the command is about shard channels. They have slots, but are no
// keys.
func (cmd *Command) Sharded() bool { return len(cmd.Keys) > 0 && cmd.Keys[0].Flags&NotKey != 0 }
