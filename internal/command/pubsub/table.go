package pubsub

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the commands for publishing and subscribing.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "psubscribe", Arity: -2, Channels: command.AllArePatterns, Flags: command.PubSubFlag | command.NoScript | command.Loading | command.Stale | command.WhileSubscribed | command.NeedsConnection, Since: "2.0.0", Summary: "Listens to the channels that match patterns.", Run: psubscribe},
		{Name: "publish", Arity: 3, Channels: command.FirstIsChannel, Flags: command.PubSubFlag | command.Loading | command.Stale | command.Fast | command.MayReplicate | command.AlwaysTold, Since: "2.0.0", Summary: "Sends a message to a channel.", Run: publish, Told: toldOutsideCluster},
		{Name: "pubsub", Arity: -2, Since: "2.8.0", Summary: "Groups the commands about subscriptions.", Subs: []*command.Command{
			{Name: "pubsub|channels", Arity: -2, Flags: command.PubSubFlag | command.Loading | command.Stale, Since: "2.8.0", Summary: "Lists the channels that have subscribers.", Run: pubsubChannels},
			{Name: "pubsub|help", Arity: 2, Flags: command.Loading | command.Stale, Since: "6.2.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "pubsub|numpat", Arity: 2, Flags: command.PubSubFlag | command.Loading | command.Stale, Since: "2.8.0", Summary: "Counts the patterns that have subscribers.", Run: pubsubNumpat},
			{Name: "pubsub|numsub", Arity: -2, Flags: command.PubSubFlag | command.Loading | command.Stale, Since: "2.8.0", Summary: "Counts the listeners of channels.", Run: pubsubNumsub},
			{Name: "pubsub|shardchannels", Arity: -2, Flags: command.PubSubFlag | command.Loading | command.Stale, Since: "7.0.0", Summary: "Lists the shard channels that have subscribers.", Run: pubsubShardchannels},
			{Name: "pubsub|shardnumsub", Arity: -2, Flags: command.PubSubFlag | command.Loading | command.Stale, Since: "7.0.0", Summary: "Counts the listeners of shard channels.", Run: pubsubShardnumsub},
		}},
		{Name: "punsubscribe", Arity: -1, Flags: command.PubSubFlag | command.NoScript | command.Loading | command.Stale | command.WhileSubscribed | command.NeedsConnection, Since: "2.0.0", Summary: "Stops listening to patterns.", Run: punsubscribe},
		{Name: "spublish", Arity: 3, Channels: command.FirstIsChannel, Flags: command.PubSubFlag | command.Loading | command.Stale | command.Fast | command.MayReplicate | command.AlwaysTold, Keys: command.Key(command.NotKey, 1), Since: "7.0.0", Summary: "Sends a message to a shard channel.", Run: spublish, Told: toldOutsideCluster},
		{Name: "ssubscribe", Arity: -2, Channels: command.AllAreChannels, Flags: command.PubSubFlag | command.NoScript | command.Loading | command.Stale | command.WhileSubscribed | command.NeedsConnection, Keys: command.Keys(command.NotKey, 1, -1, 1), Since: "7.0.0", Summary: "Listens to shard channels.", Run: ssubscribe},
		{Name: "subscribe", Arity: -2, Channels: command.AllAreChannels, Flags: command.PubSubFlag | command.NoScript | command.Loading | command.Stale | command.WhileSubscribed | command.NeedsConnection, Since: "2.0.0", Summary: "Listens to channels.", Run: subscribe},
		{Name: "sunsubscribe", Arity: -1, Flags: command.PubSubFlag | command.NoScript | command.Loading | command.Stale | command.WhileSubscribed | command.NeedsConnection, Keys: command.Keys(command.NotKey, 1, -1, 1), Since: "7.0.0", Summary: "Stops listening to shard channels.", Run: sunsubscribe},
		{Name: "unsubscribe", Arity: -1, Flags: command.PubSubFlag | command.NoScript | command.Loading | command.Stale | command.WhileSubscribed | command.NeedsConnection, Since: "2.0.0", Summary: "Stops listening to channels.", Run: unsubscribe},
	}
}
