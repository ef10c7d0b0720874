// Package command holds the command table and the command handlers. Each Redis group has
// one or more files: string.go, hash.go, list.go, scripting.go …
//
// To add a command: add a row to the table of its group (hash_table.go …), write the function
// that the row names, and record a vector file. The function has the command's own name, with
// the suffix Cmd where Go reserves that name. Dispatch, arity errors, COMMAND INFO, ACL
// categories, key extraction and docs/commands.md all come from the row. What depends on a
// command's name is a flag of its row. A test compares the table with redis-server's COMMAND
// INFO. A new group is a new table in NewTable. For a new value type see package store; its
// accessor goes into value.go.
//
// Code that several groups share is in files of its own: argument parsing in args.go and
// cnumber.go, typed lookups and results in value.go, and blocking.go, scan.go, random.go.
// An error text that several files use is in package resp. Any other error text is a named
// value in the file that replies with it.
//
// A handler says each change of a key once, with Ctx.Change (change.go).
//
// A handler is a function from arguments to a reply. It runs under the engine lock as (part
// of) a unit: a command, a script or an EXEC. The clock stands still during a unit. Handlers
// reach data through Ctx.DB. What they need from the engine and the server (park a client,
// run another command, list the clients, publish an event) is in the small interfaces of
// Env, which engine and server implement. A handler never uses a socket and never starts a
// goroutine.
package command
