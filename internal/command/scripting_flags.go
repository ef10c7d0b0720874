package command

import (
	"bytes"
	"strings"

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
		return shebangFlags(args[1])
	case "evalsha", "evalsha_ro":
		if s, ok := c.Scripts.Lookup(args[1]); ok {
			return s.Flags()
		}
	}
	return luaexec.Flags{}
}

// shebangFlags reads a script's first line without compiling the rest: a script
// that does not compile has flags, too. A line that luaexec will refuse declares
// nothing.
func shebangFlags(body []byte) luaexec.Flags {
	line, _, ended := bytes.Cut(body, []byte("\n"))
	if !ended || !bytes.HasPrefix(line, []byte("#!")) {
		return luaexec.Flags{}
	}
	parts, ok := resp.SplitLine(line)
	if !ok || len(parts) == 0 || string(parts[0]) != "#!lua" {
		return luaexec.Flags{}
	}
	f := luaexec.Flags{HasShebang: true}
	for _, part := range parts[1:] {
		list, isFlags := strings.CutPrefix(string(part), "flags=")
		if !isFlags {
			return luaexec.Flags{}
		}
		for _, name := range strings.Split(list, ",") {
			switch name {
			case "no-writes":
				f.NoWrites = true
			case "allow-oom":
				f.AllowOOM = true
			case "allow-stale", "no-cluster", "allow-cross-slot-keys":
			default:
				if list != "" {
					return luaexec.Flags{}
				}
			}
		}
	}
	return f
}
