// Package pubsub keeps who listens to what: channels, patterns and shard
// channels on one side, Sinks on the other.
//
// It delivers a message by calling each Sink, in the order of subscription; it
// owns no socket, no goroutine and no queue, and takes no lock (the engine's is
// held). What a message looks like on the wire and how much of it a slow reader
// may leave unread is the Sink's business.
//
// The package is a part of the server. Its API may change with any version.
package pubsub
