package command

import (
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/resp"
)

// LineFlags returns the flags of c's command line. They are the row's flags. For a function,
// and for a script with a shebang line, its own flags decide about Write, DenyOOM and Stale.
// The caller has checked the arity.
func LineFlags(c *Ctx, args resp.Args) Flags {
	declared := declaredFlags(c, args)
	if !declared.HasShebang {
		return c.Cmd.Flags
	}
	f := c.Cmd.Flags &^ (Write | MayReplicate | DenyOOM | Stale)
	if !declared.NoWrites {
		f |= Write
	}
	if !declared.NoWrites && !declared.AllowOOM {
		f |= DenyOOM
	}
	if declared.AllowStale {
		f |= Stale
	}
	return f
}

// declaredFlags returns the flags of the script or function that the command runs. It is the
// zero value if there is none, or if the script has no shebang line.
func declaredFlags(c *Ctx, args resp.Args) luaexec.Flags {
	switch {
	case c.Cmd.Has(DeclaresInSource):
		return luaexec.DeclaredFlags(args[1])
	case c.Cmd.Has(DeclaresBySHA):
		if s, ok := c.Scripts.Lookup(args[1]); ok {
			return s.Flags()
		}
	case c.Cmd.Has(DeclaresByName):
		if f, ok := c.Scripts.Function(args[1]); ok {
			return f.Flags()
		}
	}
	return luaexec.Flags{}
}
