package command

import (
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
)

var errDenyBlocking = resp.Error("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client")

// family is a kind of subscription with the words of its confirmations.
type family struct {
	kind         pubsub.Kind
	joined, left string
}

var (
	channels = family{pubsub.Channel, "subscribe", "unsubscribe"}
	patterns = family{pubsub.Pattern, "psubscribe", "punsubscribe"}
	shards   = family{pubsub.Shard, "ssubscribe", "sunsubscribe"}
)

func subscribe(c *Ctx, args resp.Args) resp.Reply    { return join(c, channels, args) }
func psubscribe(c *Ctx, args resp.Args) resp.Reply   { return join(c, patterns, args) }
func unsubscribe(c *Ctx, args resp.Args) resp.Reply  { return leave(c, channels, args) }
func punsubscribe(c *Ctx, args resp.Args) resp.Reply { return leave(c, patterns, args) }
func sunsubscribe(c *Ctx, args resp.Args) resp.Reply { return leave(c, shards, args) }

func ssubscribe(c *Ctx, args resp.Args) resp.Reply {
	if c.DenyBlocking { // SUBSCRIBE and PSUBSCRIBE may be queued
		return errDenyBlocking
	}
	return join(c, shards, args)
}

// count is the number in confirmations: shard channels count by themselves.
func (f family) count(s *Session) resp.Reply {
	if f.kind == pubsub.Shard {
		return resp.Int(int64(s.Subs.Count(pubsub.Shard)))
	}
	return resp.Int(int64(s.Subs.Count(pubsub.Channel) + s.Subs.Count(pubsub.Pattern)))
}

func join(c *Ctx, f family, args resp.Args) resp.Reply {
	s := c.Session
	for _, name := range args[1:] {
		c.PubSub.Subscribe(s, &s.Subs, f.kind, string(name))
		confirm(c, f.joined, resp.Bulk(name), f)
	}
	return resp.NoReply
}

func leave(c *Ctx, f family, args resp.Args) resp.Reply {
	s := c.Session
	names := args[1:]
	if len(names) == 0 {
		for _, name := range s.Subs.Names(f.kind) {
			names = append(names, []byte(name))
		}
		if len(names) == 0 {
			confirm(c, f.left, resp.Nil, f)
		}
	}
	for _, name := range names {
		c.PubSub.Unsubscribe(s, &s.Subs, f.kind, string(name))
		confirm(c, f.left, resp.Bulk(name), f)
	}
	return resp.NoReply
}

// confirm is sent at once, so that a message never overtakes it, and even
// where CLIENT REPLY silences replies: it is a message itself.
func confirm(c *Ctx, word string, name resp.Reply, f family) {
	s := c.Session
	s.Conn.Write(resp.Append(nil, resp.Push(resp.BulkString(word), name, f.count(s)), s.Proto))
}

func publish(c *Ctx, args resp.Args) resp.Reply {
	return resp.Int(int64(c.PubSub.Publish(args[1], args[2], false)))
}

func spublish(c *Ctx, args resp.Args) resp.Reply {
	return resp.Int(int64(c.PubSub.Publish(args[1], args[2], true)))
}

func pubsubChannels(c *Ctx, args resp.Args) resp.Reply { return listChannels(c, pubsub.Channel, args) }
func pubsubShardchannels(c *Ctx, args resp.Args) resp.Reply {
	return listChannels(c, pubsub.Shard, args)
}

func listChannels(c *Ctx, k pubsub.Kind, args resp.Args) resp.Reply {
	switch len(args) {
	case 2:
		return resp.BulkArray(c.PubSub.Channels(k, "*"))
	case 3:
		return resp.BulkArray(c.PubSub.Channels(k, args.String(2)))
	}
	return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
}

func pubsubNumsub(c *Ctx, args resp.Args) resp.Reply { return countListeners(c, pubsub.Channel, args) }
func pubsubShardnumsub(c *Ctx, args resp.Args) resp.Reply {
	return countListeners(c, pubsub.Shard, args)
}

func countListeners(c *Ctx, k pubsub.Kind, args resp.Args) resp.Reply {
	counts := make([]resp.Reply, 0, 2*len(args))
	for _, name := range args[2:] {
		counts = append(counts, resp.Bulk(name), resp.Int(int64(c.PubSub.Subscribers(k, string(name)))))
	}
	return resp.Array(counts...)
}

func pubsubNumpat(c *Ctx, _ resp.Args) resp.Reply { return resp.Int(int64(c.PubSub.Patterns())) }
