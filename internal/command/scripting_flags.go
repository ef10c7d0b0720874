package command

import (
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/resp"
)

// LineFlags returns the flags of c's command line. They are the row's flags. For a script with
// a shebang line, its declaration decides about Write and DenyOOM. The caller has checked
// the arity.
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

// declaredFlags returns the flags in the shebang line of the script that the command runs,
// the zero value if there is no script or no shebang line.
func declaredFlags(c *Ctx, args resp.Args) luaexec.Flags {
	switch {
	case c.Cmd.Has(DeclaresInSource):
		return luaexec.DeclaredFlags(args[1])
	case c.Cmd.Has(DeclaresBySHA):
		if s, ok := c.Scripts.Lookup(args[1]); ok {
			return s.Flags()
		}
	}
	return luaexec.Flags{}
}
