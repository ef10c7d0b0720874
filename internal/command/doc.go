// Package command holds the command table and the handlers behind it, a file
// or a few per Redis group: string.go, hash.go, list.go, scripting.go …
//
// To add a command, add a row to its group's table (hash_table.go …), write
// the function that the row names — the command's own name, with Cmd behind it
// where Go has taken that — and record a vector file. Dispatch, arity errors,
// COMMAND INFO, ACL categories, key extraction and docs/commands.md all come
// from the row. A new group is a table of its own in NewTable; for a new value
// type, see package store, and add its accessor to value.go.
//
// What several groups need stands in files of no group: arguments in args.go
// and cnumber.go, typed lookups and results in value.go, blocking.go, scan.go,
// random.go. An error text that several files use is in resp, any other a named
// value in the file that answers with it.
//
// A handler is a function from arguments to a reply. It runs under the
// engine's lock, on a clock that stands still, and reaches data through
// Ctx.DB. What it needs from above (parking a client, running another command,
// the list of clients, publishing events) it asks of small interfaces in
// Env, which the engine and the server implement. It never touches a socket
// and never starts a goroutine.
package command
