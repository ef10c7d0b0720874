// Package config holds a server's configuration: the table of directives with
// their checks and defaults, redis-server's command line and configuration file,
// CONFIG GET, SET and REWRITE.
//
// To add a directive, add a row to the table. One that the server acts on has
// the flag works and a field of Config that assign sets; what must happen at
// once when it changes is a hook (OnChange). One that concerns security or
// topology and that lockredis does not have is refused with a reason, never
// accepted without effect.
//
// It opens no socket, writes no log and starts nothing. The program parses, the
// server and the engine read the fields, and the handlers of CONFIG change them
// under the engine's lock; fields that connections read without it are atomic.
package config
