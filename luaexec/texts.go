package luaexec

// Error texts that scripts and their callers see, as in Redis 7.0.15. Texts that
// library functions throw as well are in lualib.
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
	errSetReplFlags   = "ERR Invalid replication flags. " +
		"Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE."
	errACLCommand    = "ERR Invalid command passed to redis.acl_check_cmd()"
	errStackLimit    = "ERR reached lua stack limit"
	errLoadTimeout   = "ERR FUNCTION LOAD timeout"
	errKilled        = "ERR Script killed by user with SCRIPT KILL..."
	errMemory        = "OOM script ended, it takes more memory than it may"
	errReplySize     = "ERR the script's reply is too large"
	errYield         = "attempt to yield across metamethod/C-call boundary"
	errInHandler     = "error in error handling"
	errTooComplex    = "function or expression too complex near '<eof>'"
	errTooLong       = "control structure too long near '<eof>'"
	errStackOverflow = "stack overflow"

	errNotLoading = "ERR redis.register_function can only be called on FUNCTION LOAD command"
	errRegArity   = "ERR wrong number of arguments to redis.register_function"
	errRegTable   = "ERR calling redis.register_function with a single argument is only " +
		"applicable to Lua table (representing named arguments)."
	errRegKey      = "ERR named argument key given to redis.register_function is not a string"
	errRegArgument = "ERR unknown argument given to redis.register_function"
	errRegName     = "ERR function_name argument given to redis.register_function must be a string"
	errRegAbout    = "ERR description argument given to redis.register_function must be a string"
	errRegCallback = "ERR callback argument given to redis.register_function must be a function"
	errRegFlags    = "ERR flags argument to redis.register_function must be a table " +
		"representing function flags"
	errRegFlag       = "ERR unknown flag given"
	errRegNoName     = "ERR redis.register_function must get a function name argument"
	errRegNoCallback = "ERR redis.register_function must get a callback argument"
	errRegFirst      = "ERR first argument to redis.register_function must be a string"
	errRegSecond     = "ERR second argument to redis.register_function must be a function"
	errNameLetters   = "ERR Library names can only contain letters, numbers, or underscores(_) " +
		"and must be at least one character long"
	errRegTwice = "ERR Function already exists in the library"

	// goStackFull is gopher-lua's panic value when a growing call stack is full.
	goStackFull = "lua callstack overflow"

	// errNoErrField is the error of a script that throws a table without the field
	// err. Differs from Redis: 7.0.15 crashes.
	errNoErrField = "ERR unknown error"
)
