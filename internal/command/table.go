package command

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/resp"
)

// Func runs a command. args[0] is the command's name; the arity has been
// checked against the row.
type Func func(c *Ctx, args resp.Args) resp.Reply

// Flags are a command's properties, under the names of COMMAND INFO.
type Flags uint64

// The flags of Redis 7.0 that our commands have.
const (
	Write Flags = 1 << iota
	ReadOnly
	DenyOOM
	Admin
	PubSubFlag
	NoScript
	Blocking
	Loading
	Stale
	SkipMonitor
	SkipSlowlog
	Asking
	Fast
	NoAuth
	NoMandatoryKeys
	NoAsyncLoading
	NoMulti
	MovableKeys
	AllowBusy

	// The flags below are ours. COMMAND INFO does not show them.

	MayReplicate     // writes though it is no write command (PUBLISH, EVAL)
	Protected        // needs enable-debug-command, or with Own enable-lock-commands
	Own              // a command of lockredis, not of Redis
	InMulti          // runs inside MULTI at once: it is not queued
	EndsMulti        // ends a transaction, so maxmemory does not refuse it there
	RunsQueue        // runs the queued commands (EXEC), so their flags count as its own
	WhileSubscribed  // a RESP2 subscriber may run it
	NeedsConnection  // is about its connection: the test kit may not run it
	DeclaresInSource // its argument is a script, which may declare flags
	DeclaresBySHA    // its argument is a script's SHA1; the script may declare flags
	TellsHealth      // is refused, as writes are, after a save that failed (PING)
	DeclaresByName   // its argument is the name of a function, which has flags
	AlwaysTold       // others are told of it, though it changes no data (PUBLISH)
	ToldApart        // the expired keys that it finds are told one by one, not in MULTI (KEYS)
)

var flagNames = []string{
	"write", "readonly", "denyoom", "admin", "pubsub", "noscript", "blocking", "loading", "stale",
	"skip_monitor", "skip_slowlog", "asking", "fast", "no_auth", "no_mandatory_keys",
	"no_async_loading", "no_multi", "movablekeys", "allow_busy",
}

// Has reports whether all of the flags in other are among f.
func (f Flags) Has(other Flags) bool { return f&other == other }

