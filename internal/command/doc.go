// Package command is what all commands share: the type of a row of the command table, the table
// that finds rows, the environment of a command, and the help that several groups need. The
// commands are in the folders below, a package for each of Redis's groups: package hash, package
// list … Redis's group "server" is four: server, debug, acl and observe. Package commands puts
// them together. A group imports this package, and no other group; internal/arch lists the
// exceptions.
//
// To add a command: add a row to the table of its group (hash/table.go …), write the function
// that the row names, and record a vector file. The function has the command's own name, with
// the suffix Cmd where Go reserves that name. Dispatch, arity errors, COMMAND INFO, ACL
// categories, key extraction and docs/commands.md all come from the row. What depends on a
// command's name is a flag of its row. A test compares the table with redis-server's COMMAND
// INFO. A new group is a new package and a line in commands.NewTable. For a new value type see
// package store; its accessor goes into value.go.
//
// What several groups share is here, in files of its own: argument parsing in args.go and
// numbers.go, the options of several commands in options.go, typed lookups and results in
// value.go, payloads in migration.go, parts of replies in replies.go. A function that one
// group alone needs is in that group. An error text that several groups use is in package
// resp, or here beside the code that finds the error. Any other error text is a named value
// in the file that replies with it.
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
