package resp

import (
	"fmt"
	"strings"
)

// The error texts that more than one file answers with, byte for byte as Redis
// 7.0.15 sends them. Any other text stands, as a named value, in the file that
// answers with it. Each is used by a vector in compat_test/testdata.
var (
	ErrWrongType     = Error("WRONGTYPE Operation against a key holding the wrong kind of value")
	ErrSyntax        = Error("ERR syntax error")
	ErrNotInt        = Error("ERR value is not an integer or out of range")
	ErrNotFloat      = Error("ERR value is not a valid float")
	ErrNoKey         = Error("ERR no such key")
	ErrValuePositive = Error("ERR value is out of range, must be positive")
	ErrOverflow      = Error("ERR increment or decrement would overflow")
	ErrFloatNaNOrInf = Error("ERR increment would produce NaN or Infinity")
	ErrNumkeysZero   = Error("ERR numkeys should be greater than 0")
	ErrTooManyKeys   = Error("ERR Number of keys can't be greater than number of args")
	ErrLimitNegative = Error("ERR LIMIT can't be negative")
	ErrBadCursor     = Error("ERR invalid cursor")
	ErrOOM           = Error("OOM command not allowed when used memory > 'maxmemory'.")
	ErrInternal      = Error("ERR internal error")
	ErrDBIndex       = Error("ERR DB index is out of range")
)

// ErrArity is the answer to a wrong number of arguments; name is the command's
// full lower-case name, with a bar before a subcommand ("config|get").
func ErrArity(name string) Reply {
	return Error("ERR wrong number of arguments for '" + name + "' command")
}

// ErrInvalidExpire is the answer to a time to live that is zero, negative or
// overflows, for the commands that take one as an option.
func ErrInvalidExpire(name string) Reply {
	return Error("ERR invalid expire time in '" + name + "' command")
}

// Errorf returns an error reply whose text is formatted.
func Errorf(format string, args ...any) Reply { return Error(fmt.Sprintf(format, args...)) }

// ErrSubcommandSyntax is the answer to a subcommand with arguments that it
// does not take; sub and parent are in the client's spelling.
func ErrSubcommandSyntax(sub, parent string) Reply {
	return Error(fmt.Sprintf("ERR unknown subcommand or wrong number of arguments for '%.128s'. Try %s HELP.", sub, strings.ToUpper(parent)))
}
