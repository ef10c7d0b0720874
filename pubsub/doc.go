// Package pubsub keeps the subscriptions of a server: to channels, to patterns
// and to shard channels. A subscriber is a Sink.
//
// A Broker delivers a message by calling each Sink, in the order of subscription. The package
// owns no socket, no goroutine and no queue. It takes no lock: every call is made under the
// engine lock. A Sink asks the Message for its encoding and limits how much a slow subscriber
// may leave unread. The server's Sink appends to the connection's output queue, as replies and
// confirmations do. So they keep the order in which they happened.
//
// The package is a part of the server. Its API may change with any version.
package pubsub
