// Package syntax reads Lua 5.1 and writes gopher-lua's syntax trees.
//
// It owns the grammar of the C Lua 5.1 in Redis 7.0.15: the tokens, the limits
// ("chunk has too many syntax levels", 200 local variables, 60 upvalues), the error
// messages and their lines. gopher-lua's own parser is not used: it reads a later Lua
// (goto is a keyword), has other error messages, accepts octal and binary numbers, and
// accepts nesting that overflows Go's stack in the compiler, which cannot be recovered
// from.
//
// The parser rewrites code that gopher-lua would run differently from C Lua, or too
// slowly:
//
//   - a%b and a^b of constants become calls, because gopher-lua's compiler would compute
//     them, with other results than C Lua's;
//   - a long chain of ".." becomes a call, because the instruction needs a register for
//     each part, and so does one whose end the compiler would misread (see concat.go);
//   - a multiple assignment uses temporary variables, because gopher-lua's compiler
//     would lose a value in a,b = b,a;
//   - constant conditions, and loop bodies that start with a jump, are rewritten,
//     because the compiler misreads such jumps (see branch.go);
//   - a loop gets a captured variable of its own if a break leaves a block inside that
//     has captured variables, because the compiler closes them only then (see loop.go);
//   - a bound of a numeric for that is not a constant is marked for a conversion to a
//     number, because gopher-lua does not accept strings;
//   - an assignment to a global becomes one to a read-only table, because gopher-lua
//     overwrites an existing global without its metatable;
//   - "redis.call" becomes a global of that name, which needs one look-up;
//   - a long argument list goes through a table, because gopher-lua has fewer
//     registers than C Lua.
//
// The rewritten code calls functions whose names are not valid names in Lua. luaexec
// puts these functions into the environment. The package runs no code and has no state.
package syntax
