package resp

import (
	"bytes"
	"fmt"
	"strings"
)

// The error replies that more than one file uses, byte for byte as Redis 7.0.15
// sends them. Every other error reply is a named value in the file that uses it. A
// vector in compat_test/testdata covers each error reply.
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

// ErrArity is the reply to a wrong number of arguments. name is the command's full
// name in lower case, with a bar before a subcommand ("config|get").
func ErrArity(name string) Reply {
	return Error("ERR wrong number of arguments for '" + name + "' command")
}

// ErrInvalidExpire is the reply to a time to live that is zero, negative or too
// large. name is the command's name in lower case.
func ErrInvalidExpire(name string) Reply {
	return Error("ERR invalid expire time in '" + name + "' command")
}

// Errorf returns an error reply. It formats the text as fmt.Sprintf does. As in Redis, whose
// texts are C strings, a string or byte slice among args ends at its first NUL, and line
// breaks at the end of the text are left out.
func Errorf(format string, args ...any) Reply {
	for i, arg := range args {
		switch text := arg.(type) {
		case string:
			args[i], _, _ = strings.Cut(text, "\x00")
		case []byte:
			args[i], _, _ = bytes.Cut(text, []byte{0})
		}
	}
	return Error(strings.TrimRight(fmt.Sprintf(format, args...), "\r\n"))
}

// ErrSubcommandSyntax is the reply to a subcommand with arguments that it does not
// take. sub and parent are spelled as the client spelled them.
func ErrSubcommandSyntax(sub, parent string) Reply {
	return Errorf("ERR unknown subcommand or wrong number of arguments for '%.128s'. Try %s HELP.",
		sub, strings.ToUpper(parent))
}
