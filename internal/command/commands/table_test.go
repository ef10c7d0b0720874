package commands_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commands"
)

func TestLookupIgnoresCaseAndNothingElse(t *testing.T) {
	table := commands.NewTable()
	r := rand.New(rand.NewPCG(1, 2))
	byName := map[string]*command.Command{}
	for _, cmd := range table.All() {
		byName[cmd.Name] = cmd
	}
	for name, cmd := range byName {
		mixed := []byte(name)
		for i, c := range mixed {
			if r.IntN(2) == 0 {
				mixed[i] = strings.ToUpper(string(c))[0]
			}
		}
		if got := table.Lookup(mixed); got != cmd {
			t.Errorf("%q is not found", mixed)
		}
		for i := range mixed {
			for c := range 256 {
				other := append([]byte(nil), mixed...)
				other[i] = byte(c)
				if got, want := table.Lookup(other), byName[asciiLower(other)]; got != want {
					t.Fatalf("%q is %v, want %v", other, got, want)
				}
			}
			if got, want := table.Lookup(mixed[:i]), byName[asciiLower(mixed[:i])]; got != want {
				t.Fatalf("%q is %v, want %v", mixed[:i], got, want)
			}
		}
		for _, more := range []string{"\x00", "x", " "} {
			other := append(append([]byte(nil), mixed...), more...)
			if got, want := table.Lookup(other), byName[asciiLower(other)]; got != want {
				t.Fatalf("%q is %v, want %v", other, got, want)
			}
		}
	}
}

func asciiLower(b []byte) string {
	lowered := make([]byte, len(b))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lowered[i] = c
	}
	return string(lowered)
}

func BenchmarkLookup(b *testing.B) {
	table := commands.NewTable()
	for _, name := range []string{"get", "exists", "hincrby", "pexpire", "publish", "evalsha", "GEORADIUSBYMEMBER_RO"} {
		b.Run(name, func(b *testing.B) {
			word := []byte(name)
			for b.Loop() {
				if table.Lookup(word) == nil {
					b.Fatal("not found")
				}
			}
		})
	}
}

// shown returns the names of a table's rows and what COMMAND INFO has of them.
func shown(t *command.Table) string {
	var b strings.Builder
	for _, row := range t.All() {
		for _, cmd := range append([]*command.Command{row}, row.Subs...) {
			fmt.Fprintln(&b, cmd.Name, cmd.Group, cmd.Arity, cmd.Flags, cmd.Run == nil)
		}
	}
	return b.String()
}

func TestAChangeOfATableIsNotInOthers(t *testing.T) {
	changes := map[string]func(*command.Table){
		"rename":  func(t *command.Table) { t.Rename("get", "fetch"); t.Rename("keys", "") },
		"valkey":  commands.EmulateValkey,
		"lock":    commands.AddLockCommands,
		"all":     func(t *command.Table) { commands.AddLockCommands(t); commands.EmulateValkey(t); t.Rename("set", "put") },
		"the row": func(t *command.Table) { t.Own(); t.Lookup([]byte("get")).Run = nil },
	}
	before := shown(commands.NewTable())
	for name, change := range changes {
		table, other := commands.NewTable(), commands.NewTable()
		change(table)
		for _, row := range table.All() {
			for _, cmd := range append([]*command.Command{row}, row.Subs...) {
				if cmd == other.Lookup([]byte(cmd.Name)) {
					t.Errorf("%s: %s is another table's row", name, cmd.Name)
				}
				table.Calls(cmd).Calls++
				if table.ACLCatalog().Lookup(cmd.Name) == nil || catalogEntry(cmd) != table.ACLCatalog().Lookup(cmd.Name) {
					t.Errorf("%s: %s is not in the catalog of its table", name, cmd.Name)
				}
			}
		}
		for _, row := range other.All() {
			if row.Run == nil && !row.Container() || other.Calls(row).Calls != 0 {
				t.Errorf("%s: another table's row of %s has changed", name, row.Name)
			}
		}
		if shown(commands.NewTable()) != before {
			t.Errorf("%s: a new table has other commands", name)
		}
	}
}

func TestTwoTablesShareTheirRows(t *testing.T) {
	one, other := commands.NewTable(), commands.NewTable()
	if one.Lookup([]byte("get")) != other.Lookup([]byte("get")) || one.ACLCatalog() != other.ACLCatalog() {
		t.Error("each table has its own rows or catalog")
	}
}

func TestRenameGivesACommandAnotherNameOrRemovesItsRow(t *testing.T) {
	table := commands.NewTable()
	rows := table.Len()
	for _, r := range []struct {
		from, to string
		ok       bool
		len      int
	}{
		{"keys", "", true, rows - 1},
		{"KEYS", "x", false, rows - 1},
		{"get", "fetch", true, rows - 1},
		{"set", "SET", true, rows - 1},
		{"psync", "watcher", true, rows - 1},
		{"set", "watcher", false, rows - 1},
		{"watcher", "", true, rows - 2},
		{"acl", "fetch", false, rows - 2},
		{"set", "slowlog", false, rows - 2},
		{"nope", "", false, rows - 2},
	} {
		if ok := table.Rename(r.from, r.to); ok != r.ok || table.Len() != r.len {
			t.Errorf("Rename(%q, %q) is %v and leaves %d rows, want %v and %d",
				r.from, r.to, ok, table.Len(), r.ok, r.len)
		}
	}
}
