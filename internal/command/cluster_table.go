package command

// clusterCommands is the table of what a server that is no cluster node says to
// cluster clients.
func clusterCommands() []*Command {
	return []*Command{
		{Name: "asking", Arity: 1, Flags: Fast, Categories: []string{"connection"}, Since: "3.0.0", Summary: "Prepares a cluster node for a redirected command.", Run: notACluster},
		{Name: "readonly", Arity: 1, Flags: Loading | Stale | Fast, Categories: []string{"connection"}, Since: "3.0.0", Summary: "Allows reads from a cluster replica.", Run: notACluster},
		{Name: "readwrite", Arity: 1, Flags: Loading | Stale | Fast, Categories: []string{"connection"}, Since: "3.0.0", Summary: "Ends READONLY.", Run: notACluster},
	}
}
