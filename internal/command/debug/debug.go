package debug

import (
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/resp"
)

var (
	errPackedThreshold = resp.Error("ERR argument must be a memory value bigger than 1 and " +
		"smaller than 4gb")
	errNoClientEviction = resp.Error("ERR maxmemory-clients is disabled.")
	errDebugInScript    = resp.Error("ERR This Redis command is not allowed from script")
	errRestart          = resp.Error("ERR failed to restart the server. Check server logs.")
)

// debugSub is a subcommand of DEBUG. Redis does not have them in its command table.
type debugSub struct {
	name, args string
	n          int // number of arguments after the name; negative: any number
	help       string
	run        func(c *command.Ctx, args resp.Args) resp.Reply
}

func debugSubs() []debugSub {
	return []debugSub{
		{"aof-flush-sleep", "<microsec>", 1, "Changes nothing: there is no append-only file.", debugNothing},
		{"assert", "", -1, "Is refused, as are OOM, PANIC and SEGFAULT: it would end the process.", debugCrash},
		{"change-repl-id", "", 0, "Draw a new replication id.", debugChangeReplID},
		{"client-eviction", "", 0, "Describe the clients by their memory, with maxmemory-clients.", debugClientEviction},
		{"config-rewrite-force-all", "", 0, "Write all directives into the configuration file.", debugRewriteAll},
		{"crash-and-recover", "[<milliseconds>]", -1, "Fails: nothing restarts the process.", debugRestart},
		{"digest", "", 0, "Answer with a digest of all data.", debugDigest},
		{"digest-value", "<key> [<key> ...]", -1, "Answer with a digest of the value of each key.", debugDigestValue},
		{"error", "<text>", 1, "Answer with an error of that text.", debugError},
		{"htstats", "<dbid>", 1, "Describe the hash tables of a database.", debugHTStats},
		{"htstats-key", "<key>", 1, "Describe the hash table of a value.", debugHTStatsKey},
		{"leak", "<text>", 1, "Keep the text in memory until the server ends.", debugLeak},
		{"loadaof", "", 0, "Saves the data, empties the databases and reads the file again.", debugLoadaof},
		{"log", "<text>", 1, "Write the text to the server's log.", debugLog},
		{"object", "<key>", 1, "Describe the value of a key.", debugObject},
		{"oom", "", -1, "", debugCrash},
		{"panic", "", -1, "", debugCrash},
		{"pause-cron", "<0|1>", 1, "Stop expiry by timer and save points, and continue them.", debugPauseCron},
		{"populate", "<count> [<prefix>] [<size>]", -1, "Create strings named prefix:number, by default key:number.", debugPopulate},
		{"protocol", "<type>", 1, "Answer with a value of a type of RESP.", debugProtocol},
		{"quicklist-packed-threshold", "<size>", 1, "Checks the size and changes nothing: elements of 1 GB get plain nodes.", debugPackedThreshold},
		{"reload", "[MERGE] [NOFLUSH] [NOSAVE]", -1, "Save the data, empty the databases and read the file.", debugReload},
		{"replicate", "<text> [<text> ...]", -1, "Tell replicas a command.", debugReplicate},
		{"restart", "[<milliseconds>]", -1, "Fails: nothing restarts the process.", debugRestart},
		{"sdslen", "<key>", 1, "Describe the memory of a key and its string.", debugSDSLen},
		{"segfault", "", -1, "", debugCrash},
		{"set-active-expire", "<0|1>", 1, "Turn expiry by timer off and on: when off, keys expire at access.", debugSetActiveExpire},
		{"set-disable-deny-scripts", "<0|1>", 1, "Let scripts run DEBUG PROTOCOL, or refuse it to them.", debugInScripts},
		{"set-skip-checksum-validation", "<0|1>", 1, "Accept wrong checksums of RDB files and payloads of RESTORE.", debugSkipChecksums},
		{"sleep", "<seconds>", 1, "Stand still for a time; decimals are allowed.", debugSleep},
		{"stringmatch-test", "", 0, "Match random patterns.", debugStringmatchTest},
	}
}

// debugCmd runs DEBUG. The engine has refused it unless enable-debug-command allows it.
func debugCmd(c *command.Ctx, args resp.Args) resp.Reply {
	if c.InScript() && !command.IsWord(args[1], "protocol") {
		return errDebugInScript
	}
	subs := debugSubs()
	if len(args) == 2 && command.IsWord(args[1], "help") {
		var topics []command.HelpTopic
		for _, sub := range subs {
			if sub.help != "" {
				usage := strings.TrimSpace(strings.ToUpper(sub.name) + " " + sub.args)
				topics = append(topics, command.HelpTopic{Usage: usage, About: sub.help})
			}
		}
		return command.HelpReply("DEBUG", topics)
	}
	for _, sub := range subs {
		if command.IsWord(args[1], sub.name) && (sub.n < 0 || len(args) == 2+sub.n) {
			return sub.run(c, args)
		}
	}
	return debugSyntax(args)
}

