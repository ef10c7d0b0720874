package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// statement is a line of a configuration file that has no value to keep: it does
// something, is refused, or is ignored. CONFIG GET and SET do not know it.
type statement struct {
	name        string
	least, most int // number of arguments

	// run carries the line out. words[0] is the name. nil: the line is ignored.
	run func(c *Config, words []string, at position) error
	doc string // the line in docs/directives.md, "": none
}

const anyNumber = math.MaxInt // of arguments

var statements = []statement{
	{name: "include", least: 1, most: 1, run: (*Config).include,
		doc: "reads other files, which may be a pattern"},
	{name: "rename-command", least: 2, most: 2, run: (*Config).renameCommand,
		doc: "for every command of Redis 7.0, whether lockredis has it or not"},
	{name: "user", least: 1, most: anyNumber, run: (*Config).user,
		doc: "a user with its rules, as in a line of ACL LIST"},
	{name: "loadmodule", least: 1, most: anyNumber, run: refused(noModules),
		doc: "refused: " + noModules},
	{name: "sentinel", most: anyNumber, run: (*Config).sentinel,
		doc: "of a Sentinel only, see [sentinel.md](sentinel.md)"},

	// Directives of older versions that Redis 7.0 ignores.
	{name: "list-max-ziplist-entries", least: 1, most: 1},
	{name: "list-max-ziplist-value", least: 1, most: 1},
	{name: "lua-replicate-commands", least: 1, most: 1},
}

// runStatement carries out a line that names no directive of the table.
func (c *Config) runStatement(words []string, at position) error {
	s := c.table.statement(words[0])
	switch args := len(words) - 1; {
	case s == nil && strings.Contains(words[0], ".") && args == 0:
		return reason("Module config specified without value")
	case s == nil && strings.Contains(words[0], "."):
		return reason(noModules)
	case s == nil || args < s.least || args > s.most:
		return reason("Bad directive or wrong number of arguments")
	case s.run == nil:
		return nil
	}
	return s.run(c, words, at)
}

func (c *Config) renameCommand(words []string, at position) error {
	c.Renames = append(c.Renames, Rename{From: words[1], To: words[2], line: at})
	return nil
}

func (c *Config) user(words []string, at position) error {
	c.Users = append(c.Users, UserLine{Name: words[1], Rules: words[2:], line: at})
	return nil
}

func refused(text string) func(*Config, []string, position) error {
	return func(*Config, []string, position) error { return reason(text) }
}

// doubt is a line that asks for something that lockredis does not have. Check
// decides about it after all lines are read, because only the last value of a
// directive counts.
type doubt struct {
	at    position
	words []string
	row   *directive
}

// noteDoubt replaces the doubt about a directive that a line has set.
func (c *Config) noteDoubt(d *directive, value string, words []string, at position) {
	c.doubts = slices.DeleteFunc(c.doubts, func(old doubt) bool { return old.row == d })
	if d.refuses(value) {
		c.doubts = append(c.doubts, doubt{at, words, d})
	}
}

// Check refuses what lockredis cannot do and names the line that asks for it. It
// is called when everything is loaded. Parse calls it itself.
func (c *Config) Check() error {
	for _, d := range c.doubts {
		why := d.row.refuse
		if d.row.unless != nil {
			why = d.row.unless(c)
		}
		if why != "" {
			return d.refusal(why)
		}
	}
	return nil
}

// whyNoDaemon returns why daemonize yes is refused, "" if it is not.
func (c *Config) whyNoDaemon() string {
	switch {
	case !c.detaches:
		return noDaemon
	case c.ExitWithParent:
		return noParentOfDaemon
	}
	return ""
}

func (d doubt) refusal(text string) error {
	if d.at.number == 0 {
		return fmt.Errorf("directive %s: %s", strings.Join(d.words, " "), text)
	}
	return &FatalError{d.at, text}
}
