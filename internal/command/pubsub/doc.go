// Package pubsub holds the commands of pub/sub. Who listens to what is in package pubsub of the
// project's root.
package pubsub
