package acl

import (
	"slices"
	"strings"
)

// Categories are Redis's ACL categories in Redis's order.
var Categories = []string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap",
	"hyperloglog", "geo", "stream", "pubsub", "admin", "fast", "slow", "blocking",
	"dangerous", "connection", "transaction", "scripting",
}

// lower turns ASCII letters into lower case. Other letters stay, as in Redis.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// categoryOf returns the position of a category in Categories, -1 when it is unknown.
// Case is ignored.
func categoryOf(name string) int {
	return slices.Index(Categories, lower(name))
}

// Row describes a command for a Catalog.
type Row struct {
	Name       string // lower case; a subcommand's is "config|get"
	Categories []string
	NoAuth     bool // every user may run it (AUTH, HELLO, QUIT, RESET)
	Subs       []Row
}

// Command is a command or subcommand of a Catalog.
type Command struct {
	Name   string
	id     int
	in     uint32 // a bit for each category, by its position in Categories
	noAuth bool
	parent *Command // nil: not a subcommand
	subs   []*Command
}

// In reports whether the command is in a category, given by its position in Categories.
func (cmd *Command) In(category int) bool { return cmd.in&(1<<category) != 0 }

// Catalog is the set of commands that rules can name. It never changes.
type Catalog struct {
	byName map[string]*Command
	all    []*Command // by name; a container stands before its subcommands
}

// NewCatalog returns a catalog of the rows. A name that comes again is skipped.
func NewCatalog(rows []Row) *Catalog {
	c := &Catalog{byName: make(map[string]*Command, 2*len(rows))}
	for _, r := range rows {
		c.add(r, nil)
	}
	slices.SortFunc(c.all, func(a, b *Command) int { return strings.Compare(a.order(), b.order()) })
	return c
}

// order returns a text by which a command is sorted. NUL is below every byte of a name, so
// that "config|get" stands before "config-x".
func (cmd *Command) order() string { return strings.ReplaceAll(cmd.Name, "|", "\x00") }

func (c *Catalog) add(r Row, parent *Command) {
	if c.byName[r.Name] != nil {
		return
	}
	cmd := &Command{Name: r.Name, id: len(c.all), noAuth: r.NoAuth, parent: parent}
	for _, name := range r.Categories {
		if i := categoryOf(name); i >= 0 {
			cmd.in |= 1 << i
		}
	}
	c.byName[r.Name] = cmd
	c.all = append(c.all, cmd)
	if parent != nil {
		parent.subs = append(parent.subs, cmd)
	}
	for _, sub := range r.Subs {
		c.add(sub, cmd)
	}
}

// Lookup returns the command with a full name, such as "get" or "config|get". It returns
// nil when there is none. Case is ignored.
func (c *Catalog) Lookup(name string) *Command { return c.byName[lower(name)] }

// InCategory returns the names of a category's commands, in order. ok is false when there
// is no such category. Case is ignored.
func (c *Catalog) InCategory(category string) (names []string, ok bool) {
	i := categoryOf(category)
	if i < 0 {
		return nil, false
	}
	for _, cmd := range c.all {
		if cmd.In(i) {
			names = append(names, cmd.Name)
		}
	}
	return names, true
}

// commandSet is a set of a catalog's commands.
type commandSet []uint64

func (c *Catalog) newSet() commandSet { return make(commandSet, (len(c.all)+63)/64) }

func (s commandSet) has(cmd *Command) bool { return s[cmd.id/64]&(1<<(cmd.id%64)) != 0 }

func (s commandSet) put(cmd *Command, member bool) {
	if member {
		s[cmd.id/64] |= 1 << (cmd.id % 64)
	} else {
		s[cmd.id/64] &^= 1 << (cmd.id % 64)
	}
}

// putAll adds a command with its subcommands, or removes them.
func (s commandSet) putAll(cmd *Command, member bool) {
	s.put(cmd, member)
	for _, sub := range cmd.subs {
		s.put(sub, member)
	}
}

// fill adds all commands of the catalog, or removes them.
func (c *Catalog) fill(s commandSet, member bool) {
	for _, cmd := range c.all {
		s.put(cmd, member)
	}
}

// complete reports whether s has all commands of the catalog.
func (c *Catalog) complete(s commandSet) bool {
	return !slices.ContainsFunc(c.all, func(cmd *Command) bool { return !s.has(cmd) })
}
