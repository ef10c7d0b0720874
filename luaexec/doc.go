// Package luaexec runs Lua scripts and functions as Redis 7.0.15 does. It owns the
// script cache of a server, its libraries of functions, one warm Lua state for each of
// the two, the redis.* functions, the sandbox, and the text that Redis adds to the
// errors of scripts.
//
// Its input is a script's source text, its output is the reply of EVAL. It never
// accesses keys, clients, the clock or sockets: commands go through the Host
// that is passed to each run. It is the only importer of gopher-lua, with its
// subpackages lualib (the libraries that Redis ships) and syntax (the grammar).
//
// The handlers of EVAL, EVALSHA, SCRIPT, FCALL and FUNCTION call it, under the engine's lock. A
// Runtime has no lock of its own. One goroutine at a time uses it, not always the
// same one.
//
// # What makes it fast
//
// A fresh Lua state costs 46 µs, a run of a lock script about 1, so all scripts
// run in the same state. The sandbox makes that safe: every table that one script
// can reach and the next can see is read-only, KEYS and ARGV are filled for every
// run, and there are no other globals.
//
// This package has the loop that runs gopher-lua's instructions (loop.go). It adds safe
// points, and has its own for %, ^, # and "..", where C Lua's results differ.
//
// The compiler binds the names of globals and library functions, and numbers them: a global is an
// element of an array (globals.go). redis.call runs without a call frame (bridge.go). Arguments of
// commands are passed without a copy. Only scripts that can loop pay for the check
// that makes SCRIPT KILL possible. A reply that the script discards is not converted: a
// status is a table in Lua, which costs more than the command.
//
// # Libraries
//
// FUNCTION LOAD runs the code of a library once, in an environment that has little more than
// redis.register_function (libenv.go). Its functions are closures that keep the library's local
// variables. So the Lua state of libraries is never dropped while there are any. A kill, a
// panic or a heavy run only replaces its stack. The state of scripts is dropped then, and by
// SCRIPT FLUSH. Functions run as scripts do, but their keys and arguments are parameters, and
// copies, because a library may keep them (librun.go).
//
// The first FUNCTION LOAD builds the state of libraries. The two states share code and the
// sequence of random numbers, and nothing else, so EVALSHA does not pay for functions. All
// libraries see one environment, which is read-only, as in Redis.
//
// A function that has no loop, no inner function and no variable of its library can keep
// nothing. It gets the reused tables of EVAL and runs without safe points. Then FCALL of the
// lock script allocates nothing, like EVALSHA.
//
// # Safe points
//
// A safe point is a place where a running script can be ended: the caller may kill
// it, and the heap is checked. A script that can loop passes one in every 500 rounds
// of loops and calls. Code with very long functions counts its instructions, because it may take much memory. Library
// functions that run long or allocate much pass safe points of their own.
//
// The package is a part of the server. Its API may change with any version.
package luaexec
