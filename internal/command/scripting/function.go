package scripting

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/resp"
)

var (
	errNoFunction       = resp.Error("ERR Function not found")
	errNoLibrary        = resp.Error("ERR Library not found")
	errNoLibraryName    = resp.Error("ERR library name argument was not given")
	errFunctionKeys     = resp.Error("ERR Bad number of keys provided")
	errFunctionKeysMany = resp.Error("ERR Number of keys can't be greater than number of args")
	errFunctionFlush    = resp.Error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
)

// fcall is FCALL and FCALL_RO.
func fcall(c *command.Ctx, args resp.Args) resp.Reply {
	f, found := c.Scripts.Function(args[1])
	if !found {
		return errNoFunction
	}
	n, isInt := resp.ParseInt(args[2])
	switch {
	case !isInt:
		return errFunctionKeys
	case n > int64(len(args)-3):
		return errFunctionKeysMany
	case n < 0:
		return errKeysNegative
	}
	return c.Script.RunFunction(c, f, args, int(n))
}

func functionLoad(c *command.Ctx, args resp.Args) resp.Reply {
	replace := false
	last := len(args) - 1
	for _, option := range args[2:last] {
		if !command.IsWord(option, "replace") {
			return resp.Errorf("ERR Unknown option given: %s", option)
		}
		replace = true
	}
	l, failure, ok := c.Scripts.LoadLibrary(args[last], replace, c.Script.Loader())
	if !ok {
		return failure
	}
	c.ChangeOther("function", 1)
	return resp.BulkString(l.Name())
}

func functionDelete(c *command.Ctx, args resp.Args) resp.Reply {
	if !c.Scripts.DeleteLibrary(args.String(2)) {
		return errNoLibrary
	}
	c.ChangeOther("function", 1)
	return resp.OK
}

func functionFlush(c *command.Ctx, args resp.Args) resp.Reply {
	lazily, ok := command.FlushOption(c, args[2:])
	switch {
	case len(args) > 3:
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	case !ok:
		return errFunctionFlush
	}
	if _, n, _ := c.Scripts.FunctionCounts(); lazily {
		c.Space.CountLazyFreed(n, n)
	}
	c.Scripts.FlushLibraries()
	c.ChangeOther("function", 1)
	return resp.OK
}

func functionList(c *command.Ctx, args resp.Args) resp.Reply {
	code, pattern, filtered := false, "", false
	for i := 2; i < len(args); i++ {
		switch {
		case !code && command.IsWord(args[i], "withcode"):
			code = true
		case !filtered && command.IsWord(args[i], "libraryname"):
			if i++; i == len(args) {
				return errNoLibraryName
			}
			pattern, filtered = args.String(i), true
		default:
			return resp.Error("ERR Unknown argument " + string(command.CText(args[i])))
		}
	}
	var all []resp.Reply
	for _, l := range c.Scripts.Libraries() {
		if !filtered || command.GlobFold(pattern, l.Name()) {
			all = append(all, describeLibrary(l, code))
		}
	}
	return resp.Array(all...)
}

func describeLibrary(l *luaexec.Library, code bool) resp.Reply {
	var functions []resp.Reply
	for _, f := range l.Functions() {
		about := resp.Nil
		if text, ok := f.Description(); ok {
			about = resp.BulkString(text)
		}
		functions = append(functions, resp.Map(
			resp.BulkString("name"), resp.BulkString(f.Name()),
			resp.BulkString("description"), about,
			resp.BulkString("flags"), command.StatusSet(f.Flags().Names())))
	}
	fields := []resp.Reply{
		resp.BulkString("library_name"), resp.BulkString(l.Name()),
		resp.BulkString("engine"), resp.BulkString("LUA"),
		resp.BulkString("functions"), resp.Array(functions...),
	}
	if code {
		fields = append(fields, resp.BulkString("library_code"), resp.BulkString(l.Code()))
	}
	return resp.Map(fields...)
}

func functionStats(c *command.Ctx, _ resp.Args) resp.Reply {
	running := resp.Nil
	if refusal, busy := c.Script.Busy(); busy {
		name, line, millis, ok := c.Script.Function()
		if !ok {
			return refusal
		}
		words := make([]resp.Reply, len(line))
		for i, word := range line {
			words[i] = resp.Bulk(word)
		}
		running = resp.Map(
			resp.BulkString("name"), resp.BulkString(name),
			resp.BulkString("command"), resp.Array(words...),
			resp.BulkString("duration_ms"), resp.Int(millis))
	}
	libraries, _, functions := c.Scripts.FunctionCounts()
	return resp.Map(
		resp.BulkString("running_script"), running,
		resp.BulkString("engines"), resp.Map(
			resp.BulkString("LUA"), resp.Map(
				resp.BulkString("libraries_count"), resp.Int(int64(libraries)),
				resp.BulkString("functions_count"), resp.Int(int64(functions)))))
}

func functionKill(c *command.Ctx, _ resp.Args) resp.Reply { return c.Script.Kill(true) }
