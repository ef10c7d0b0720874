package command

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/commands.md anew")

// docs/commands.md is generated: go test ./internal/command -run Docs -update
func TestDocsOfTheCommandsAreUpToDate(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "commands.md")
	want := commandsDoc(NewTable())
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Errorf("docs/commands.md is stale (%v): go test ./internal/command -run Docs -update", err)
	}
}

func TestEveryCommandHasASummary(t *testing.T) {
	for _, cmd := range NewTable().All() {
		for _, one := range append([]*Command{cmd}, cmd.Subs...) {
			if !strings.HasSuffix(one.Summary, ".") {
				t.Errorf("%s: summary %q", one.Name, one.Summary)
			}
		}
	}
}

// commandsDoc writes the table group by group.
func commandsDoc(table *Table) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nGenerated from the command table (`internal/command`). Replies and errors are those of Redis 7.0.15.\n" +
		"Since is the version of Redis that brought the command; arity counts the name, and -n means n or more.\n")
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
	return b.String()
}

func docRow(b *strings.Builder, cmd *Command) {
	name := strings.ToUpper(strings.ReplaceAll(cmd.Name, "|", " "))
	fmt.Fprintf(b, "| `%s` | %d | %s | %s |\n", name, cmd.Arity, cmd.Since, cmd.Summary)
}
