package engine

import (
	"fmt"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// The texts of refused commands, byte for byte as Redis 7.0.15 sends them.
var (
	errNoAuth     = resp.Error("NOAUTH Authentication required.")
	errInMulti    = resp.Error("ERR Command not allowed inside a transaction")
	errClockRange = resp.Error("ERR value is out of range")

	errBusy = resp.Error("BUSY Redis is busy running a script. " +
		"You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")
	errBusyFunction = resp.Error("BUSY Redis is busy running a script. " +
		"You can only call FUNCTION KILL or SHUTDOWN NOSAVE.")

	errMonitor = resp.Error("ERR Replica can't interact with the keyspace")

	errNoReplicas  = resp.Error("NOREPLICAS Not enough good replicas to write.")
	errReadOnly    = resp.Error("READONLY You can't write against a read only replica.")
	errPrimaryDown = resp.Error("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.")
	errMisconf     = resp.Error("MISCONF Redis is configured to save RDB snapshots, but it's currently " +
		"unable to persist to disk. Commands that may modify the data set are disabled, because " +
		"this instance is configured to report errors during writes if RDB snapshotting fails " +
		"(stop-writes-on-bgsave-error option). Please check the Redis logs for details about the " +
		"RDB error.")

	errScriptUnknown  = resp.Error("ERR Unknown Redis command called from script")
	errScriptArity    = resp.Error("ERR Wrong number of args calling Redis command from script")
	errScriptNoScript = resp.Error("ERR This Redis command is not allowed from script")
	errScriptCluster  = resp.Error("ERR Can not run script on cluster, 'no-cluster' flag is set.")
	errScriptWrites   = resp.Error("ERR Can not execute a script with write flag using *_ro command.")
	errScriptOOM      = resp.Error("OOM allow-oom flag is not set on the script, " +
		"can not run it when used memory > 'maxmemory'")
	errScriptStale  = resp.Error("ERR Can not execute the command on a stale replica")
	errScriptNoLink = resp.Error("MASTERDOWN Link with MASTER is down, " +
		"replica-serve-stale-data is set to 'no' and 'allow-stale' flag is not set on the script.")
	errRoleChanged = resp.Error("UNBLOCKED force unblock from blocking operation, " +
		"instance state changed (master -> replica?)")
	errScriptReadOnly = resp.Error("ERR Write commands are not allowed from read-only scripts.")

	errNotBusy    = resp.Error("NOTBUSY No scripts in execution right now.")
	errUnkillable = resp.Error("UNKILLABLE Sorry the script already executed write commands " +
		"against the dataset. You can either wait the script termination or kill the server " +
		"in a hard way using the SHUTDOWN NOSAVE command.")
)

// errSubscribed refuses a command that a RESP2 subscriber may not run.
func errSubscribed(name string) resp.Reply {
	return resp.Errorf("ERR Can't execute '%s': only (P|S)SUBSCRIBE / "+
		"(P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context", name)
}

// errNoConnection refuses a command that needs a connection. Redis has no such text.
// Only the test kit gets it.
func errNoConnection(name string) resp.Reply {
	return resp.Errorf("ERR '%s' needs a connection", name)
}

// errProtected refuses a command that a directive forbids to the client. Redis has the text
// for enable-debug-command and enable-module-command.
func errProtected(cmd *command.Command) resp.Reply {
	directive, name := "enable-debug-command", cmd.Name
	switch {
	case cmd.Has(command.Own):
		directive = "enable-lock-commands"
	case ofModules(cmd):
		directive, name = "enable-module-command", "module"
	}
	return resp.Errorf("ERR %s command not allowed. If the %s option is set "+
		"to \"local\", you can run it from a local connection, otherwise you need to set this "+
		"option in the configuration file, and then restart the server.",
		strings.ToUpper(name), directive)
}

// ofModules reports whether a protected command is a subcommand of MODULE.
func ofModules(cmd *command.Command) bool { return strings.HasPrefix(cmd.Name, "module|") }

// errAborted is the reply to a refused EXEC.
func errAborted(refusal resp.Reply) resp.Reply {
	reason := strings.TrimPrefix(refusal.Text(), "ERR ")
	return resp.Error("EXECABORT Transaction discarded because of: " + reason)
}

// errUnknown is the reply to an unknown command. name is in the client's spelling. quoted
// is the beginning of the arguments, each in quotes and followed by a space.
func errUnknown(name, quoted string) resp.Reply {
	return resp.Error("ERR unknown command '" + name + "', with args beginning with: " + quoted)
}

// errUnknownSubcommand is the reply to an unknown subcommand. sub is in the client's
// spelling, parent is the container's name in upper case.
func errUnknownSubcommand(sub, parent string) resp.Reply {
	return resp.Error(fmt.Sprintf("ERR unknown subcommand '%.128s'. Try %s HELP.", sub, parent))
}
