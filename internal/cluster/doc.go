// Package cluster knows how a Redis cluster divides keys: the slot of a key, sets of
// slots, and what the nodes know about each other.
//
// The nodes of a cluster are servers of one process, or one server that is alone. They share
// a Bus, which stands for Redis's cluster bus. It has the newest View: which nodes there are,
// which slots they own, which of them are replicas, and which of them have ended. A View never changes; a change makes
// another one. A Cluster is one node's side: the View that the node's commands see, and the
// slots that the node is sending or receiving. The node takes a newer View between two units,
// so that a script sees one View. No node waits for the lock of another node's engine.
//
// A primary and its replicas are a shard (shard.go). A View says who is the replica of whom. The engine of
// each node makes it so: it follows the primary that the View names, and takes over by changing the View.
//
// The package has no socket and no clock. The engine asks a Cluster at admission, the CLUSTER
// commands read and change it, and both hold the engine's lock. Without cluster mode there is
// no Cluster.
package cluster
