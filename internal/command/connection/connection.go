package connection

import (
	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
)

var (
	errNoPassword = resp.Error("ERR AUTH <password> called without any password configured " +
		"for the default user. Are you sure your configuration is correct?")
	errWrongPass    = resp.Error("WRONGPASS invalid username-password pair or user is disabled.")
	errProtoNotInt  = resp.Error("ERR Protocol version is not an integer or out of range")
	errProtoUnknown = resp.Error("NOPROTO unsupported protocol version")
	errHelloNoAuth  = resp.Error("NOAUTH HELLO must be called with the client already " +
		"authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to " +
		"authenticate the client and select the RESP protocol version at the same time")
)

func auth(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 3 {
		return resp.ErrSyntax
	}
	c.Hide(1, 2)
	user, password := acl.DefaultName, args[len(args)-1]
	if len(args) == 3 {
		user = args.String(1)
	} else if c.Users.Default().NoPassword() {
		return errNoPassword
	}
	if !authenticate(c, args[0], user, password) {
		return errWrongPass
	}
	return resp.OK
}

// authenticate logs the session in. A failure is an entry of ACL LOG about the command
// that asks, in the client's spelling.
func authenticate(c *command.Ctx, asks []byte, name string, password []byte) bool {
	user := c.Users.Authenticate(name, password)
	if user == nil {
		c.LogRefusal(acl.BadAuth, string(asks), name)
		return false
	}
	c.Session.User = user
	c.Session.Authenticated.Store(true)
	return true
}

func hello(c *command.Ctx, args resp.Args) resp.Reply {
	proto := int64(c.Session.Proto)
	if len(args) > 1 {
		var ok bool
		if proto, ok = resp.ParseInt(args[1]); !ok {
			return errProtoNotInt
		}
		if proto < 2 || proto > 3 {
			return errProtoUnknown
		}
	}
	if failure, ok := helloOptions(c, args); !ok {
		return failure
	}
	if !c.Session.Authenticated.Load() {
		return errHelloNoAuth
	}
	c.Session.Proto = int(proto)
	c.Proto = int(proto)
	server, version := "redis", config.RedisVersion
	if c.Config.Valkey() {
		server, version = "valkey", config.ValkeyVersion
	}
	role := "master"
	if c.Replicas.Follows() {
		role = "replica"
	}
	return resp.Map(
		resp.BulkString("server"), resp.BulkString(server),
		resp.BulkString("version"), resp.BulkString(version),
		resp.BulkString("proto"), resp.Int(proto),
		resp.BulkString("id"), resp.Int(c.Session.ID),
		resp.BulkString("mode"), resp.BulkString(c.Mode()),
		resp.BulkString("role"), resp.BulkString(role),
		resp.BulkString("modules"), command.Modules(c),
	)
}

// helloOptions applies each option when it reads it, as Redis does. The options before a
// mistake stay in effect.
func helloOptions(c *command.Ctx, args resp.Args) (failure resp.Reply, ok bool) {
	for i := 2; i < len(args); i++ {
		switch more := len(args) - 1 - i; {
		case command.IsWord(args[i], "auth") && more >= 2:
			c.Hide(i+1, i+2)
			if !authenticate(c, args[0], args.String(i+1), args[i+2]) {
				return errWrongPass, false
			}
			i += 2
		case command.IsWord(args[i], "setname") && more >= 1:
			if !validName(args[i+1]) {
				return errClientName, false
			}
			c.Session.Name = args.String(i + 1)
			i++
		default:
			return resp.Errorf("ERR Syntax error in HELLO option '%s'", args[i]), false
		}
	}
	return failure, true
}

func ping(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 2 {
		return resp.ErrArity("ping")
	}
	if c.Proto == 2 && c.Session.Subs.Any() && !c.InScript() {
		pong := resp.BulkString("")
		if len(args) == 2 {
			pong = resp.Bulk(args[1])
		}
		return resp.Array(resp.BulkString("pong"), pong)
	}
	if len(args) == 2 {
		return resp.Bulk(args[1])
	}
	return resp.Status("PONG")
}

func echo(_ *command.Ctx, args resp.Args) resp.Reply { return resp.Bulk(args[1]) }

func quit(c *command.Ctx, _ resp.Args) resp.Reply {
	c.Session.Move(command.Closing)
	return resp.OK
}

func reset(c *command.Ctx, _ resp.Args) resp.Reply {
	command.ResetSession(c.Env, c.Session)
	return resp.Status("RESET")
}

func selectCmd(c *command.Ctx, args resp.Args) resp.Reply {
	if n, ok := resp.ParseInt(args[1]); ok && n != 0 && c.Cluster != nil {
		return errClusterSelect
	}
	db, failure := command.ParseDB(c, args[1])
	if db == nil {
		return failure
	}
	if !c.InScript() {
		c.Session.DB = db.ID()
	}
	c.DB = db
	return resp.OK
}

var errClusterSelect = resp.Error("ERR SELECT is not allowed in cluster mode")
