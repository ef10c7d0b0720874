package command

import (
	"strings"

	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/resp"
)

// shownRefusals is how many entries ACL LOG shows without a number.
const shownRefusals = 10

// LogRefusal adds an entry to ACL LOG. object is the refused command, key or channel, or
// the command of a failed login. user is the user's name.
func (c *Ctx) LogRefusal(reason acl.Reason, object, user string) {
	context := acl.TopLevel
	switch {
	case c.InScript():
		context = acl.InLua
	case c.From == FromExec || c.Session.Multi != nil:
		context = acl.InMulti
	}
	c.ACLLog.Add(acl.Entry{
		Reason: reason, Context: context, Object: strings.Clone(object), User: user,
		Client: describe(c, c.Session), At: c.Now(),
	}, c.Config.ACLLogMax)
}

func aclLog(c *Ctx, args resp.Args) resp.Reply {
	n := int64(shownRefusals)
	switch {
	case len(args) > 3:
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	case len(args) == 3 && isWord(args[2], "reset"):
		c.ACLLog.Reset()
		return resp.OK
	case len(args) == 3:
		var ok bool
		if n, ok = resp.ParseInt(args[2]); !ok {
			return resp.ErrNotInt
		}
	}
	var entries []resp.Reply
	for _, e := range c.ACLLog.Entries(n) {
		entries = append(entries, resp.Map(
			resp.BulkString("count"), resp.Int(int64(e.Count)),
			resp.BulkString("reason"), resp.BulkString(e.Reason.String()),
			resp.BulkString("context"), resp.BulkString(string(e.Context)),
			resp.BulkString("object"), resp.BulkString(e.Object),
			resp.BulkString("username"), resp.BulkString(e.User),
			resp.BulkString("age-seconds"), resp.Double(float64(c.Now()-e.At)/1000),
			resp.BulkString("client-info"), resp.BulkString(e.Client)))
	}
	return resp.Array(entries...)
}
