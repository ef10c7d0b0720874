// Package stream compares what lockredis tells of changes with what redis-server 7.0.15 sends
// to a replica, command for command. With emulate valkey-9.1 it compares Valkey's own commands with
// what Valkey 9.1.2 sends.
package stream
