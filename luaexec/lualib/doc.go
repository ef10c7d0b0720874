// Package lualib has the Lua libraries that scripts see on Redis 7.0.15: cjson,
// cmsgpack, struct and bit. It also replaces the functions of gopher-lua's base,
// string, table and math libraries that behave differently from the C Lua 5.1 in
// Redis.
//
// It owns the conversions between Lua values and bytes: numbers to text and back,
// JSON, MessagePack, packed structs, patterns, string.format. It never accesses the
// store, the clock, a source of randomness or the environment. It has no state at
// package level: the settings of cjson and the position in the random sequence
// belong to the Lua state that the library was opened for.
//
// luaexec calls it for every Lua state that it builds: Patch first, then the Open
// functions. Then luaexec puts its sandbox around them.
//
// # Differences from Redis
//
//   - The order in which cjson.encode and cmsgpack.pack write the keys of an object.
//   - The last bit of some trigonometric functions, because Go's are not glibc's, and
//     of one power, exponential or logarithm in a thousand, because glibc does not
//     round them correctly.
//   - The error of a bad argument of a method call has C's wording for plain calls.
//   - string.dump throws.
//   - Results above the limit throw, where redis-server would run out of memory and
//     abort.
//   - table.insert throws for positions far below 1.
//
// # Limits
//
// Go cannot recover from running out of memory or overflowing its stack. So every
// function checks Limits.MaxString before it builds its result, and nesting has
// fixed limits.
package lualib
