package server

import (
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// eachNamed calls do for each command that args[from:] names, with nil for an unknown
// name. Without names it calls do for every command of the table.
func eachNamed(c *command.Ctx, args resp.Args, from int, do func(*command.Command)) {
	if len(args) <= from {
		for _, cmd := range c.Table.All() {
			do(cmd)
		}
		return
	}
	for _, name := range args[from:] {
		do(byFullName(c.Table, name))
	}
}

// byFullName finds a command by a name such as "get" or "config|get", nil if unknown.
func byFullName(t *command.Table, name []byte) *command.Command {
	parent, sub, isSub := strings.Cut(string(name), "|")
	cmd := t.Lookup([]byte(parent))
	if cmd == nil || !isSub {
		return cmd
	}
	return cmd.Sub([]byte(sub))
}

func commandCmd(c *command.Ctx, _ resp.Args) resp.Reply { return describeCommands(c, nil) }

func commandInfo(c *command.Ctx, args resp.Args) resp.Reply { return describeCommands(c, args) }

func describeCommands(c *command.Ctx, args resp.Args) resp.Reply {
	var all []resp.Reply
	eachNamed(c, args, 2, func(cmd *command.Command) {
		if cmd == nil {
			all = append(all, resp.Nil)
		} else {
			all = append(all, infoOf(cmd))
		}
	})
	return resp.Array(all...)
}

// infoOf returns the command's entry of COMMAND INFO.
func infoOf(cmd *command.Command) resp.Reply {
	first, last, step := legacyKeys(cmd)
	specs := make([]resp.Reply, len(cmd.Keys))
	for i := range cmd.Keys {
		specs[i] = specInfo(&cmd.Keys[i])
	}
	subs := resp.Set()
	if cmd.Container() {
		all := make([]resp.Reply, len(cmd.Subs))
		for i, sub := range cmd.Subs {
			all[i] = infoOf(sub)
		}
		subs = resp.Array(all...)
	}
	tips := make([]resp.Reply, len(cmd.Tips))
	for i, tip := range cmd.Tips {
		tips[i] = resp.BulkString(tip)
	}
	return resp.Array(
		resp.BulkString(cmd.Name), resp.Int(int64(cmd.Arity)), command.StatusSet(cmd.Flags.Names()),
		resp.Int(int64(first)), resp.Int(int64(last)), resp.Int(int64(step)),
		command.StatusSet(prefixed("@", cmd.ACLCategories())), resp.Set(tips...), resp.Set(specs...), subs)
}

func prefixed(prefix string, names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = prefix + name
	}
	return all
}

// legacyKeys returns the first key, the last key and the step in COMMAND INFO: the form
// older than key specs, which has one range. Several ranges of single steps are joined
// where each begins right behind the one before. Specs of other kinds are left out.
func legacyKeys(cmd *command.Command) (first, last, step int) {
	plain := func(k *command.KeySpec) bool { return k.Begin == command.Index && k.Find == command.Range }
	if len(cmd.Keys) == 1 && plain(&cmd.Keys[0]) {
		k := &cmd.Keys[0]
		return k.Index, lastIndex(k), k.Step
	}
	for i := range cmd.Keys {
		k := &cmd.Keys[i]
		if !plain(k) || k.Step != 1 || last != 0 && last != k.Index-1 {
			continue
		}
		if first == 0 {
			first, step = k.Index, 1
		}
		last = lastIndex(k)
	}
	return first, last, step
}

// lastIndex returns the position of a Range's last key; negative: counted from the end.
func lastIndex(k *command.KeySpec) int {
	if k.Last < 0 {
		return k.Last
	}
	return k.Index + k.Last
}

func specInfo(k *command.KeySpec) resp.Reply {
	var fields []resp.Reply
	if k.Notes != "" {
		fields = append(fields, resp.BulkString("notes"), resp.BulkString(k.Notes))
	}
	fields = append(fields, resp.BulkString("flags"), command.StatusSet(k.Flags.Names()),
		resp.BulkString("begin_search"), beginInfo(k), resp.BulkString("find_keys"), findInfo(k))
	return resp.Map(fields...)
}

func beginInfo(k *command.KeySpec) resp.Reply {
	switch k.Begin {
	case command.Index:
		return typedSpec("index", resp.BulkString("index"), resp.Int(int64(k.Index)))
	case command.Keyword:
		return typedSpec("keyword", resp.BulkString("keyword"), resp.BulkString(k.Keyword),
			resp.BulkString("startfrom"), resp.Int(int64(k.From)))
	}
	return typedSpec("unknown")
}

