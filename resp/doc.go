// Package resp is the wire: reply values, their RESP2 and RESP3 encoding, and
// the limited reader that turns a connection's bytes into commands.
//
// It owns the two translations between bytes and values and nothing else: it
// opens no socket, runs no command and keeps no state beyond one Reader's
// buffer. It is the only importer of redcon, whose parser sees complete and
// checked frames only (see Reader) and whose Append functions write replies.
//
// The server reads with Reader; every command handler returns a Reply; the
// engine encodes it with Append while it holds its lock, because a Reply may
// point into the store.
//
// The package is a part of the server. Its API may change with any version.
package resp
