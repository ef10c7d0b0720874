package command

import (
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/resp"
)

// LineFlags returns the flags of c's command line: those of its row, but of a
// script with a shebang line what that declares. The arity has been checked.
func LineFlags(c *Ctx, args resp.Args) Flags {
	declared := declaredFlags(c, args)
	if !declared.HasShebang {
		return c.Cmd.Flags
	}
	f := c.Cmd.Flags &^ (Write | MayReplicate | DenyOOM)
	if !declared.NoWrites {
		f |= Write
	}
	if !declared.NoWrites && !declared.AllowOOM {
		f |= DenyOOM
	}
	return f
}

// declaredFlags returns what the script of a command line declares, the zero
// value if nothing does.
func declaredFlags(c *Ctx, args resp.Args) luaexec.Flags {
	switch c.Cmd.Name {
	case "eval", "eval_ro":
		return luaexec.DeclaredFlags(args[1])
	case "evalsha", "evalsha_ro":
		if s, ok := c.Scripts.Lookup(args[1]); ok {
			return s.Flags()
		}
	}
	return luaexec.Flags{}
}