// Names returns the flags' names in Redis's order.
func (f Flags) Names() []string {
	var names []string
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Command is a row of the command table. A row that is in a table does not change.
type Command struct {
	Name       string // lower case; a subcommand's is "config|get"
	Arity      int    // number of arguments with the name; -n: n or more
	Flags      Flags
	Keys       []KeySpec
	Since      string   // the first Redis version that has it
	Group      string   // as in COMMAND DOCS: "string", "sorted-set" …
	Categories []string // ACL categories in place of the group's; the flags add more
	Tips       []string
	Summary    string // one sentence for COMMAND DOCS and docs/commands.md
	Run        Func   // nil for a container whose subcommands do the work
	Subs       []*Command

	// Told says how a change by the command is told to others. nil: as it was sent.
	Told Told

	// KeepsCaching says that CLIENT CACHING is not about this command, but about a later one.
	KeepsCaching bool

	// ReadKeys finds the keys that client-side caching remembers, if a line that does not fit
	// the syntax has others than Keys finds. nil: Keys finds them.
	ReadKeys func(line resp.Args) []KeyPos

	// Channels says which arguments are channels that ACL rules are about.
	Channels ChannelArgs

	id   int // in its set
	subs map[string]*Command
	acl  *acl.Command // set by describe
}

// Has reports whether the command has all of the flags.
func (cmd *Command) Has(f Flags) bool { return cmd.Flags.Has(f) }

// ArityOK reports whether n arguments, the name included, are acceptable.
func (cmd *Command) ArityOK(n int) bool {
	return cmd.Arity >= 0 && n == cmd.Arity || cmd.Arity < 0 && n >= -cmd.Arity
}

// Sub returns the subcommand of that name, nil when there is none. Case is ignored.
func (cmd *Command) Sub(name []byte) *Command {
	return cmd.subs[strings.ToLower(string(name))]
}

// Container reports whether the command has subcommands.
func (cmd *Command) Container() bool { return len(cmd.Subs) > 0 }

// Table is the command table of one server.
type Table struct {
	*commandSet              // shared until the server changes its commands
	calls       []*CallStats // by Command.id; nil: no calls
}

// commandSet is the rows of tables, and what finds them. Servers share one of them, so a Table
// changes only a set of its own, see Own.
type commandSet struct {
	byName  map[string]*Command
	hidden  map[string]*Command // rows that only FindHidden finds, by their first names
	shared  bool                // other tables may have the set: it does not change
	rows    []*Command
	ids     int          // rows and subcommands so far
	catalog *acl.Catalog // nil until describe
	longest int          // the length of the longest name, in bytes
	// slots holds the commands of byName in a hash table. It finds a name in a fifth of the
	// time, because it takes eight bytes at once. A script looks up a name for each of its
	// commands.
	slots [tableSlots]slot
}

// Group is the rows of a group of commands.
type Group struct {
	Name string // as in COMMAND DOCS
	Rows []*Command
}

// NewTable returns a server's table of the commands of groups. The group of a row is set here.
func NewTable(groups ...Group) *Table {
	s := &commandSet{byName: map[string]*Command{}, shared: true}
	for _, g := range groups {
		s.add(g.Name, g.Rows)
	}
	s.fillSlots()
	s.describe()
	return newTable(s)
}

func newTable(s *commandSet) *Table {
	return &Table{commandSet: s, calls: make([]*CallStats, s.ids)}
}

// Share returns another table with the rows of a table of NewTable, without statistics.
func (t *Table) Share() *Table { return newTable(t.commandSet) }

// Pick returns a table of another kind of node. It has the rows of t that names lists, and
// others. others are by group, and have other names.
func (t *Table) Pick(names []string, others map[string][]*Command) *Table {
	s := &commandSet{byName: map[string]*Command{}}
	for _, name := range names {
		cmd := t.byName[name].copy()
		s.add(cmd.Group, []*Command{cmd})
	}
	for _, group := range slices.Sorted(maps.Keys(others)) {
		s.add(group, others[group])
	}
	s.fillSlots()
	return newTable(s)
}

// Row returns a copy of the row of that name with another function. The row must exist.
func (t *Table) Row(name string, run Func) *Command {
	row := t.byName[name].copy()
	row.Run = run
	return row
}

// Calls returns the statistics of a command of the table.
func (t *Table) Calls(cmd *Command) *CallStats {
	if s := t.calls[cmd.id]; s != nil {
		return s
	}
	return t.firstCall(cmd)
}

func (t *Table) firstCall(cmd *Command) *CallStats {
	t.calls[cmd.id] = &CallStats{}
	return t.calls[cmd.id]
}

// ResetCalls forgets all statistics.
func (t *Table) ResetCalls() { clear(t.calls) }

// EachCalled visits the commands and subcommands that have statistics.
func (t *Table) EachCalled(do func(*Command, *CallStats)) {
	for _, cmd := range t.rows {
		for _, row := range append([]*Command{cmd}, cmd.Subs...) {
			if s := t.calls[row.id]; s != nil {
				do(row, s)
			}
		}
	}
}

// Own gives the table rows of its own, so that they can be changed. Other servers share the rows
// of NewTable.
func (t *Table) Own() {
	if t.shared {
		t.commandSet = t.copy()
	}
}

// copy returns a set with the same rows that may be changed.
func (s *commandSet) copy() *commandSet {
	c := &commandSet{
		byName: make(map[string]*Command, len(s.byName)), ids: s.ids, catalog: s.catalog,
	}
	for _, row := range s.rows {
		cmd := row.copy()
		c.rows = append(c.rows, cmd)
		c.byName[cmd.Name] = cmd
	}
	c.fillSlots()
	return c
}

// copy returns a row that may be changed.
func (cmd *Command) copy() *Command {
	c := *cmd
	c.Subs, c.subs = nil, make(map[string]*Command, len(cmd.Subs))
	for _, row := range cmd.Subs {
		sub := row.copy()
		c.Subs = append(c.Subs, sub)
		c.subs[sub.Name[len(cmd.Name)+1:]] = sub
	}
	return &c
}

// Extension is what a directive adds to a table.
type Extension struct {
	Groups []Group               // rows
	Subs   map[string][]*Command // subcommands, by the names of their containers
	Run    map[string]Func       // other functions of rows, by the names of the rows
}

// Extend adds x to a table and finds the rows anew. It is called before there are statistics.
func (t *Table) Extend(x Extension) {
	t.Own()
	for _, g := range x.Groups {
		t.add(g.Name, g.Rows)
	}
	for _, name := range slices.Sorted(maps.Keys(x.Subs)) {
		t.addSubs(name, x.Subs[name])
	}
	for name, run := range x.Run {
		t.byName[name].Run = run
	}
	t.catalog = nil
	t.fillSlots()
	t.calls = make([]*CallStats, t.ids)
}

// Hide adds rows that no client has: only FindHidden finds them. It is called before there are
// statistics.
func (t *Table) Hide(g Group) {
	t.Own()
	for _, cmd := range g.Rows {
		t.prepare(cmd, g.Name)
		t.hide(cmd.Name, cmd)
	}
	t.calls = make([]*CallStats, t.ids)
}

func (s *commandSet) hide(name string, cmd *Command) {
	if s.hidden == nil {
		s.hidden = map[string]*Command{}
	}
	s.hidden[name] = cmd
}

// addSubs adds subcommands to the container called name.
func (t *Table) addSubs(name string, subs []*Command) {
	container := t.byName[name]
	for _, sub := range subs {
		t.number(sub, container.Group)
		container.subs[sub.Name[len(name)+1:]] = sub
	}
	container.Subs = append(container.Subs, subs...)
}

// add adds rows to a set that no other table has.
func (s *commandSet) add(group string, rows []*Command) {
	for _, cmd := range rows {
		s.prepare(cmd, group)
		s.byName[cmd.Name] = cmd
		s.rows = append(s.rows, cmd)
	}
}

// prepare numbers a row and its subcommands.
func (s *commandSet) prepare(cmd *Command, group string) {
	s.number(cmd, group)
	cmd.subs = make(map[string]*Command, len(cmd.Subs))
	for _, sub := range cmd.Subs {
		s.number(sub, group)
		cmd.subs[sub.Name[len(cmd.Name)+1:]] = sub
	}
}

// number gives a row its id and group.
func (s *commandSet) number(cmd *Command, group string) {
	cmd.id, cmd.Group = s.ids, group
	s.ids++
}

// All returns every command, containers once and without their subcommands. The caller must not
// change them.
func (t *Table) All() []*Command { return t.rows }

// Len returns the number of commands, subcommands not counted.
func (t *Table) Len() int { return len(t.rows) }

// Knows reports whether there is a command of that name. Case is ignored.
func (t *Table) Knows(name string) bool { return t.byName[strings.ToLower(name)] != nil }

// Rename gives a command another name (rename-command). The name "" removes the command.
// Rename reports false when there is no such command or the new name is taken.
func (t *Table) Rename(from, to string) bool {
	from, to = strings.ToLower(from), strings.ToLower(to)
	if !t.Knows(from) || to != from && t.Knows(to) {
		return false
	}
	t.Own()
	cmd := t.byName[from]
	t.hide(from, cmd)
	delete(t.byName, from)
	if to == "" {
		t.rows = slices.DeleteFunc(t.rows, func(row *Command) bool { return row == cmd })
	} else {
		t.byName[to] = cmd
	}
	t.fillSlots()
	return true
}
