// Package luaexec runs Lua scripts as Redis 7.0.15 does: the script cache of a
// server, one warm Lua state, the redis.* functions, the sandbox, and the error
// frames around what goes wrong.
//
// It owns everything between a script's source text and the reply value that
// EVAL answers with. It never touches a key, a client, the clock or a socket:
// commands go out through the Caller that every run brings along. It is the
// only importer of gopher-lua, with its subpackages lualib (the libraries Redis
// ships) and syntax (the grammar).
//
// The command handlers of EVAL, EVALSHA and SCRIPT call it, under the engine's
// lock: a Runtime has no lock of its own and is used by one goroutine at a
// time, not always the same one.
//
// # What makes it fast
//
// A fresh Lua state costs more than forty runs of a lock script, so there is
// one, and it stays. That it can stay is the sandbox's work: every table a
// script can reach and the next script could see is read-only, KEYS and ARGV
// are filled anew, and there are no other globals. Names of globals and of
// library functions are bound when a script is compiled, arguments of commands
// are passed without a copy, and only scripts that can loop pay for the check
// that makes SCRIPT KILL possible.
//
// The package is a part of the server. Its API may change with any version.
package luaexec
