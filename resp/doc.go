// Package resp translates between the bytes of a connection and values: reply
// values, their RESP2 and RESP3 encoding, and a reader with limits that turns
// bytes into commands.
//
// The package opens no socket, runs no command and keeps no state except the
// buffer of a Reader. It is the only importer of redcon. The parser of redcon is
// given complete and checked frames only (see Reader). The Append functions of
// redcon write replies.
//
// The server reads with a Reader. Every command handler returns a Reply, which serves
// RESP2, RESP3, EXEC and Lua alike. A scalar Reply allocates nothing. The engine encodes
// the Reply with Append while it holds the engine lock, because a Reply may point into the
// store.
//
// The package is a part of the server. Its API may change with any version.
package resp
