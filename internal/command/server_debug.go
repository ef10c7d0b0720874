package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// debugSub is a subcommand of DEBUG. Redis does not have them in its command table.
type debugSub struct {
	name, args string
	n          int // number of arguments after the name; negative: any number
	help       string
	run        func(c *Ctx, args resp.Args) resp.Reply
}

func debugSubs() []debugSub {
	return []debugSub{
		{"digest", "", 0, "Answer with a digest of all data.", debugDigest},
		{"digest-value", "<key> [<key> ...]", -1, "Answer with a digest of the value of each key.", debugDigestValue},
		{"error", "<text>", 1, "Answer with an error of that text.", debugError},
		{"loadaof", "", 0, "Is refused: there is no append-only file.", debugLoadaof},
		{"log", "<text>", 1, "Write the text to the server's log.", debugLog},
		{"object", "<key>", 1, "Describe the value of a key.", debugObject},
		{"protocol", "<type>", 1, "Answer with a value of a type of RESP.", debugProtocol},
		{"reload", "[MERGE] [NOFLUSH] [NOSAVE]", -1, "Save the data, empty the databases and read the file.", debugReload},
		{"set-active-expire", "<0|1>", 1, "Turn expiry by timer off and on: when off, keys expire at access.", debugSetActiveExpire},
		{"sleep", "<seconds>", 1, "Stand still for a time; decimals are allowed.", debugSleep},
	}
}

// debugCmd runs DEBUG. The engine has refused it unless enable-debug-command allows it.
func debugCmd(c *Ctx, args resp.Args) resp.Reply {
	subs := debugSubs()
	if len(args) == 2 && isWord(args[1], "help") {
		topics := make([]helpTopic, len(subs))
		for i, sub := range subs {
			topics[i] = helpTopic{strings.TrimSpace(strings.ToUpper(sub.name) + " " + sub.args), sub.help}
		}
		return helpReply("DEBUG", topics)
	}
	for _, sub := range subs {
		if isWord(args[1], sub.name) && (sub.n < 0 || len(args) == 2+sub.n) {
			return sub.run(c, args)
		}
	}
	return resp.ErrSubcommandSyntax(args.String(1), "debug")
}

func debugSleep(c *Ctx, args resp.Args) resp.Reply {
	seconds, _ := strconv.ParseFloat(args.String(2), 64)
	if seconds > 0 {
		c.Server.Sleep(int64(seconds * 1e6))
	}
	return resp.OK
}

func debugSetActiveExpire(c *Ctx, args resp.Args) resp.Reply {
	n, _ := strconv.Atoi(args.String(2))
	c.Deadline.SetActive(n != 0)
	return resp.OK
}

// debugError replies with an error that INFO does not count, as in Redis.
func debugError(_ *Ctx, args resp.Args) resp.Reply {
	return resp.Raw(resp.Append(nil, resp.Error(args.String(2)), 2))
}

func debugLog(c *Ctx, args resp.Args) resp.Reply {
	c.Server.Log("warning", "DEBUG LOG: "+args.String(2))
	return resp.OK
}

func debugObject(c *Ctx, args resp.Args) resp.Reply {
	e := c.DB.Peek(args[2])
	if e == nil {
		return resp.ErrNoKey
	}
	v := e.Value()
	idle := max(0, c.Now()/1000-int64(e.Access()))
	return resp.Status(fmt.Sprintf(
		"Value at:%p refcount:1 encoding:%s serializedlength:%d lru:%d lru_seconds_idle:%d",
		v, v.Encoding(), v.MemoryUsage(0), e.Access()&(1<<24-1), idle))
}

var (
	errRESP2Push    = resp.Error("ERR RESP2 is not supported by this command")
	errProtocolType = resp.Error("ERR Wrong protocol type name. Please use one of the following: " +
		"string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false")
)

func debugProtocol(c *Ctx, args resp.Args) resp.Reply {
	three := []resp.Reply{resp.Int(0), resp.Int(1), resp.Int(2)}
	switch strings.ToLower(args.String(2)) {
	case "string":
		return resp.BulkString("Hello World")
	case "integer":
		return resp.Int(12345)
	case "double":
		return resp.Double(3.141)
	case "null":
		return resp.Nil
	case "array":
		return resp.Array(three...)
	case "set":
		return resp.Set(three...)
	case "map":
		return resp.Map(
			resp.Int(0), resp.Bool(false), resp.Int(1), resp.Bool(true), resp.Int(2), resp.Bool(false),
		)
	case "attrib":
		if c.Proto == 2 {
			return resp.BulkString("Some real reply following the attribute")
		}
		return resp.Raw([]byte("|1\r\n$14\r\nkey-popularity\r\n*2\r\n$7\r\nkey:123\r\n:90\r\n" +
			"$39\r\nSome real reply following the attribute\r\n"))
	case "push":
		if c.Proto == 2 {
			return errRESP2Push
		}
		return resp.Raw([]byte(">2\r\n$16\r\nserver-cpu-usage\r\n:42\r\n" +
			"$40\r\nSome real reply following the push reply\r\n"))
	case "verbatim":
		return resp.Verbatim("This is a verbatim\nstring")
	case "true":
		return resp.Bool(true)
	case "false":
		return resp.Bool(false)
	case "bignum":
		return resp.BigNumber("1234567999999999999999999999999999999")
	}
	return errProtocolType
}
