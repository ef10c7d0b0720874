// Package rdb is Redis's serialization: the payloads of DUMP and RESTORE, and the files
// that SAVE writes. It writes the forms of redis-server 7.0 (RDB version 10), and reads
// the forms of all versions up to 7.0. It also reads files of Redis 7.2 and Valkey.
//
// An Encoder writes a value, Dump a whole payload. Decode reads a value, Restore a
// payload. A FileWriter and ReadFile do the same with a file of many keys. WriteFile
// replaces a file in one step.
//
// A payload may come from an attacker. So each length is compared with the bytes that
// are left before memory is allocated, and packed forms (listpack, ziplist, zipmap, intset) are
// checked to the last byte, as redis-server checks them with sanitize-dump-payload yes. A value that Decode returns is complete and consistent.
//
// The package knows databases only as numbers, and no clock: the caller passes times.
// The callers are DUMP and RESTORE in internal/command/generic, and the engine, which saves
// and loads the databases.
//
// To add a type of values: a type byte in types.go, a case in Encoder.AppendBody and
// typeOf, a case in decoder.value.
package rdb
