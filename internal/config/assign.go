package config

import (
	"os"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/keyevent"
)

// assign sets the field that follows a directive. value has been checked.
func (c *Config) assign(name, value string) {
	switch name {
	case "proto-max-bulk-len":
		c.ProtoMaxBulkLen.Store(number(value))
	case "client-query-buffer-limit":
		c.QueryBufferLimit.Store(number(value))
	case "timeout":
		c.Timeout.Store(number(value))
	case "busy-reply-threshold":
		c.BusyReply.Store(number(value))
	case "tcp-keepalive":
		c.TCPKeepAlive.Store(number(value))
	case "notify-keyspace-events":
		c.NotifyEvents, _ = keyevent.Parse(value)
	case "requirepass":
		c.RequirePass = value
		c.HasPassword.Store(value != "")
	case "maxclients":
		c.MaxClients = int(number(value))
	case "maxmemory":
		c.MaxMemory = number(value)
	case "databases":
		c.Databases = int(number(value))
	case "client-output-buffer-limit":
		c.OutputLimits = limitsOf(value)
	case "protected-mode":
		c.ProtectedMode = value == "yes"
	case "enable-debug-command":
		c.DebugCommand = Access(value)
	case "enable-protected-configs":
		c.ProtectedConfigs = Access(value)
	default:
		c.assignEncoding(name, value)
		c.assignStart(name, value)
		c.assignTLS(name, value)
	}
}

func (c *Config) assignEncoding(name, value string) {
	switch name {
	case "hash-max-listpack-entries":
		c.HashEntries = int(number(value))
	case "hash-max-listpack-value":
		c.HashValue = int(number(value))
	case "zset-max-listpack-entries":
		c.ZSetEntries = int(number(value))
	case "zset-max-listpack-value":
		c.ZSetValue = int(number(value))
	case "set-max-intset-entries":
		c.SetIntEntries = int(number(value))
	case "list-max-listpack-size":
		c.ListSize = int(number(value))
	}
}

func (c *Config) assignStart(name, value string) {
	switch name {
	case "bind":
		c.Bind = strings.Fields(value)
	case "port":
		c.PortAuto = value == portAuto
		c.Port = int(number(value))
	case "port-file":
		c.PortFile = value
	case "unixsocket":
		c.UnixSocket = value
	case "unixsocketperm":
		perm, _ := strconv.ParseUint(value, 8, 32)
		c.UnixSocketPerm = os.FileMode(perm)
	case "loglevel":
		c.LogLevel, _ = LogLevel(value)
	case "logfile":
		c.LogFile = value
	case "pidfile":
		c.PIDFile = value
	case "dir":
		c.Dir = value
	case "exit-with-parent":
		c.ExitWithParent = value == "yes"
	}
}

// number reads a checked number; what is beyond int64 counts as its maximum,
// and a word (port's "auto") as 0.
func number(value string) int64 {
	n, _ := strconv.ParseInt(value, 10, 64)
	return n
}
