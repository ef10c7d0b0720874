package pubsub

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
)

var errDenyBlocking = resp.Error("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client")

// subscriptionKind is a kind of subscription and the first element of its confirmations.
type subscriptionKind struct {
	kind                     pubsub.Kind
	subscribed, unsubscribed string
}

var (
	channels = subscriptionKind{pubsub.Channel, "subscribe", "unsubscribe"}
	patterns = subscriptionKind{pubsub.Pattern, "psubscribe", "punsubscribe"}
	shards   = subscriptionKind{pubsub.Shard, "ssubscribe", "sunsubscribe"}
)

func subscribe(c *command.Ctx, args resp.Args) resp.Reply  { return subscribeTo(c, channels, args) }
func psubscribe(c *command.Ctx, args resp.Args) resp.Reply { return subscribeTo(c, patterns, args) }
func unsubscribe(c *command.Ctx, args resp.Args) resp.Reply {
	return unsubscribeFrom(c, channels, args)
}

func punsubscribe(c *command.Ctx, args resp.Args) resp.Reply {
	return unsubscribeFrom(c, patterns, args)
}

func sunsubscribe(c *command.Ctx, args resp.Args) resp.Reply { return unsubscribeFrom(c, shards, args) }

func ssubscribe(c *command.Ctx, args resp.Args) resp.Reply {
	if c.DenyBlocking() { // in MULTI, where SUBSCRIBE and PSUBSCRIBE are allowed
		return errDenyBlocking
	}
	return subscribeTo(c, shards, args)
}

// count returns the number in a confirmation: of s's shard channels, or of its channels and
// patterns together.
func (k subscriptionKind) count(s *command.Session) resp.Reply {
	if k.kind == pubsub.Shard {
		return resp.Int(int64(s.Subs.Count(pubsub.Shard)))
	}
	return resp.Int(int64(s.Subs.Count(pubsub.Channel) + s.Subs.Count(pubsub.Pattern)))
}

func subscribeTo(c *command.Ctx, k subscriptionKind, args resp.Args) resp.Reply {
	s := c.Session
	for _, name := range args[1:] {
		c.PubSub.Subscribe(s, &s.Subs, k.kind, string(name))
		confirm(c, k, k.subscribed, resp.Bulk(name))
	}
	return resp.NoReply
}

// unsubscribeFrom ends the named subscriptions, or all of the kind when args names none.
func unsubscribeFrom(c *command.Ctx, k subscriptionKind, args resp.Args) resp.Reply {
	s := c.Session
	names := args[1:]
	if len(names) == 0 {
		for _, name := range s.Subs.Names(k.kind) {
			names = append(names, []byte(name))
		}
		if len(names) == 0 {
			confirm(c, k, k.unsubscribed, resp.Nil)
		}
	}
	for _, name := range names {
		c.PubSub.Unsubscribe(s, &s.Subs, k.kind, string(name))
		confirm(c, k, k.unsubscribed, resp.Bulk(name))
	}
	return resp.NoReply
}

// confirm writes a confirmation at once, so that no message overtakes it. A confirmation is
// a message, not a reply: CLIENT REPLY does not suppress it.
func confirm(c *command.Ctx, k subscriptionKind, change string, name resp.Reply) {
	s := c.Session
	push := resp.Push(resp.BulkString(change), name, k.count(s))
	s.Tell(resp.Append(nil, push, s.Proto))
}

// publish counts the subscribers of this server. In a cluster the other nodes' get the message, too.
func publish(c *command.Ctx, args resp.Args) resp.Reply {
	if c.Cluster != nil {
		c.Cluster.Publish(args[1], args[2], false)
	}
	return resp.Int(int64(c.PubSub.Publish(args[1], args[2], false)))
}

// toldOutsideCluster tells of a message. In a cluster the bus has passed it on to the replicas.
func toldOutsideCluster(c *command.Ctx, args resp.Args, _ resp.Reply) {
	if c.Cluster == nil {
		c.Tell(args...)
	}
}

// spublish counts the subscribers of this server. In a cluster the other nodes of its shard get the
// message, too.
func spublish(c *command.Ctx, args resp.Args) resp.Reply {
	if c.Cluster != nil {
		c.Cluster.Publish(args[1], args[2], true)
	}
	return resp.Int(int64(c.PubSub.Publish(args[1], args[2], true)))
}

func pubsubChannels(c *command.Ctx, args resp.Args) resp.Reply {
	return listChannels(c, pubsub.Channel, args)
}

func pubsubShardchannels(c *command.Ctx, args resp.Args) resp.Reply {
	return listChannels(c, pubsub.Shard, args)
}

func listChannels(c *command.Ctx, k pubsub.Kind, args resp.Args) resp.Reply {
	switch len(args) {
	case 2:
		return resp.BulkArray(c.PubSub.AllChannels(k)) // "*" does not match ""
	case 3:
		return resp.BulkArray(c.PubSub.Channels(k, args.String(2)))
	}
	return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
}

func pubsubNumsub(c *command.Ctx, args resp.Args) resp.Reply {
	return countSubscribers(c, pubsub.Channel, args)
}

func pubsubShardnumsub(c *command.Ctx, args resp.Args) resp.Reply {
	return countSubscribers(c, pubsub.Shard, args)
}

func countSubscribers(c *command.Ctx, k pubsub.Kind, args resp.Args) resp.Reply {
	counts := make([]resp.Reply, 0, 2*len(args))
	for _, name := range args[2:] {
		n := c.PubSub.Subscribers(k, string(name))
		counts = append(counts, resp.Bulk(name), resp.Int(int64(n)))
	}
	return resp.Array(counts...)
}

func pubsubNumpat(c *command.Ctx, _ resp.Args) resp.Reply {
	return resp.Int(int64(c.PubSub.Patterns()))
}
