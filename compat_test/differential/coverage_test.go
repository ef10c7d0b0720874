package differential

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// The counts that a run of fullRun commands must reach for every command and every
// option. A shorter run must reach its share, and each at least once.
const (
	fullRun       = 1_000_000
	wantSuccesses = 100
	wantFailures  = 10
)

// share returns the part of want that a run of the given number of commands must reach.
func share(want, commands int) int { return max(1, min(want, want*commands/fullRun)) }

// tally counts how often one command or option succeeded and failed on redis-server.
// empty counts successes with an empty reply, errors the failures of a command by their text.
type tally struct {
	ok, failed, empty int
	errors            map[string]int
}

type coverage struct {
	tallies  map[string]*tally
	commands int
	pushes   int // invalidations that redis-server has sent
	slow     int // sequences whose times could not be compared
}

// newCoverage returns a coverage with every command and option of the groups at zero, so
// that a missing one shows.
func newCoverage(groups []group) *coverage {
	c := &coverage{tallies: map[string]*tally{}}
	for _, g := range groups {
		for _, cmd := range g.commands {
			c.tallies[cmd.name] = &tally{}
			for _, o := range strings.Fields(cmd.options) {
				c.tallies[cmd.name+" "+o] = &tally{}
			}
		}
	}
	return c
}

// count counts one reply of redis-server.
func (c *coverage) count(inv *invocation, reply wire.Value) {
	c.commands++
	failed := reply.IsError() ||
		inv.via == viaShape && len(reply.Elems) > 0 && string(reply.Elems[0].Str) == "err"
	c.add(inv.name, failed)
	if failed {
		c.tallies[inv.name].note(reply)
	}
	if s := string(reply.Raw); reply.IsNil || s == "*0\r\n" || s == ":0\r\n" || s == "%0\r\n" ||
		s == "~0\r\n" {
		c.tallies[inv.name].empty++
	}
	for _, o := range strings.Fields(inv.options) {
		if slices.ContainsFunc(inv.args[1:], func(a string) bool { return strings.EqualFold(a, o) }) {
			c.add(inv.name+" "+o, failed)
		}
	}
}

func (c *coverage) add(name string, failed bool) {
	t := c.tallies[name]
	if t == nil {
		t = &tally{}
		c.tallies[name] = t
	}
	if failed {
		t.failed++
	} else {
		t.ok++
	}
}

// note counts the error of a reply.
func (t *tally) note(reply wire.Value) {
	if !reply.IsError() { // see scriptShape
		reply = reply.Elems[1]
	}
	if t.errors == nil {
		t.errors = map[string]int{}
	}
	text, _, _ := strings.Cut(string(reply.Str), " script: ")
	t.errors[text[:min(len(text), 40)]]++
}

// frequent renders the most frequent errors.
func (t *tally) frequent() string {
	texts := slices.SortedFunc(maps.Keys(t.errors), func(a, b string) int {
		return cmp.Or(t.errors[b]-t.errors[a], strings.Compare(a, b))
	})
	var all []string
	for _, text := range texts[:min(len(texts), 3)] {
		all = append(all, fmt.Sprintf("%d %q", t.errors[text], text))
	}
	return strings.Join(all, ", ")
}

// alwaysFails and neverFails are commands with only one outcome.
var (
	alwaysFails = []string{"NOSUCHCOMMAND", "OBJECT NOSUCH", "PFDEBUG NOSUCH", "MULTI", "DISCARD",
		"CLIENT NOSUCH", "SCRIPT KILL", "FUNCTION KILL", "LATENCY GRAPH"}
	neverFails = []string{"PUBSUB NUMSUB", "PUBSUB SHARDNUMSUB"}
)

// short lists the commands and options that occurred too rarely.
func (c *coverage) short() []string {
	successes, failures := share(wantSuccesses, c.commands), share(wantFailures, c.commands)
	var lines []string
	for _, name := range c.names() {
		t := c.tallies[name]
		if t.ok < successes && !slices.Contains(alwaysFails, name) ||
			t.failed < failures && !slices.Contains(neverFails, name) {
			lines = append(lines, fmt.Sprintf("%s: %d succeeded, %d failed", name, t.ok, t.failed))
		}
	}
	return lines
}

func (c *coverage) names() []string {
	var names []string
	for n := range c.tallies {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// table renders all counts.
func (c *coverage) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "command and option\tsucceeded\tof these empty\tfailed\tmost frequent errors")
	for _, name := range c.names() {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", name, c.tallies[name].ok, c.tallies[name].empty,
			c.tallies[name].failed, c.tallies[name].frequent())
	}
	w.Flush()
	return b.String()
}
