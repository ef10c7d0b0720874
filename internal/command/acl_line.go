package command

import (
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/resp"
)

// ChannelArgs says which arguments of a command are channels that the user needs rights
// for.
type ChannelArgs uint8

// The arguments that are channels.
const (
	NoChannels     ChannelArgs = iota
	FirstIsChannel             // PUBLISH
	AllAreChannels             // SUBSCRIBE
	AllArePatterns             // PSUBSCRIBE
)

// ACLCatalog returns the commands that ACL rules can name: the table's, under their
// own names, and in a server's table the rest of Redis's commands. It is called before
// commands are renamed.
func (t *Table) ACLCatalog() *acl.Catalog {
	if t.catalog == nil {
		t.describe()
	}
	return t.catalog
}

// describe makes the catalog of a set that no other table has.
func (s *commandSet) describe() {
	var rows []acl.Row
	for _, cmd := range s.rows {
		rows = append(rows, cmd.aclRow())
	}
	rows = addAbsent(rows, s.whole)
	s.catalog = acl.NewCatalog(rows)
	for _, cmd := range s.rows {
		for _, row := range append([]*Command{cmd}, cmd.Subs...) {
			row.acl = s.catalog.Lookup(row.Name)
		}
	}
}

// aclRow describes the command and its subcommands for the catalog.
func (cmd *Command) aclRow() acl.Row {
	row := acl.Row{Name: cmd.Name, Categories: cmd.ACLCategories(), NoAuth: cmd.Has(NoAuth)}
	for _, sub := range cmd.Subs {
		row.Subs = append(row.Subs, sub.aclRow())
	}
	return row
}

// addAbsent adds the commands of absentCategories: all of them, or only the subcommands of
// containers that are there.
func addAbsent(rows []acl.Row, all bool) []acl.Row {
	at := map[string]int{}
	for i := range rows {
		at[rows[i].Name] = i
	}
	for line := range strings.Lines(strings.TrimSpace(absentCategories)) {
		words := strings.Fields(line)
		row := acl.Row{Name: words[0], Categories: words[1:]}
		parent, _, isSub := strings.Cut(row.Name, "|")
		if i, known := at[parent]; known && isSub {
			rows[i].Subs = append(rows[i].Subs, row)
		} else if all && !isSub {
			at[row.Name] = len(rows)
			rows = append(rows, row)
		}
	}
	return rows
}

// ACLLine returns a command line as ACL rules see it.
func (cmd *Command) ACLLine(args resp.Args) *acl.Line {
	line := &acl.Line{}
	cmd.FillACLLine(line, args)
	return line
}

// FillACLLine is ACLLine for a line that is used again: it allocates nothing for most
// commands.
func (cmd *Command) FillACLLine(line *acl.Line, args resp.Args) {
	line.Command, line.Args = cmd.acl, args
	line.Keys, line.Channels = cmd.appendKeys(line.Keys[:0], args), line.Channels[:0]
	last := len(args) - 1
	switch cmd.Channels {
	case NoChannels:
		last = 0
	case FirstIsChannel:
		last = 1
	}
	for i := 1; i <= last; i++ {
		line.Channels = append(line.Channels, acl.Channel{At: i, Pattern: cmd.Channels == AllArePatterns})
	}
}

// appendKeys appends the keys of a command line.
func (cmd *Command) appendKeys(keys []acl.Key, args resp.Args) []acl.Key {
	for i := range cmd.Keys {
		k := &cmd.Keys[i]
		if k.Flags&NotKey != 0 {
			continue
		}
		begin, ok := k.begin(args)
		first, last := 0, 0
		if ok && k.Refine == nil {
			first, last, ok = k.bounds(args, begin)
		}
		if !ok || k.Refine != nil {
			return cmd.appendKeysSlowly(keys[:0], args)
		}
		for at := first; at <= last; at += k.Step {
			keys = append(keys, aclKey(at, k.Flags))
		}
	}
	return keys
}

// appendKeysSlowly is appendKeys for all kinds of specs and lines. A line with a wrong
// number of keys has no keys, as in Redis: the command refuses it.
//
// Differs from Redis: PFMERGE with one key has that key. In Redis it has none, so that every
// user may merge into any key.
func (cmd *Command) appendKeysSlowly(keys []acl.Key, args resp.Args) []acl.Key {
	counted := slices.ContainsFunc(cmd.Keys, func(k KeySpec) bool { return k.Find == Keynum })
	found, ok := cmd.KeysIn(args)
	switch {
	case !ok && counted:
		return keys
	case !ok:
		found = cmd.keysOfFittingSpecs(args)
	}
	for _, k := range found {
		keys = append(keys, aclKey(k.At, k.Flags))
	}
	return keys
}

// keysOfFittingSpecs returns the keys of the specs that a line fits.
func (cmd *Command) keysOfFittingSpecs(args resp.Args) (found []KeyPos) {
	for i := range cmd.Keys {
		if k := &cmd.Keys[i]; k.Flags&NotKey == 0 {
			at, _ := k.Positions(args)
			found = append(found, at...)
		}
	}
	return found
}

func aclKey(at int, f KeyFlags) acl.Key {
	return acl.Key{At: at, Reads: f&Access != 0, Writes: f&(Update|Insert|Delete) != 0}
}

// ReadsAnyKey reports whether the user may read every key: BY and GET make SORT read keys
// that are not among its arguments.
func ReadsAnyKey(c *Ctx, args resp.Args) bool {
	user := c.Session.User
	return !user.Restricted() || user.CheckReadingAnyKey(c.Cmd.ACLLine(args))
}
