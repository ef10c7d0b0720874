package lockredistest

// ClusterReplicas gives each primary of ClusterOf so many replicas. With ClusterOf(3) and
// ClusterReplicas(1) Server.Nodes returns three primaries, and then the replica of the first one, of the
// second and of the third. RunT returns when the replicas are linked with their primaries.
//
// Clients of READONLY may read from a replica (ReadOnly, RouteByLatency and RouteRandomly of
// redis.ClusterOptions). When Stop or Close ends a primary, a replica takes over at once, if there are
// three primaries or more: with its data, but for the last writes that it has not received. CLUSTER FAILOVER to a
// replica loses nothing. A primary that is restarted comes back as a replica of the node that took over. Failover,
// Promote, Lag, Disconnect, Reconnect and Heal need the option Replicas.
func ClusterReplicas(perPrimary int) Option { return func(o *options) { o.replicas = perPrimary } }
