package connection

import (
	"math"
	"strings"

	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	errClientName = resp.Error("ERR Client names cannot contain spaces, newlines or " +
		"special characters.")
	errClientID         = resp.Error("ERR Invalid client ID")
	errNoClient         = resp.Error("ERR No such client")
	errClientIDPositive = resp.Error("ERR client-id should be greater than 0")
	errPauseMode        = resp.Error("ERR CLIENT PAUSE mode must be WRITE or ALL")
	errUnblockReason    = resp.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
	errUnblocked        = resp.Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")
)

// validName reports whether name can be a client's name: printable ASCII without spaces,
// which CLIENT LIST can show.
func validName(name []byte) bool {
	for _, b := range name {
		if b < '!' || b > '~' {
			return false
		}
	}
	return true
}

func clientSetname(c *command.Ctx, args resp.Args) resp.Reply {
	if !validName(args[2]) {
		return errClientName
	}
	c.Session.Name = string(args[2])
	return resp.OK
}

func clientGetname(c *command.Ctx, _ resp.Args) resp.Reply {
	if c.Session.Name == "" {
		return resp.Nil
	}
	return resp.BulkString(c.Session.Name)
}

func clientID(c *command.Ctx, _ resp.Args) resp.Reply { return resp.Int(c.Session.ID) }

func clientInfo(c *command.Ctx, args resp.Args) resp.Reply {
	c.Argv = args.Bytes()
	return resp.Verbatim(c.ClientLine(c.Session) + "\n")
}

func clientList(c *command.Ctx, args resp.Args) resp.Reply {
	listed, failure := listedClients(c, args)
	if failure.IsError() {
		return failure
	}
	var b strings.Builder
	c.Argv = args.Bytes()
	for _, s := range listed {
		b.WriteString(c.ClientLine(s) + "\n")
	}
	return resp.Verbatim(b.String())
}

// listedClients parses the option of CLIENT LIST, TYPE or ID, and returns the clients: in the
// order of their ids, or in the order of the arguments of ID, which may name a client twice.
func listedClients(c *command.Ctx, args resp.Args) (listed []*command.Session, failure resp.Reply) {
	kind := ""
	switch {
	case len(args) == 2:
	case len(args) == 4 && command.IsWord(args[2], "type"):
		var known bool
		if kind, known = typeByName(args[3]); !known {
			return nil, errClientType(args[3])
		}
	case len(args) > 3 && command.IsWord(args[2], "id"):
		for _, a := range args[3:] {
			id, isInt := resp.ParseInt(a)
			if !isInt {
				return nil, errClientID
			}
			if s := c.Clients.ByID(id); s != nil {
				listed = append(listed, s)
			}
		}
		return listed, resp.NoReply
	default:
		return nil, resp.ErrSyntax
	}
	c.Clients.Each(func(s *command.Session) bool {
		if len(args) == 2 || clientType(s) == kind {
			listed = append(listed, s)
		}
		return true
	})
	return listed, resp.NoReply
}

func errClientType(name []byte) resp.Reply {
	return resp.Errorf("ERR Unknown client type '%s'", command.CText(name))
}

// typeByName parses a client type of Redis. "replica" is another name of "slave".
func typeByName(name []byte) (kind string, known bool) {
	switch kind = strings.ToLower(string(command.CText(name))); kind {
	case "normal", "pubsub", "master", "slave":
		return kind, true
	case "replica":
		return "slave", true
	}
	return "", false
}

// clientType returns the type of s for CLIENT LIST and CLIENT KILL: "master", "slave", "pubsub" or
// "normal".
func clientType(s *command.Session) string {
	switch {
	case s.Primary:
		return "master"
	case s.Follows():
		return "slave"
	case s.Subs.Any():
		return "pubsub"
	}
	return "normal"
}

// killFilter holds the conditions of CLIENT KILL. A field with its zero value is no condition.
type killFilter struct {
	id          int64
	addr, laddr []byte // "" is the address of no client
	kind        string
	user        *acl.User
	skipMe      bool
}

func (f *killFilter) matches(c *command.Ctx, s *command.Session) bool {
	return (f.id == 0 || s.ID == f.id) &&
		(f.addr == nil || isAddress(f.addr, s.Addr)) &&
		(f.laddr == nil || isAddress(f.laddr, s.LAddr)) &&
		(f.kind == "" || clientType(s) == f.kind) &&
		(f.user == nil || s.User == f.user) &&
		!(f.skipMe && s == c.Session)
}

