package command

// clusterCommands returns the rows of the commands that cluster clients send. lockredis is
// not a cluster node, so each of them replies with an error.
func clusterCommands() []*Command {
	return []*Command{
		{Name: "asking", Arity: 1, Flags: Fast, Categories: []string{"connection"}, Since: "3.0.0", Summary: "Prepares a cluster node for a redirected command; always an error here.", Run: notACluster},
		{Name: "readonly", Arity: 1, Flags: Loading | Stale | Fast, Categories: []string{"connection"}, Since: "3.0.0", Summary: "Allows reads from a cluster replica; always an error here.", Run: notACluster},
		{Name: "readwrite", Arity: 1, Flags: Loading | Stale | Fast, Categories: []string{"connection"}, Since: "3.0.0", Summary: "Ends READONLY; always an error here.", Run: notACluster},
	}
}