// debugSyntax is the error for an unknown subcommand or a wrong number of arguments.
func debugSyntax(args resp.Args) resp.Reply {
	return resp.ErrSubcommandSyntax(args.String(1), "debug")
}

// debugNothing answers OK. The subcommand is about a part that the server does not have.
func debugNothing(*command.Ctx, resp.Args) resp.Reply { return resp.OK }

func debugSleep(c *command.Ctx, args resp.Args) resp.Reply {
	seconds, _ := strconv.ParseFloat(args.String(2), 64)
	if seconds > 0 {
		c.Server.Sleep(int64(seconds * 1e6))
	}
	return resp.OK
}

func debugSetActiveExpire(c *command.Ctx, args resp.Args) resp.Reply {
	c.Deadline.SetActive(command.Atoi(args[2]) != 0)
	return resp.OK
}

// debugError replies with an error that INFO does not count, as in Redis.
func debugError(_ *command.Ctx, args resp.Args) resp.Reply {
	return resp.Raw(resp.Append(nil, resp.Error(args.String(2)), 2))
}

func debugLog(c *command.Ctx, args resp.Args) resp.Reply {
	c.Server.Log("warning", "DEBUG LOG: "+args.String(2))
	return resp.OK
}

// debugPauseCron stops what the server does by itself: keys expire at access, and save points
// wait.
func debugPauseCron(c *command.Ctx, args resp.Args) resp.Reply {
	c.Deadline.PauseCron(command.Atoi(args[2]) != 0)
	return resp.OK
}

// debugInScripts lets scripts run DEBUG. In Redis they then run every command, and some of them end
// the process.
func debugInScripts(c *command.Ctx, args resp.Args) resp.Reply {
	c.DebugInScripts = command.Atoi(args[2]) != 0
	return resp.OK
}

func debugSkipChecksums(c *command.Ctx, args resp.Args) resp.Reply {
	c.SkipChecksums = command.Atoi(args[2]) != 0
	return resp.OK
}

// debugLeak keeps the text, and nothing frees it before the server ends.
func debugLeak(c *command.Ctx, args resp.Args) resp.Reply {
	c.Leaked = append(c.Leaked, args.String(2))
	return resp.OK
}

func debugChangeReplID(c *command.Ctx, _ resp.Args) resp.Reply {
	c.Replicas.NewID()
	return resp.OK
}

// debugReplicate tells replicas a command that this server does not run.
func debugReplicate(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) < 3 {
		return debugSyntax(args)
	}
	c.Tell(args[2:]...)
	return resp.OK
}

// maxPackedThreshold is the largest argument of DEBUG QUICKLIST-PACKED-THRESHOLD, in bytes.
const maxPackedThreshold = 1<<32 - 1<<20

func debugPackedThreshold(_ *command.Ctx, args resp.Args) resp.Reply {
	if n, ok := config.ParseMemory(string(command.CText(args[2]))); !ok || n > maxPackedThreshold {
		return errPackedThreshold
	}
	return resp.OK
}

func debugRewriteAll(c *command.Ctx, _ resp.Args) resp.Reply {
	if err := c.Config.RewriteAll(); err != nil {
		return resp.Error("ERR CONFIG-REWRITE-FORCE-ALL failed: " + err.Error())
	}
	return resp.OK
}

// debugClientEviction fails: maxmemory-clients cannot be set.
func debugClientEviction(*command.Ctx, resp.Args) resp.Reply { return errNoClientEviction }

// debugCrash refuses what ends a redis-server: the server may be a part of a larger process.
func debugCrash(_ *command.Ctx, args resp.Args) resp.Reply {
	return resp.Error("ERR DEBUG " + strings.ToUpper(args.String(1)) +
		" is refused: it would end the process, which may be more than the server")
}

// debugRestart fails as in a redis-server that cannot run its program again.
func debugRestart(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 2 {
		if _, ok := resp.ParseInt(args[2]); !ok {
			return resp.ErrNotInt
		}
	}
	c.Server.Log("warning", "DEBUG "+strings.ToUpper(args.String(1))+
		" is refused: it would end the process, which may be more than the server")
	return errRestart
}

// matchRounds is how many random patterns DEBUG STRINGMATCH-TEST matches. It takes some
// milliseconds.
const matchRounds = 20_000

// debugStringmatchTest matches random patterns against random texts.
func debugStringmatchTest(c *command.Ctx, _ resp.Args) resp.Reply {
	var pattern, text [32]byte
	fill := func(b []byte) []byte {
		b = b[:c.Rand.IntN(len(b))]
		for i := range b {
			b[i] = byte(c.Rand.IntN(128))
		}
		return b
	}
	for range matchRounds {
		glob.Match(string(fill(pattern[:])), string(fill(text[:])), false)
	}
	return resp.Status("Apparently Redis did not crash: test passed")
}
