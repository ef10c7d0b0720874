// Package lualib holds the Lua libraries that scripts see on Redis 7.0.15:
// cjson, cmsgpack, struct and bit, and replacements for those functions of
// gopher-lua's base, string, table and math libraries that answer differently
// from the C Lua 5.1 inside Redis.
//
// It owns conversions between Lua values and bytes: numbers to text and back,
// JSON, MessagePack, packed structs, patterns, string.format. It never talks to
// the store, never reads time, randomness or the environment, and keeps nothing
// at package level: what a library remembers (cjson's settings, the position in
// the random sequence) belongs to the state it was opened for.
//
// luaexec calls it once for every state it builds: Patch first, then the Open
// functions, then its own sandbox on top.
//
// Where it differs from Redis on purpose or by necessity: the order in which
// cjson.encode and cmsgpack.pack write an object's keys; the last bit of some of
// math's trigonometric functions (Go's are not glibc's), and of one power,
// exponential or logarithm in a thousand (glibc's are not rounded correctly); a
// bad argument of a method call is blamed with C's wording for plain calls;
// string.dump refuses; collectgarbage("count") is the whole process's heap;
// results above the limit are refused where redis-server would run out of memory
// and abort; far negative positions of table.insert are refused.
//
// Every function here bounds what it takes before it takes it. Running out of
// memory and overflowing Go's stack cannot be recovered from, so a result above
// Limits.MaxString is refused before it is built, and nesting is refused at
// fixed depths.
package lualib
