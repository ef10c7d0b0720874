package luaexec

// The sentences scripts and their callers can see, as Redis 7.0.15 has them;
// those that library functions throw, too, are in lualib.
const (
	errNoGlobal       = "Script attempted to access nonexistent global variable '"
	errGlobalName     = "Second argument to luaProtectedTableError must be a string or number"
	errNoArgument     = "ERR Please specify at least one argument for this redis lib call"
	errArgumentTypes  = "ERR Lua redis lib command arguments must be strings or integers"
	errReplyArguments = "ERR wrong number or type of arguments"
	errSHA1Arguments  = "ERR wrong number of arguments"
	errLogArguments   = "ERR redis.log() requires two arguments or more."
	errLogNumber      = "ERR First argument must be a number (log level)."
	errLogLevel       = "ERR Invalid debug level."
	errSetresp        = "ERR redis.setresp() requires one argument."
	errSetrespNumber  = "ERR RESP version must be 2 or 3."
	errSetRepl        = "ERR redis.set_repl() requires two arguments."
	errSetReplFlags   = "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE."
	errACLCommand     = "ERR Invalid command passed to redis.acl_check_cmd()"
	errStackLimit     = "ERR reached lua stack limit"
	errKilled         = "ERR Script killed by user with SCRIPT KILL..."
	errMemory         = "OOM script ended, it takes more memory than it may"
	errReplySize      = "ERR the script's reply is too large"
	errYield          = "attempt to yield across metamethod/C-call boundary"
	errInHandler      = "error in error handling"
	errTooComplex     = "function or expression too complex near '<eof>'"
	errTooLong        = "control structure too long near '<eof>'"
	errStackOverflow  = "stack overflow"

	// goStackFull is what gopher-lua panics with when a growing call stack is full.
	goStackFull = "lua callstack overflow"

	// Redis 7.0.15 ends its process when a script throws a table without err.
	errNoErrField = "ERR unknown error"
)
