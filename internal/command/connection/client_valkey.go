package connection

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var errNotImporting = resp.Error("ERR Server is not in import mode")

// clientSetinfo stores what a client library says about itself.
func clientSetinfo(c *command.Ctx, args resp.Args) resp.Reply {
	field := &c.Session.LibName
	switch {
	case command.IsWord(args[2], "lib-name"):
	case command.IsWord(args[2], "lib-ver"):
		field = &c.Session.LibVersion
	default:
		return resp.Errorf("ERR Unrecognized option '%s'", args[2])
	}
	if !validName(args[3]) {
		return resp.Errorf("ERR %s cannot contain spaces, newlines or special characters.", args[2])
	}
	*field = string(args[3])
	return resp.OK
}

// clientCapa stores the capabilities that the client claims. Unknown ones are ignored.
func clientCapa(c *command.Ctx, args resp.Args) resp.Reply {
	for _, capability := range args[2:] {
		if command.IsWord(capability, "redirect") {
			c.Session.Redirects = true
		}
	}
	return resp.OK
}

// clientNoTouch sets whether the client's commands count as accesses of their keys.
func clientNoTouch(c *command.Ctx, args resp.Args) resp.Reply {
	on := command.IsWord(args[2], "on")
	if !on && !command.IsWord(args[2], "off") {
		return resp.ErrSyntax
	}
	c.Session.NoTouch = on
	c.Space.NoTouch = on // for the rest of a transaction
	return resp.OK
}

// clientImportSource refuses: there is no import mode.
func clientImportSource(_ *command.Ctx, args resp.Args) resp.Reply {
	if command.IsWord(args[2], "off") {
		return resp.OK
	}
	return errNotImporting
}
