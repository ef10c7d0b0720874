// Package rediscli is a small redis-cli: one command from its arguments, or one
// command a line from standard input. Its options, its output and its exit status
// are those of redis-cli 7.0.15.
//
// cmd/lockredis calls Run when the program has the name redis-cli, as it has in the
// container image. Health checks and scripts use it there. What only an
// administrator of Redis needs is missing: --scan, --bigkeys, --stat, --latency,
// --pipe, --rdb, --eval, --cluster, --csv, --json and editing of the input line.
package rediscli
