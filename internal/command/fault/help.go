package fault

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// topics are what FAULT HELP explains.
var topics = []command.HelpTopic{
	{Usage: "FAULT.ADD <kind> [COMMAND <name>] [KEY <pattern>] [CLIENT <id>|<name>] [SCRIPT <sha1>|CONTAINS <text>] " +
		"[CHANNEL <pattern>] [NTH <n>] [TIMES <n>|ALWAYS] [FOR <milliseconds>] [ERROR <text>]",
		About: "Set a fault and return its id. By default it hits the next item and no other. The kinds are:"},
	{Usage: "  lose-request", About: "Close the connection in place of running the command."},
	{Usage: "  hold-request", About: "Run the command later."},
	{Usage: "  fail-request", About: "Answer with ERROR in place of running the command."},
	{Usage: "  end-lease", About: "Expire the command's first key, the lock of a script, before the command runs."},
	{Usage: "  stop", About: "Run no command and send nothing, from the request on."},
	{Usage: "  lose-reply", About: "Run the command and close the connection in place of the reply."},
	{Usage: "  mute", About: "Run the command and send nothing more on the connection."},
	{Usage: "  delay-reply", About: "Send the reply, and what follows on the connection, later."},
	{Usage: "  duplicate-reply", About: "Send the reply twice."},
	{Usage: "  drop-message", About: "Lose a message to a subscriber."},
	{Usage: "  delay-message", About: "Send a message, and what follows on the connection, later."},
	{Usage: "FAULT.CLEAR", About: "End all faults, let go what they hold back and return how many there were."},
	{Usage: "FAULT.LIST", About: "Return the faults, how often they have hit and how much they hold back."},
	{Usage: "FAULT.RELEASE <id> [<count>]", About: "Let go what a fault holds back, the oldest first, and return how much."},
	{Usage: "FAULT.REMOVE <id>", About: "End a fault and let go what it holds back."},
}

// faultHelp runs FAULT HELP.
func faultHelp(*command.Ctx, resp.Args) resp.Reply { return command.HelpReply("FAULT", topics) }
