package commands_test

import (
	"os"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commands"
	"github.com/lockredis/lockredis/internal/command/commandtest"
)

func TestThePageAboutValkeyNamesEveryCommandOfIt(t *testing.T) {
	page, err := os.ReadFile("../../../docs/valkey.md")
	if err != nil {
		t.Fatal(err)
	}
	redis, valkey := rowNames(commands.NewTable()), commands.NewTable()
	commands.EmulateValkey(valkey)
	added := 0
	for name := range rowNames(valkey) {
		if redis[name] {
			continue
		}
		added++
		if shown := strings.ToUpper(strings.ReplaceAll(name, "|", " ")); !strings.Contains(string(page), shown) {
			t.Errorf("docs/valkey.md does not name %s", shown)
		}
	}
	if added == 0 {
		t.Error("emulate valkey-9.1 adds no command")
	}
}

// rowNames returns the names of the table's commands and subcommands.
func rowNames(t *command.Table) map[string]bool {
	names := map[string]bool{}
	for _, cmd := range t.All() {
		names[cmd.Name] = true
		for _, sub := range cmd.Subs {
			names[sub.Name] = true
		}
	}
	return names
}

func TestCommandsOfValkeyAreUnknownToRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		set k v ifeq v => -ERR syntax error
	`)
	for name := range rowNames(commands.NewTable()) {
		if strings.HasPrefix(name, "hexpire") || name == "delifeq" || name == "client|setinfo" {
			t.Errorf("the table has %s", name)
		}
	}
}
