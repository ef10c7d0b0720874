//go:build unix

package clients

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/redistest"
)

// page is where the table stands, between two lines.
const (
	page       = "../../docs/clients.md"
	tableStart = "<!-- the table: written by make clients -->\n"
	tableEnd   = "<!-- end of the table -->\n"
)

const tableHead = "| suite | client | version | lockredis | redis-server " + redistest.Version + " | skipped on both |\n" +
	"|---|---|---|---|---|---|\n"

// rows returns a suite's rows of the table, one for each client. redis is nil when the
// suite ran on lockredis only.
func rows(suite string, lockredis, redis []check) (lines []string) {
	for _, client := range clientsOf(lockredis) {
		here := of(client, lockredis)
		var skipped []string
		for _, c := range here {
			if c.outcome == outcomeSkip {
				skipped = append(skipped, c.name+": "+c.reason)
			}
		}
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", suite, client, here[0].version,
			figures(here), figures(of(client, redis)), cell(strings.Join(skipped, "; "))))
	}
	return lines
}

// figures counts the outcomes for a cell.
func figures(checks []check) string {
	text := fmt.Sprintf("%d ok", count(checks, outcomeOK))
	if n := count(checks, outcomeFail); n > 0 {
		text += fmt.Sprintf(", **%d failed**", n)
	}
	if n := count(checks, outcomeSkip); n > 0 {
		text += fmt.Sprintf(", %d skipped", n)
	}
	return text
}

// cell makes a text fit into a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "\n", " ").Replace(text)
}

// updatePage replaces the rows of the suites that ran. The rows of other suites stay.
func updatePage(ran []string, lines []string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), tableStart)
	old, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		return fmt.Errorf("%s has no table", page)
	}
	all, err := suites()
	if err != nil {
		return err
	}
	for line := range strings.Lines(strings.TrimPrefix(strings.TrimSpace(old)+"\n", tableHead)) {
		suite := strings.TrimSpace(strings.SplitN(line+"||", "|", 3)[1])
		if slices.Contains(all, suite) && !slices.Contains(ran, suite) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	table := tableHead + strings.Join(lines, "")
	return os.WriteFile(page, []byte(before+tableStart+table+tableEnd+after), 0o644)
}
