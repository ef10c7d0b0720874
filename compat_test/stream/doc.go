// Package stream compares what lockredis tells of changes with what redis-server 7.0.15 sends
// to a replica, command for command.
package stream
