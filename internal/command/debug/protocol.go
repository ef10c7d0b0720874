package debug

import (
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errRESP2Push    = resp.Error("ERR RESP2 is not supported by this command")
	errProtocolType = resp.Error("ERR Wrong protocol type name. Please use one of the following: " +
		"string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false")
)

func debugProtocol(c *command.Ctx, args resp.Args) resp.Reply {
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
		if c.Proto == 2 || c.InScript() {
			return resp.BulkString("Some real reply following the attribute")
		}
		return resp.Raw([]byte("|1\r\n$14\r\nkey-popularity\r\n*2\r\n$7\r\nkey:123\r\n:90\r\n" +
			"$39\r\nSome real reply following the attribute\r\n"))
	case "push":
		if c.Proto == 2 {
			return errRESP2Push
		}
		if c.InScript() { // Lua has no push
			return resp.Nil
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
