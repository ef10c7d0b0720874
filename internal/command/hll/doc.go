// Package hll holds the commands of HyperLogLogs, which are strings. Their bytes are a matter of
// internal/hll.
package hll
