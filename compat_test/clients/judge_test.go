//go:build unix

package clients

import (
	"fmt"
	"slices"
	"strings"
)

// fewestChecks is how many checks of a client must be ok.
const fewestChecks = 15

// The outcomes of a check.
const (
	outcomeOK   = "ok"
	outcomeFail = "FAIL"
	outcomeSkip = "skip"
)

// check is one line of a suite's output.
type check struct {
	client, version, outcome, name string
	reason                         string // may be empty
}

// parseChecks reads what a suite's script prints.
func parseChecks(output string) (checks []check, err error) {
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		parts := strings.SplitN(line, "\t", 5)
		if len(parts) < 4 || slices.Contains(parts[:4], "") {
			return nil, fmt.Errorf("a line is no check: %q", line)
		}
		c := check{client: parts[0], version: parts[1], outcome: parts[2], name: parts[3]}
		if len(parts) == 5 {
			c.reason = parts[4]
		}
		if !slices.Contains([]string{outcomeOK, outcomeFail, outcomeSkip}, c.outcome) {
			return nil, fmt.Errorf("outcome %q of %s: %s", c.outcome, c.client, c.name)
		}
		checks = append(checks, c)
	}
	return checks, nil
}

// clientsOf returns the names of the clients, sorted.
func clientsOf(checks []check) (names []string) {
	for _, c := range checks {
		names = append(names, c.client)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// of returns the checks of one client.
func of(client string, checks []check) []check {
	return slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return c.client != client })
}

// count returns how many checks have the outcome.
func count(checks []check, outcome string) (n int) {
	for _, c := range checks {
		if c.outcome == outcome {
			n++
		}
	}
	return n
}

// judge returns the complaints about the checks of a suite on both servers.
func judge(lockredis, redis []check) (complaints []string) {
	say := func(format string, args ...any) {
		complaints = append(complaints, fmt.Sprintf(format, args...))
	}
	for _, client := range clientsOf(slices.Concat(lockredis, redis)) {
		here, there := byName(client, lockredis, say), byName(client, redis, say)
		for _, c := range of(client, lockredis) {
			other, known := there[c.name]
			switch {
			case !known:
				say("%s: %s: only on lockredis", client, c.name)
			case c.outcome != other.outcome:
				say("%s: %s: %s on lockredis (%s), %s on redis-server (%s)",
					client, c.name, c.outcome, c.reason, other.outcome, other.reason)
			case c.outcome == outcomeFail:
				say("%s: %s: FAIL on both servers: %s", client, c.name, c.reason)
			}
		}
		for _, c := range of(client, redis) {
			if _, known := here[c.name]; !known {
				say("%s: %s: only on redis-server", client, c.name)
			}
		}
		if n := count(of(client, redis), outcomeOK); n < fewestChecks {
			say("%s: %d checks are ok on redis-server, a client needs %d", client, n, fewestChecks)
		}
	}
	return complaints
}

// byName returns the checks of a client by their names, and complains of a name that is
// there twice.
func byName(client string, checks []check, say func(string, ...any)) map[string]check {
	names := map[string]check{}
	for _, c := range of(client, checks) {
		if _, twice := names[c.name]; twice {
			say("%s: two checks have the name %q", client, c.name)
		}
		names[c.name] = c
	}
	return names
}
