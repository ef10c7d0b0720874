package scripting

import (
	"errors"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/resp"
)

var (
	errFunctionPolicy = resp.Error("ERR Wrong restore policy given, " +
		"value should be either FLUSH, APPEND or REPLACE.")
	errFunctionOpcode = resp.Error("ERR given type is not a function")
)

func functionDump(c *command.Ctx, _ resp.Args) resp.Reply {
	return resp.Bulk(command.PayloadEncoder(c).DumpFunctions(c.Scripts.LibraryCodes()))
}

// errRestoreFunctions is the reply to a payload that cannot be read.
func errRestoreFunctions(err error) resp.Reply {
	if broken, ok := errors.AsType[*rdb.FunctionError](err); ok {
		return resp.Error("ERR Failed loading " + broken.Part)
	}
	return errFunctionOpcode
}

func functionRestore(c *command.Ctx, args resp.Args) resp.Reply {
	if len(args) > 4 {
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	}
	var replace, flush bool
	if len(args) == 4 {
		replace, flush = command.IsWord(args[3], "replace"), command.IsWord(args[3], "flush")
		if !replace && !flush && !command.IsWord(args[3], "append") {
			return errFunctionPolicy
		}
	}
	if rdb.Verify(args[2], command.PayloadAccepts(c)) != nil {
		return command.ErrDumpFoot
	}
	restored := c.Scripts.Restore()
	for code, err := range rdb.Functions(args[2]) {
		if err != nil {
			return errRestoreFunctions(err)
		}
		if failure, ok := restored.Load(code, c.Script.Loader()); !ok {
			return failure
		}
	}
	if failure, ok := restored.Commit(replace, flush); !ok {
		return failure
	}
	c.ChangeOther("function", 1)
	return resp.OK
}
