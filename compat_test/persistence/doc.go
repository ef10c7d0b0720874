// Package persistence exchanges serialized data with redis-server 7.0.15: payloads of
// DUMP and RESTORE, and RDB files. Without redis-server on the PATH the tests skip; with
// CI=true they fail.
package persistence
