package command

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestLookupIgnoresCaseAndNothingElse(t *testing.T) {
	table := NewTable()
	r := rand.New(rand.NewPCG(1, 2))
	for name, cmd := range table.byName {
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
				if got, want := table.Lookup(other), table.byName[asciiLower(other)]; got != want {
					t.Fatalf("%q is %v, want %v", other, got, want)
				}
			}
			if got, want := table.Lookup(mixed[:i]), table.byName[asciiLower(mixed[:i])]; got != want {
				t.Fatalf("%q is %v, want %v", mixed[:i], got, want)
			}
		}
		for _, more := range []string{"\x00", "x", " "} {
			other := append(append([]byte(nil), mixed...), more...)
			if got, want := table.Lookup(other), table.byName[asciiLower(other)]; got != want {
				t.Fatalf("%q is %v, want %v", other, got, want)
			}
		}
	}
}

func asciiLower(b []byte) string {
	lowered := make([]byte, len(b))
	for i, c := range b {
		lowered[i] = lower(c)
	}
	return string(lowered)
}

func BenchmarkLookup(b *testing.B) {
	table := NewTable()
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

func TestAChangeOfATableIsNotInOthers(t *testing.T) {
	changes := map[string]func(*Table){
		"rename":  func(t *Table) { t.Rename("get", "fetch"); t.Rename("keys", "") },
		"valkey":  EmulateValkey,
		"lock":    AddLockCommands,
		"all":     func(t *Table) { AddLockCommands(t); EmulateValkey(t); t.Rename("set", "put") },
		"the row": func(t *Table) { t.Own(); t.Lookup([]byte("get")).Run = nil },
	}
	before := commandsDoc(NewTable())
	for name, change := range changes {
		table, other := NewTable(), NewTable()
		change(table)
		for _, row := range table.rows {
			for _, cmd := range append([]*Command{row}, row.Subs...) {
				if cmd == other.Lookup([]byte(cmd.Name)) {
					t.Errorf("%s: %s is another table's row", name, cmd.Name)
				}
				table.Calls(cmd).Calls++
				if table.ACLCatalog().Lookup(cmd.Name) == nil || cmd.acl != table.catalog.Lookup(cmd.Name) {
					t.Errorf("%s: %s is not in the catalog of its table", name, cmd.Name)
				}
			}
		}
		for _, row := range other.rows {
			if row.Run == nil && !row.Container() || other.Calls(row).Calls != 0 {
				t.Errorf("%s: another table's row of %s has changed", name, row.Name)
			}
		}
		if commandsDoc(NewTable()) != before {
			t.Errorf("%s: a new table has other commands", name)
		}
	}
}

func TestTwoTablesShareTheirRows(t *testing.T) {
	one, other := NewTable(), NewTable()
	if one.Lookup([]byte("get")) != other.Lookup([]byte("get")) || one.ACLCatalog() != other.ACLCatalog() {
		t.Error("each table has its own rows or catalog")
	}
}
