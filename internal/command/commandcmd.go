package command

import (
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/resp"
)

// eachNamed calls do for each command that args[from:] names, with nil for an unknown
// name. Without names it calls do for every command of the table.
func eachNamed(c *Ctx, args resp.Args, from int, do func(*Command)) {
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
func byFullName(t *Table, name []byte) *Command {
	parent, sub, isSub := strings.Cut(string(name), "|")
	cmd := t.Lookup([]byte(parent))
	if cmd == nil || !isSub {
		return cmd
	}
	return cmd.Sub([]byte(sub))
}

func commandCmd(c *Ctx, _ resp.Args) resp.Reply { return describeCommands(c, nil) }

func commandInfo(c *Ctx, args resp.Args) resp.Reply { return describeCommands(c, args) }

func describeCommands(c *Ctx, args resp.Args) resp.Reply {
	var all []resp.Reply
	eachNamed(c, args, 2, func(cmd *Command) {
		if cmd == nil {
			all = append(all, resp.Nil)
		} else {
			all = append(all, cmd.info())
		}
	})
	return resp.Array(all...)
}

// info returns the command's entry of COMMAND INFO.
func (cmd *Command) info() resp.Reply {
	first, last, step := cmd.legacyKeys()
	specs := make([]resp.Reply, len(cmd.Keys))
	for i := range cmd.Keys {
		specs[i] = cmd.Keys[i].info()
	}
	subs := resp.Set()
	if cmd.Container() {
		all := make([]resp.Reply, len(cmd.Subs))
		for i, sub := range cmd.Subs {
			all[i] = sub.info()
		}
		subs = resp.Array(all...)
	}
	tips := make([]resp.Reply, len(cmd.Tips))
	for i, tip := range cmd.Tips {
		tips[i] = resp.BulkString(tip)
	}
	return resp.Array(
		resp.BulkString(cmd.Name), resp.Int(int64(cmd.Arity)), statusSet(cmd.Flags.Names()),
		resp.Int(int64(first)), resp.Int(int64(last)), resp.Int(int64(step)),
		statusSet(prefixed("@", cmd.ACLCategories())), resp.Set(tips...), resp.Set(specs...), subs)
}

// statusSet returns names as a set of simple strings.
func statusSet(names []string) resp.Reply {
	all := make([]resp.Reply, len(names))
	for i, name := range names {
		all[i] = resp.Status(name)
	}
	return resp.Set(all...)
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
func (cmd *Command) legacyKeys() (first, last, step int) {
	plain := func(k *KeySpec) bool { return k.Begin == Index && k.Find == Range }
	if len(cmd.Keys) == 1 && plain(&cmd.Keys[0]) {
		k := &cmd.Keys[0]
		return k.Index, k.lastIndex(), k.Step
	}
	for i := range cmd.Keys {
		k := &cmd.Keys[i]
		if !plain(k) || k.Step != 1 || last != 0 && last != k.Index-1 {
			continue
		}
		if first == 0 {
			first, step = k.Index, 1
		}
		last = k.lastIndex()
	}
	return first, last, step
}

// lastIndex returns the position of a Range's last key; negative: counted from the end.
func (k *KeySpec) lastIndex() int {
	if k.Last < 0 {
		return k.Last
	}
	return k.Index + k.Last
}

func (k *KeySpec) info() resp.Reply {
	var fields []resp.Reply
	if k.Notes != "" {
		fields = append(fields, resp.BulkString("notes"), resp.BulkString(k.Notes))
	}
	fields = append(fields, resp.BulkString("flags"), statusSet(k.Flags.Names()),
		resp.BulkString("begin_search"), k.beginInfo(), resp.BulkString("find_keys"), k.findInfo())
	return resp.Map(fields...)
}

func (k *KeySpec) beginInfo() resp.Reply {
	switch k.Begin {
	case Index:
		return typedSpec("index", resp.BulkString("index"), resp.Int(int64(k.Index)))
	case Keyword:
		return typedSpec("keyword", resp.BulkString("keyword"), resp.BulkString(k.Keyword),
			resp.BulkString("startfrom"), resp.Int(int64(k.From)))
	}
	return typedSpec("unknown")
}

func (k *KeySpec) findInfo() resp.Reply {
	switch k.Find {
	case Range:
		return typedSpec("range", resp.BulkString("lastkey"), resp.Int(int64(k.Last)),
			resp.BulkString("keystep"), resp.Int(int64(k.Step)),
			resp.BulkString("limit"), resp.Int(int64(k.Limit)))
	case Keynum:
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

// groupCategory returns the ACL category of a group's commands, "" if there is none.
func groupCategory(group string) string {
	switch group {
	case "generic":
		return "keyspace"
	case "sorted-set":
		return "sortedset"
	case "transactions":
		return "transaction"
	case "server", "sentinel", "pubsub": // the category pubsub comes from PubSubFlag
		return ""
	}
	return group
}

// ACLCategories returns the command's ACL categories in Redis's order. They come from the
// row, or else from the group, and from the flags. A container gets none from its group.
func (cmd *Command) ACLCategories() []string {
	in := map[string]bool{}
	for _, name := range cmd.Categories {
		in[name] = true
	}
	if len(cmd.Categories) == 0 && !cmd.Container() {
		in[groupCategory(cmd.Group)] = true
	}
	in["write"] = cmd.Has(Write)
	in["read"] = cmd.Has(ReadOnly) && !in["scripting"]
	in["pubsub"] = in["pubsub"] || cmd.Has(PubSubFlag)
	in["blocking"] = in["blocking"] || cmd.Has(Blocking)
	in["admin"] = in["admin"] || cmd.Has(Admin)
	in["dangerous"] = in["dangerous"] || cmd.Has(Admin)
	in["fast"], in["slow"] = cmd.Has(Fast), !cmd.Has(Fast)
	var names []string
	for _, name := range acl.Categories {
		if in[name] {
			names = append(names, name)
		}
	}
	return names
}

func commandCount(c *Ctx, _ resp.Args) resp.Reply { return resp.Int(int64(c.Table.Len())) }

func commandDocs(c *Ctx, args resp.Args) resp.Reply {
	var docs []resp.Reply
	eachNamed(c, args, 2, func(cmd *Command) {
		if cmd != nil {
			docs = append(docs, resp.BulkString(cmd.Name), cmd.docs())
		}
	})
	return resp.Map(docs...)
}

// docs returns the command's entry of COMMAND DOCS. A command that Redis does not have is
// described by its row.
func (cmd *Command) docs() resp.Reply {
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
			subs = append(subs, resp.BulkString(sub.Name), sub.docs())
		}
		fields = append(fields, resp.BulkString("subcommands"), resp.Map(subs...))
	}
	return resp.Map(fields...)
}

func commandList(c *Ctx, args resp.Args) resp.Reply {
	keep := func(*Command) bool { return true }
	switch {
	case len(args) == 2:
	case len(args) != 5 || !isWord(args[2], "filterby"):
		return resp.ErrSyntax
	case isWord(args[3], "module"):
		return resp.EmptyArray
	case isWord(args[3], "aclcat"):
		category := strings.ToLower(args.String(4))
		keep = func(cmd *Command) bool { return slices.Contains(cmd.ACLCategories(), category) }
	case isWord(args[3], "pattern"):
		pattern := args.String(4)
		keep = func(cmd *Command) bool { return globFold(pattern, cmd.Name) }
	default:
		return resp.ErrSyntax
	}
	var names []string
	for _, cmd := range c.Table.All() {
		for _, row := range append([]*Command{cmd}, cmd.Subs...) {
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

func commandGetkeys(c *Ctx, args resp.Args) resp.Reply {
	return lineKeysReply(c, args[2:], func(key []byte, _ KeyFlags) resp.Reply {
		return resp.Bulk(key)
	})
}

func commandGetkeysandflags(c *Ctx, args resp.Args) resp.Reply {
	return lineKeysReply(c, args[2:], func(key []byte, f KeyFlags) resp.Reply {
		return resp.Array(resp.Bulk(key), statusSet(f.Names()))
	})
}

// lineKeysReply answers with the keys of a command line, each as show returns it.
func lineKeysReply(
	c *Ctx, line resp.Args, show func([]byte, KeyFlags) resp.Reply,
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
	found, ok := cmd.keysIn(line)
	if !ok || len(found) == 0 {
		if cmd.Has(NoMandatoryKeys) {
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

// RememberedKeys returns the positions of the keys that client-side caching remembers when
// the command line has run, nil if there are none.
func (cmd *Command) RememberedKeys(line resp.Args) []KeyPos {
	if !cmd.TakesKeys() {
		return nil
	}
	if cmd.ReadKeys != nil {
		return cmd.ReadKeys(line)
	}
	found, _ := cmd.keysIn(line)
	return found
}

// keysIn returns the keys of a command line that can have keys.
func (cmd *Command) keysIn(line resp.Args) (found []KeyPos, ok bool) {
	if found, ok = cmd.KeyPositions(line); ok {
		return found, true
	}
	return cmd.keysByAtoi(line)
}

// keysByAtoi is Redis's second attempt at a line that does not fit the key specs. It parses
// the number of keys as C's atoi does ("2x" is 2). The keys of other specs (a destination)
// come last, and no key has flags.
func (cmd *Command) keysByAtoi(line resp.Args) (found []KeyPos, ok bool) {
	var others []KeyPos
	for i := range cmd.Keys {
		k := &cmd.Keys[i]
		if k.Find != Keynum {
			positions, _ := k.Positions(line)
			for _, p := range positions {
				others = append(others, KeyPos{At: p.At})
			}
			continue
		}
		first, n := k.counted(line)
		if n == 0 {
			return nil, false
		}
		for at := first; at < first+n; at++ {
			found = append(found, KeyPos{At: at})
		}
	}
	return append(found, others...), len(found) > 0
}
