// Package syntax reads Lua 5.1 and writes gopher-lua's syntax trees.
//
// It owns the grammar as the C Lua 5.1 inside Redis 7.0.15 has it: the tokens,
// the limits ("chunk has too many syntax levels", 200 local variables, 60
// upvalues), the error messages and their lines. gopher-lua's own parser reads
// a later Lua (goto is a keyword there), words its errors otherwise, takes
// octal and binary numbers, and lets nesting through that overflows Go's stack
// in the compiler, which no recover can catch. That is why there is this one.
//
// While it reads, it rewrites what gopher-lua's machine would do differently
// from C Lua, and what costs too much there:
//
//   - a..b becomes a call, because the machine prints numbers in Go's way;
//   - a%b becomes a call, because C Lua's remainder is a-floor(a/b)*b;
//   - a^b becomes a call, because Go's powers are not C's in the last digit;
//   - several assignments at once go through variables of their own, because the
//     machine's compiler would let a,b = b,a lose a value;
//   - constant conditions and bodies that start with a jump are avoided, because
//     its compiler mistakes such jumps (see branch.go);
//   - a loop that a break leaves from a block inside with captured variables gets
//     one of its own, because only then they are closed (see loop.go);
//   - the bounds of a numeric for are converted by a call unless they are
//     numbers already, because the machine refuses strings;
//   - an assignment to a global becomes one to a read-only table, because the
//     machine overwrites a global that exists without asking a metatable;
//   - "redis.call" becomes one global of that name, which is one look-up;
//   - long argument lists go through a table, because the machine has fewer
//     registers than C Lua.
//
// The names of the functions it calls cannot be written in Lua; luaexec puts
// them into the environment. The package runs no code and keeps no state.
package syntax
