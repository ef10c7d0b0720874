package luaexec

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
)

// Values of redis.LOG_* and redis.REPL_*.
const (
	logDebug   = 0
	logWarning = 3

	replNone    = 0
	replAOF     = 1
	replReplica = 2
	replAll     = replAOF | replReplica
)

// redisLibrary returns the global table redis.
func (m *machine) redisLibrary() *lua.LTable {
	t := table(m.L, map[string]lua.LGFunction{
		"call":          m.call,
		"pcall":         m.pcallCommand,
		"error_reply":   errorReply,
		"status_reply":  statusReply,
		"sha1hex":       sha1hex,
		"log":           m.log,
		"setresp":       m.setresp,
		"acl_check_cmd": m.aclCheckCmd,
		"set_repl":      m.setRepl,
	})
	if m.chunk == scriptName {
		m.L.SetFuncs(t, map[string]lua.LGFunction{
			"replicate_commands": func(L *lua.LState) int { L.Push(lua.LTrue); return 1 },
			"breakpoint":         func(L *lua.LState) int { L.Push(lua.LFalse); return 1 },
			"debug":              func(*lua.LState) int { return 0 },
		})
	}
	for name, n := range map[string]int{
		"REPL_NONE": replNone, "REPL_AOF": replAOF, "REPL_SLAVE": replReplica,
		"REPL_REPLICA": replReplica, "REPL_ALL": replAll,
	} {
		t.RawSetString(name, lua.LNumber(n))
	}
	m.setConstants(t)
	m.redisCall = t.RawGetString("call").(*lua.LFunction)
	return t
}

// setConstants sets the constants of t that a library sees while it is loaded, too.
func (m *machine) setConstants(t *lua.LTable) {
	for name, n := range map[string]int{
		"LOG_DEBUG": logDebug, "LOG_VERBOSE": 1, "LOG_NOTICE": 2, "LOG_WARNING": logWarning,
		"REDIS_VERSION_NUM": versionNumber(m.opts.Version),
	} {
		t.RawSetString(name, lua.LNumber(n))
	}
	t.RawSetString("REDIS_VERSION", lua.LString(m.opts.Version))
	if m.opts.Valkey != "" {
		t.RawSetString("SERVER_NAME", lua.LString("valkey"))
		t.RawSetString("VALKEY_VERSION", lua.LString(m.opts.Valkey))
		t.RawSetString("VALKEY_VERSION_NUM", lua.LNumber(versionNumber(m.opts.Valkey)))
	}
}

// versionNumber is 0x00MMmmpp of "major.minor.patch".
func versionNumber(version string) int {
	n := 0
	for _, part := range strings.SplitN(version, ".", 3) {
		v, _ := strconv.Atoi(part)
		n = n<<8 | v&0xff
	}
	return n
}

// singleText returns the only argument of the running function. ok is false
// unless there is exactly one and it is a string; a number is not accepted.
func singleText(L *lua.LState) (text string, ok bool) {
	s, ok := L.Get(1).(lua.LString)
	return string(s), ok && L.GetTop() == 1
}

// errorReply is redis.error_reply. It drops a leading minus sign, and puts the
// class ERR before a text without a space.
func errorReply(L *lua.LState) int {
	text, ok := singleText(L)
	if !ok {
		L.Push(errorTable(L, errReplyArguments, false))
		return 1
	}
	text = strings.TrimPrefix(lualib.CText(text), "-")
	if !strings.Contains(text, " ") {
		text = "ERR " + text
	}
	L.Push(errorTable(L, text, false))
	return 1
}

// statusReply is redis.status_reply.
func statusReply(L *lua.LState) int {
	text, ok := singleText(L)
	if !ok {
		L.Push(errorTable(L, errReplyArguments, false))
		return 1
	}
	t := L.CreateTable(0, 1)
	t.RawSetString("ok", lua.LString(text))
	L.Push(t)
	return 1
}

// sha1hex is redis.sha1hex. A value that is neither a string nor a number counts
// as "".
func sha1hex(L *lua.LState) int {
	if L.GetTop() != 1 {
		return throwError(L, errSHA1Arguments, false)
	}
	text, _ := lualib.AsString(L.Get(1))
	sum := sha1.Sum(bytesOf(text))
	L.Push(lua.LString(hex.EncodeToString(sum[:])))
	return 1
}

// log is redis.log(level, text, …). It joins the texts with spaces.
func (m *machine) log(L *lua.LState) int {
	n := L.GetTop()
	if n < 2 {
		return throwError(L, errLogArguments, false)
	}
	level, ok := lualib.AsNumber(L.Get(1))
	if !ok {
		return throwError(L, errLogNumber, false)
	}
	if level := truncate(level); level < logDebug || level > logWarning {
		return throwError(L, errLogLevel, false)
	}
	parts := make([]string, 0, n-1)
	for i := 2; i <= n; i++ {
		if text, ok := lualib.AsString(L.Get(i)); ok {
			parts = append(parts, text)
		}
	}
	m.ticker.host.Log(int(level), strings.Join(parts, " "))
	return 0
}

// setresp is redis.setresp. It sets the RESP version of the replies to commands.
func (m *machine) setresp(L *lua.LState) int {
	if L.GetTop() != 1 {
		return throwError(L, errSetresp, false)
	}
	f, _ := lualib.AsNumber(L.Get(1))
	v := truncate(f)
	if v != 2 && v != 3 {
		return throwError(L, errSetrespNumber, false)
	}
	m.proto = int(v)
	m.ticker.host.SetProtocol(m.proto)
	return 0
}

// aclCheckCmd is redis.acl_check_cmd.
func (m *machine) aclCheckCmd(L *lua.LState) int {
	args, failure := m.commandArgs(L)
	if failure != "" {
		return throwError(L, failure, false)
	}
	ok, known := m.ticker.host.Allowed(args)
	if !known {
		return throwError(L, errACLCommand, false)
	}
	L.Push(lua.LBool(ok))
	return 1
}

// setRepl is redis.set_repl. There is no append-only file, so replicas alone matter.
func (m *machine) setRepl(L *lua.LState) int {
	if L.GetTop() != 1 {
		return throwError(L, errSetRepl, false)
	}
	f, _ := lualib.AsNumber(L.Get(1))
	to := truncate(f)
	if to&^replAll != 0 {
		return throwError(L, errSetReplFlags, false)
	}
	m.ticker.host.SetTold(to&replReplica != 0)
	return 0
}
