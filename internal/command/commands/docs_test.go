package commands_test

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commands"
	"github.com/lockredis/lockredis/internal/command/fault"
	"github.com/lockredis/lockredis/internal/command/lock"
)

var update = flag.Bool("update", false, "regenerate docs/commands.md")

// docs/commands.md is generated: go test ./internal/command/commands -run Docs -update
func TestCommandsDocsAreUpToDate(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "commands.md")
	want := commandsDoc(commands.NewTable())
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Errorf("docs/commands.md is stale (read error: %v); run make docs", err)
	}
}

func TestEveryCommandHasASummary(t *testing.T) {
	table := commands.NewTable()
	commands.AddLockCommands(table)
	for _, cmd := range table.All() {
		for _, row := range append([]*command.Command{cmd}, cmd.Subs...) {
			if !strings.HasSuffix(row.Summary, ".") {
				t.Errorf("%s: summary %q does not end with a full stop", row.Name, row.Summary)
			}
		}
	}
}

// commandsDoc returns docs/commands.md: one table for each group, and behind them the commands
// of lockredis's own.
func commandsDoc(table *command.Table) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n" +
		"Generated from the command table (`internal/command/commands`). " +
		"Replies and errors are those of Redis 7.0.15.\n" +
		"[lockredis's own](#lockrediss-own) commands stand apart, at the end.\n" +
		"Since is the Redis version that introduced the command. " +
		"Arity counts the command's name; -n means n or more arguments.\n")
	group, count := "", 0
	for _, cmd := range table.All() {
		if cmd.Group != group {
			group = cmd.Group
			fmt.Fprintf(&b, "\n## %s\n\n| Command | Arity | Since | |\n|---|---|---|---|\n", group)
		}
		count++
		docRow(&b, cmd)
		for _, sub := range cmd.Subs {
			docRow(&b, sub)
		}
	}
	fmt.Fprintf(&b, "\n%d commands, subcommands not counted.\n", count)
	b.WriteString("\n## lockredis's own\n\n| Command | Arity | Since | |\n|---|---|---|---|\n")
	for _, cmd := range slices.Concat(fault.Commands(), lock.Commands()) {
		docRow(&b, cmd)
		for _, sub := range cmd.Subs {
			docRow(&b, sub)
		}
	}
	b.WriteString("\n" + ownDoc)
	return b.String()
}

// ownDoc describes the commands that Redis does not have.
//
//go:embed testdata/own.md
var ownDoc string

func docRow(b *strings.Builder, cmd *command.Command) {
	name := strings.ToUpper(strings.ReplaceAll(cmd.Name, "|", " "))
	fmt.Fprintf(b, "| `%s` | %d | %s | %s |\n", name, cmd.Arity, cmd.Since, cmd.Summary)
}
