// Package cluster knows how a Redis cluster divides keys: the slot of a key, sets of
// slots, and a node's description of the cluster.
//
// A Cluster is what one node knows about its cluster. The node is alone: it owns some
// or all slots, and no node owns the others. The package has no lock, no socket and no
// clock. The engine asks it at admission, the CLUSTER commands read and change it, and
// both hold the engine's lock. Without cluster mode there is no Cluster.
//
// Other nodes belong into Cluster: Owner then returns the node that a client is
// redirected to, and a slot that moves between two nodes is a state beside its owner.
package cluster
