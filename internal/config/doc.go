// Package config holds the configuration of one server: the table of directives,
// redis-server's command line and configuration file, and CONFIG GET, SET and
// REWRITE.
//
// # Adding a directive
//
// Add a row to the table in table.go. The row says everything about the
// directive: names, parser, default, the field of Config that follows it (set),
// the part of the server that acts when CONFIG SET changes it (change), and what
// lockredis refuses. A row without set is a directive that has no effect: idle says
// why. After that, run make docs.
//
// A directive about security or topology that lockredis does not have is refused
// with a reason. It is never accepted without effect. A directive that has nothing to act on
// here (append-only file, background threads) is checked, kept and shown by CONFIG GET, and
// changes nothing.
//
// INFO shows Redis's version as redis_version, because clients read it, and lockredis's own
// as lockredis_release.
//
// # Who uses it
//
// The program calls Parse. The server and the engine read the fields of Config
// and register hooks with OnChange. The handlers of CONFIG read and change
// directives under the engine lock. Connections read some fields without that
// lock; these fields are atomic.
//
// The package opens no socket, writes no log and starts no goroutine.
package config