func findInfo(k *command.KeySpec) resp.Reply {
	switch k.Find {
	case command.Range:
		return typedSpec("range", resp.BulkString("lastkey"), resp.Int(int64(k.Last)),
			resp.BulkString("keystep"), resp.Int(int64(k.Step)),
			resp.BulkString("limit"), resp.Int(int64(k.Limit)))
	case command.Keynum:
		return typedSpec("keynum", resp.BulkString("keynumidx"), resp.Int(int64(k.CountAt)),
			resp.BulkString("firstkey"), resp.Int(int64(k.FirstKey)),
			resp.BulkString("keystep"), resp.Int(int64(k.Step)))
	}
	return typedSpec("unknown")
}

func typedSpec(kind string, spec ...resp.Reply) resp.Reply {
	return resp.Map(
		resp.BulkString("type"), resp.BulkString(kind),
		resp.BulkString("spec"), resp.Map(spec...))
}

func commandCount(c *command.Ctx, _ resp.Args) resp.Reply { return resp.Int(int64(c.Table.Len())) }

func commandDocs(c *command.Ctx, args resp.Args) resp.Reply {
	var docs []resp.Reply
	eachNamed(c, args, 2, func(cmd *command.Command) {
		if cmd != nil {
			docs = append(docs, resp.BulkString(cmd.Name), docsOf(cmd))
		}
	})
	return resp.Map(docs...)
}

// docsOf returns the command's entry of COMMAND DOCS. A command that Redis does not have is
// described by its row.
func docsOf(cmd *command.Command) resp.Reply {
	fields := redisDoc(cmd.Name)
	if fields == nil {
		fields = []resp.Reply{
			resp.BulkString("summary"), resp.BulkString(cmd.Summary),
			resp.BulkString("since"), resp.BulkString(cmd.Since),
			resp.BulkString("group"), resp.BulkString(cmd.Group),
		}
	}
	if cmd.Container() {
		var subs []resp.Reply
		for _, sub := range cmd.Subs {
			subs = append(subs, resp.BulkString(sub.Name), docsOf(sub))
		}
		fields = append(fields, resp.BulkString("subcommands"), resp.Map(subs...))
	}
	return resp.Map(fields...)
}

func commandList(c *command.Ctx, args resp.Args) resp.Reply {
	keep := func(*command.Command) bool { return true }
	switch {
	case len(args) == 2:
	case len(args) != 5 || !command.IsWord(args[2], "filterby"):
		return resp.ErrSyntax
	case command.IsWord(args[3], "module"):
		return resp.EmptyArray
	case command.IsWord(args[3], "aclcat"):
		category := strings.ToLower(args.String(4))
		keep = func(cmd *command.Command) bool { return slices.Contains(cmd.ACLCategories(), category) }
	case command.IsWord(args[3], "pattern"):
		pattern := args.String(4)
		keep = func(cmd *command.Command) bool { return command.GlobFold(pattern, cmd.Name) }
	default:
		return resp.ErrSyntax
	}
	var names []string
	for _, cmd := range c.Table.All() {
		for _, row := range append([]*command.Command{cmd}, cmd.Subs...) {
			if keep(row) {
				names = append(names, row.Name)
			}
		}
	}
	return resp.BulkArray(names)
}

var (
	errGetkeysCommand = resp.Error("ERR Invalid command specified")
	errGetkeysNone    = resp.Error("ERR The command has no key arguments")
	errGetkeysCount   = resp.Error("ERR Invalid number of arguments specified for command")
	errGetkeysArgs    = resp.Error("ERR Invalid arguments specified for command")
)

func commandGetkeys(c *command.Ctx, args resp.Args) resp.Reply {
	return lineKeysReply(c, args[2:], func(key []byte, _ command.KeyFlags) resp.Reply {
		return resp.Bulk(key)
	})
}

func commandGetkeysandflags(c *command.Ctx, args resp.Args) resp.Reply {
	return lineKeysReply(c, args[2:], func(key []byte, f command.KeyFlags) resp.Reply {
		return resp.Array(resp.Bulk(key), command.StatusSet(f.Names()))
	})
}

// lineKeysReply answers with the keys of a command line, each as show returns it.
func lineKeysReply(
	c *command.Ctx, line resp.Args, show func([]byte, command.KeyFlags) resp.Reply,
) resp.Reply {
	cmd := c.Table.Find(line)
	switch {
	case cmd == nil:
		return errGetkeysCommand
	case !cmd.TakesKeys():
		return errGetkeysNone
	case !cmd.ArityOK(len(line)):
		return errGetkeysCount
	}
	found, ok := cmd.KeysIn(line)
	if !ok || len(found) == 0 {
		if cmd.Has(command.NoMandatoryKeys) {
			return resp.EmptyArray
		}
		return errGetkeysArgs
	}
	keys := make([]resp.Reply, len(found))
	for i, k := range found {
		keys[i] = show(line[k.At], k.Flags)
	}
	return resp.Array(keys...)
}
