package acl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
)

var (
	errUserName    = resp.Error("ERR Usernames can't contain spaces or null characters")
	errDefaultUser = resp.Error("ERR The 'default' user cannot be removed")
	errGenpass     = resp.Error("ERR ACL GENPASS argument must be the number of bits for the " +
		"output password, a positive number up to 4096")
)

// maxPasswordBits is the greatest argument of ACL GENPASS.
const maxPasswordBits = 4096

func aclSetuser(c *command.Ctx, args resp.Args) resp.Reply {
	for i := range args[2:] {
		c.Hide(i + 2)
	}
	name := args.String(2)
	if !acl.ValidName(name) {
		return errUserName
	}
	user := c.Users.Get(name)
	lost, err := c.Users.Set(name, stringsOf(args[3:]))
	var rule *acl.RuleError
	switch {
	case errors.As(err, &rule) && rule.Err == acl.ErrUnmatched:
		return resp.Errorf("ERR Unmatched parenthesis in acl selector starting at '%s'.", rule.Rule)
	case errors.As(err, &rule):
		return resp.Errorf("ERR Error in ACL SETUSER modifier '%s': %v", rule.Rule, rule.Err)
	}
	if lost != nil {
		cutSubscribers(c, user, lost)
	}
	return resp.OK
}

// stringsOf returns copies of arguments.
func stringsOf(args resp.Args) []string {
	words := make([]string, len(args))
	for i := range args {
		words[i] = args.String(i)
	}
	return words
}

// cutSubscribers closes the connections of a user that listen to channels which the user
// may not use any more.
func cutSubscribers(c *command.Ctx, user *acl.User, allowed *acl.Channels) {
	c.Clients.Each(func(s *command.Session) bool {
		if s.User == user && s.Subs.Any() && !listensWithin(s, allowed) {
			c.Cut(s)
		}
		return true
	})
}

// listensWithin reports whether all subscriptions of s are allowed.
func listensWithin(s *command.Session, allowed *acl.Channels) bool {
	for _, kind := range []pubsub.Kind{pubsub.Pattern, pubsub.Channel, pubsub.Shard} {
		for _, name := range s.Subs.Names(kind) {
			if !allowed.Allow(name, kind == pubsub.Pattern) {
				return false
			}
		}
	}
	return true
}

func aclDeluser(c *command.Ctx, args resp.Args) resp.Reply {
	names := stringsOf(args[2:])
	if slices.Contains(names, acl.DefaultName) {
		return errDefaultUser
	}
	deleted := int64(0)
	for _, name := range names {
		if user := c.Users.Delete(name); user != nil {
			deleted++
			cutUser(c, user)
		}
	}
	return resp.Int(deleted)
}

// cutUser closes the connections of a user that is gone. Until then they have the default
// user and must log in.
func cutUser(c *command.Ctx, user *acl.User) {
	c.Clients.Each(func(s *command.Session) bool {
		if s.User == user {
			s.User = c.Users.Default()
			s.Authenticated.Store(false)
			c.Cut(s)
		}
		return true
	})
}

func aclGetuser(c *command.Ctx, args resp.Args) resp.Reply {
	user := c.Users.Get(args.String(2))
	if user == nil {
		return resp.Nil
	}
	flags := user.Flags()
	set := make([]resp.Reply, len(flags))
	for i, flag := range flags {
		set[i] = resp.BulkString(flag)
	}
	rights := user.Rights()
	selectors := make([]resp.Reply, 0, len(rights))
	for _, r := range rights[1:] {
		selectors = append(selectors, resp.Map(rightsFields(r)...))
	}
	fields := []resp.Reply{
		resp.BulkString("flags"), resp.Set(set...),
		resp.BulkString("passwords"), resp.BulkArray(user.Passwords()),
	}
	fields = append(fields, rightsFields(rights[0])...)
	fields = append(fields, resp.BulkString("selectors"), resp.Array(selectors...))
	return resp.Map(fields...)
}

func rightsFields(r acl.Rights) []resp.Reply {
	return []resp.Reply{
		resp.BulkString("commands"), resp.BulkString(r.Commands),
		resp.BulkString("keys"), resp.BulkString(r.Keys),
		resp.BulkString("channels"), resp.BulkString(r.Channels),
	}
}

func aclList(c *command.Ctx, _ resp.Args) resp.Reply { return resp.BulkArray(c.Users.Lines()) }

func aclUsers(c *command.Ctx, _ resp.Args) resp.Reply { return resp.BulkArray(c.Users.Names()) }

func aclWhoami(c *command.Ctx, _ resp.Args) resp.Reply { return resp.BulkString(c.Session.UserName()) }

func aclCat(c *command.Ctx, args resp.Args) resp.Reply {
	switch len(args) {
	case 2:
		return resp.BulkArray(acl.Categories)
	case 3:
		names, ok := c.Users.Catalog().InCategory(args.String(2))
		if !ok {
			return resp.Errorf("ERR Unknown category '%s'", args[2])
		}
		return resp.BulkArray(names)
	}
	return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
}

// aclGenpass returns random hex digits, four bits each.
func aclGenpass(c *command.Ctx, args resp.Args) resp.Reply {
	bits := int64(256)
	switch len(args) {
	case 2:
	case 3:
		var ok bool
		if bits, ok = resp.ParseInt(args[2]); !ok {
			return resp.ErrNotInt
		}
		if bits <= 0 || bits > maxPasswordBits {
			return errGenpass
		}
	default:
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	}
	digits := make([]byte, (bits+3)/4)
	for i := range digits {
		digits[i] = "0123456789abcdef"[c.Rand.IntN(16)]
	}
	return resp.Bulk(digits)
}

func aclDryrun(c *command.Ctx, args resp.Args) resp.Reply {
	user, line := c.Users.Get(args.String(2)), args[3:]
	if user == nil {
		return resp.Errorf("ERR User '%s' not found", args[2])
	}
	cmd := c.Table.Find(line)
	if cmd == nil {
		return resp.Errorf("ERR Command '%s' not found", line[0])
	}
	if !cmd.ArityOK(len(line)) {
		return resp.ErrArity(cmd.Name)
	}
	switch reason, at := user.Check(cmd.ACLLine(line)); reason {
	case acl.NoCommand:
		return denied("run the '%s' command", cmd.Name)
	case acl.NoKey:
		return denied("access the '%s' key", string(command.CText(line[at])))
	case acl.NoChannel:
		return denied("access the '%s' channel", string(command.CText(line[at])))
	}
	return resp.OK
}

// denied is the reply of ACL DRYRUN to a command that the user may not run. format says what it would
// do to name.
func denied(format, name string) resp.Reply {
	return resp.BulkString(fmt.Sprintf("This user has no permissions to "+format, name))
}