func isAddress(given []byte, addr string) bool {
	return addr != "" && string(command.CText(given)) == addr
}

func clientKill(c *command.Ctx, args resp.Args) resp.Reply {
	f := killFilter{skipMe: true}
	if len(args) == 3 {
		f = killFilter{addr: args[2]}
	} else if failure, ok := parseKill(c, &f, args); !ok {
		return failure
	}
	var killed int64
	c.Clients.Each(func(s *command.Session) bool {
		if f.matches(c, s) {
			killed++
			c.Cut(s)
		}
		return true
	})
	switch {
	case len(args) > 3:
		return resp.Int(killed)
	case killed == 0:
		return errNoClient
	}
	return resp.OK
}

func parseKill(c *command.Ctx, f *killFilter, args resp.Args) (failure resp.Reply, ok bool) {
	for i := 2; i < len(args); i += 2 {
		if i+1 == len(args) {
			return resp.ErrSyntax, false
		}
		value := args[i+1]
		switch strings.ToLower(string(args[i])) {
		case "id":
			id, isInt := resp.ParseInt(value)
			if !isInt || id < 1 {
				return errClientIDPositive, false
			}
			f.id = id
		case "type":
			kind, known := typeByName(value)
			if !known {
				return errClientType(value), false
			}
			f.kind = kind
		case "addr":
			f.addr = value
		case "laddr":
			f.laddr = value
		case "user":
			if f.user = c.Users.Get(string(value)); f.user == nil {
				return resp.Errorf("ERR No such user '%s'", value), false
			}
		case "skipme":
			if f.skipMe = command.IsWord(value, "yes"); !f.skipMe && !command.IsWord(value, "no") {
				return resp.ErrSyntax, false
			}
		default:
			return resp.ErrSyntax, false
		}
	}
	return resp.Reply{}, true
}

func clientReply(c *command.Ctx, args resp.Args) resp.Reply {
	switch {
	case command.IsWord(args[2], "on"):
		c.Session.ReplyMode &^= command.ReplyOff | command.ReplySkip
		return resp.OK
	case command.IsWord(args[2], "off"):
		c.Session.ReplyMode |= command.ReplyOff
	case command.IsWord(args[2], "skip"):
		if c.Session.ReplyMode&command.ReplyOff == 0 {
			c.Session.ReplyMode |= command.ReplySkipNext
		}
	default:
		return resp.ErrSyntax
	}
	return resp.NoReply
}

func clientNoEvict(c *command.Ctx, args resp.Args) resp.Reply {
	on := command.IsWord(args[2], "on")
	if !on && !command.IsWord(args[2], "off") {
		return resp.ErrSyntax
	}
	c.Session.NoEvict = on
	return resp.OK
}

func clientPause(c *command.Ctx, args resp.Args) resp.Reply {
	writesOnly := false
	if len(args) == 4 {
		if writesOnly = command.IsWord(args[3], "write"); !writesOnly && !command.IsWord(args[3], "all") {
			return errPauseMode
		}
	} else if len(args) > 4 {
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	}
	wait, failure := command.ParseTimeoutMillis(args[2])
	if failure.IsError() {
		return failure
	}
	if wait > math.MaxInt64-c.Now() {
		wait = 0 // in Redis the sum overflows, so such a pause ends at once
	}
	c.Pausing.Pause(c.Now()+wait, writesOnly)
	return resp.OK
}

func clientUnpause(c *command.Ctx, _ resp.Args) resp.Reply {
	c.Pausing.Unpause()
	return resp.OK
}

func clientUnblock(c *command.Ctx, args resp.Args) resp.Reply {
	withError := false
	if len(args) == 4 {
		if withError = command.IsWord(args[3], "error"); !withError && !command.IsWord(args[3], "timeout") {
			return errUnblockReason
		}
	} else if len(args) > 4 {
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	}
	id, ok := resp.ParseInt(args[2])
	if !ok {
		return resp.ErrNotInt
	}
	s := c.Clients.ByID(id)
	if s == nil || s.Parked == nil || s.Parked.OnTimeout.Kind() == resp.None {
		return resp.Int(0)
	}
	answer := s.Parked.OnTimeout
	if withError {
		answer = errUnblocked
	}
	c.Parking.Unblock(c, s, answer)
	return resp.Int(1)
}
