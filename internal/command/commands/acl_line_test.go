package commands_test

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commands"
	"github.com/lockredis/lockredis/internal/command/commandtest"
	"github.com/lockredis/lockredis/resp"
)

// catalogEntry returns the command in the catalog of its table.
func catalogEntry(cmd *command.Command) *acl.Command {
	return cmd.ACLLine(resp.Args{[]byte(cmd.Name)}).Command
}

func TestRulesCanNameEveryCommandOfRedis(t *testing.T) {
	table := commands.NewTable()
	catalog := table.ACLCatalog()
	for _, cmd := range table.All() {
		for _, row := range append([]*command.Command{cmd}, cmd.Subs...) {
			if entry := catalogEntry(row); entry == nil || entry != catalog.Lookup(row.Name) {
				t.Errorf("%s is not in the catalog", row.Name)
			}
		}
	}
	if catalog.Lookup("sentinel|masters") != nil || catalog.Lookup("lock.list") != nil {
		t.Error("a server's catalog has commands of others")
	}
	table = commands.NewTable()
	commands.AddLockCommands(table)
	if table.ACLCatalog().Lookup("lock.list") == nil {
		t.Error("rules cannot name LOCK.LIST")
	}
	few := commands.Pick([]string{"ping", "client"}, nil).ACLCatalog()
	if few.Lookup("get") != nil || few.Lookup("xadd") != nil || few.Lookup("client|tracking") == nil {
		t.Error("a catalog of few commands has others, or lacks a subcommand")
	}
}

func TestALineHasTheKeysAndChannelsOfItsCommand(t *testing.T) {
	table := commands.NewTable()
	table.ACLCatalog()
	for text, want := range map[string]string{
		"get a":                          "a:r",
		"set a b":                        "a:w",
		"set a b GET":                    "a:rw",
		"mset a 1 b 2":                   "a:w b:w",
		"exists a b":                     "a: b:",
		"copy a b":                       "a:r b:w",
		"eval x 2 a b c":                 "a:rw b:rw",
		"eval x 3 a b":                   "",
		"eval x 1x a":                    "a:",
		"zunionstore d 2 a b weights":    "d:w a:r b:r",
		"zunionstore d x a b":            "",
		"pfmerge a":                      "a:rw",
		"sort a by x get y store d":      "a:r d:w",
		"object encoding a":              "a:",
		"ping a":                         "",
		"publish c x":                    "c:channel",
		"spublish c x":                   "c:channel",
		"subscribe c d":                  "c:channel d:channel",
		"ssubscribe c":                   "c:channel",
		"psubscribe c d":                 "c:pattern d:pattern",
		"unsubscribe c":                  "",
		"blpop a b 0":                    "a:rw b:rw",
		"lmpop 2 a b left":               "a:rw b:rw",
		"georadius a 0 0 1 m store b":    "a:r b:w",
		"xreadgroup group g c streams a": "",
	} {
		args := commandtest.Args(text)
		cmd := table.Find(args)
		if cmd == nil {
			continue // not in this version
		}
		line := cmd.ACLLine(args)
		var got []string
		for _, k := range line.Keys {
			text := string(args[k.At]) + ":"
			if k.Reads {
				text += "r"
			}
			if k.Writes {
				text += "w"
			}
			got = append(got, text)
		}
		for _, c := range line.Channels {
			kind := "channel"
			if c.Pattern {
				kind = "pattern"
			}
			got = append(got, string(args[c.At])+":"+kind)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
