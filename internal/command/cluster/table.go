package cluster

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the commands of cluster mode. Without cluster mode each of the commands
// replies with an error. There is no nodes.conf, and which nodes there are does not change: the
// commands for that check their arguments and refuse.
func Commands() []*command.Command {
	const (
		reads   = command.Stale
		asks    = command.Admin | command.Stale
		changes = command.Admin | command.Stale | command.NoAsyncLoading
	)
	unstable := []string{"nondeterministic_output"}
	rows := []*command.Command{
		{Name: "asking", Arity: 1, Flags: command.Fast, Categories: []string{"connection"}, Since: "3.0.0", Summary: "Prepares a cluster node for a redirected command.", Run: asking},
		{Name: "cluster", Arity: -2, Since: "3.0.0", Summary: "Groups the commands about the cluster.", Subs: []*command.Command{
			{Name: "cluster|addslots", Arity: -3, Flags: changes, Since: "3.0.0", Summary: "Gives slots to the node.", Run: clusterAddslots},
			{Name: "cluster|addslotsrange", Arity: -4, Flags: changes, Since: "7.0.0", Summary: "Gives ranges of slots to the node.", Run: clusterAddslotsrange},
			{Name: "cluster|bumpepoch", Arity: 2, Flags: changes, Tips: unstable, Since: "3.0.0", Summary: "Gives the node the newest configuration epoch.", Run: clusterBumpepoch},
			{Name: "cluster|count-failure-reports", Arity: 3, Flags: asks, Tips: unstable, Since: "3.0.0", Summary: "Counts the nodes that report a node as failing.", Run: clusterCountFailureReports},
			{Name: "cluster|countkeysinslot", Arity: 3, Flags: reads, Since: "3.0.0", Summary: "Counts the keys in a slot.", Run: clusterCountkeysinslot},
			{Name: "cluster|delslots", Arity: -3, Flags: changes, Since: "3.0.0", Summary: "Takes slots from the node.", Run: clusterDelslots},
			{Name: "cluster|delslotsrange", Arity: -4, Flags: changes, Since: "7.0.0", Summary: "Takes ranges of slots from the node.", Run: clusterDelslotsrange},
			{Name: "cluster|failover", Arity: -2, Flags: changes, Since: "3.0.0", Summary: "Makes a replica the primary of its shard.", Run: clusterFailover},
			{Name: "cluster|flushslots", Arity: 2, Flags: changes, Since: "3.0.0", Summary: "Takes all slots from an empty node.", Run: clusterFlushslots},
			{Name: "cluster|forget", Arity: 3, Flags: changes, Since: "3.0.0", Summary: "Refuses to forget a node.", Run: clusterForget},
			{Name: "cluster|getkeysinslot", Arity: 4, Flags: reads, Tips: unstable, Since: "3.0.0", Summary: "Lists keys in a slot.", Run: clusterGetkeysinslot},
			{Name: "cluster|help", Arity: 2, Flags: command.Loading | command.Stale, Since: "5.0.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "cluster|info", Arity: 2, Flags: reads, Tips: unstable, Since: "3.0.0", Summary: "Describes the state of the cluster.", Run: clusterInfo},
			{Name: "cluster|keyslot", Arity: 3, Flags: reads, Since: "3.0.0", Summary: "Returns the slot of a key.", Run: clusterKeyslot},
			{Name: "cluster|links", Arity: 2, Flags: reads, Tips: unstable, Since: "7.0.0", Summary: "Lists the connections to other nodes.", Run: clusterLinks},
			{Name: "cluster|meet", Arity: -4, Flags: changes, Since: "3.0.0", Summary: "Refuses a node that is not known.", Run: clusterMeet},
			{Name: "cluster|myid", Arity: 2, Flags: reads, Since: "3.0.0", Summary: "Returns the node's id.", Run: clusterMyid},
			{Name: "cluster|nodes", Arity: 2, Flags: reads, Tips: unstable, Since: "3.0.0", Summary: "Describes the nodes, a line each.", Run: clusterNodes},
			{Name: "cluster|replicas", Arity: 3, Flags: asks, Tips: unstable, Since: "5.0.0", Summary: "Lists the replicas of a node.", Run: clusterReplicas},
			{Name: "cluster|replicate", Arity: 3, Flags: changes, Since: "3.0.0", Summary: "Makes the node a replica of another one.", Run: clusterReplicate},
			{Name: "cluster|reset", Arity: -2, Flags: command.Admin | command.Stale | command.NoScript, Since: "3.0.0", Summary: "Makes an empty node, or a replica, forget its place in the cluster.", Run: clusterReset},
			{Name: "cluster|saveconfig", Arity: 2, Flags: changes, Since: "3.0.0", Summary: "Replies as Redis does, but writes nothing.", Run: clusterSaveconfig},
			{Name: "cluster|set-config-epoch", Arity: 3, Flags: changes, Since: "3.0.0", Summary: "Sets the configuration epoch of a new node.", Run: clusterSetConfigEpoch},
			{Name: "cluster|setslot", Arity: -4, Flags: changes, Since: "3.0.0", Summary: "Moves a slot between nodes.", Run: clusterSetslot},
			{Name: "cluster|shards", Arity: 2, Flags: reads, Tips: unstable, Since: "7.0.0", Summary: "Describes the ranges of slots and their nodes.", Run: clusterShards},
			{Name: "cluster|slaves", Arity: 3, Flags: asks, Tips: unstable, Since: "3.0.0", Summary: "Lists the replicas of a node.", Run: clusterReplicas},
			{Name: "cluster|slots", Arity: 2, Flags: reads, Tips: unstable, Since: "3.0.0", Summary: "Lists the ranges of slots with their nodes.", Run: clusterSlots},
		}},
		{Name: "readonly", Arity: 1, Flags: command.Loading | command.Stale | command.Fast, Categories: []string{"connection"}, Since: "3.0.0", Summary: "Allows reads from a cluster replica.", Run: Readonly},
		{Name: "readwrite", Arity: 1, Flags: command.Loading | command.Stale | command.Fast, Categories: []string{"connection"}, Since: "3.0.0", Summary: "Ends READONLY.", Run: Readwrite},
	}
	for _, row := range rows {
		for _, cmd := range append([]*command.Command{row}, row.Subs...) {
			if cmd.Run != nil {
				cmd.Run = inCluster(cmd.Run)
			}
		}
	}
	return rows
}
