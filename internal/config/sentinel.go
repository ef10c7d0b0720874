package config

import (
	"fmt"
	"slices"
	"strings"
)

// SentinelPort is the port of a Sentinel that names none.
const SentinelPort = "26379"

// errNotSentinel refuses a sentinel line in the configuration of a server.
const errNotSentinel = reason("sentinel directive while not in sentinel mode")

// SentinelLine is a line of a configuration that begins with "sentinel". Words are the words
// behind it, the first in lower case.
type SentinelLine struct {
	Words []string
	at    position
}

// Errorf returns the error that the program ends with when it cannot carry out the line. The
// error has Redis's form.
func (l SentinelLine) Errorf(format string, args ...any) error {
	return &FatalError{at: l.at, Reason: fmt.Sprintf(format, args...)}
}

// sentinelOptions are the first words of sentinel lines. A word that is none of them, behind
// the option --sentinel, names the configuration file.
var sentinelOptions = strings.Fields("monitor down-after-milliseconds failover-timeout " +
	"parallel-syncs notification-script client-reconfig-script auth-pass auth-user " +
	"current-epoch myid config-epoch leader-epoch known-slave known-replica known-sentinel " +
	"rename-command announce-ip announce-port deny-scripts-reconfig sentinel-user " +
	"sentinel-pass resolve-hostnames announce-hostnames master-reboot-down-after-period")

// NewSentinel returns a Config with the defaults of a Sentinel.
func NewSentinel() *Config {
	c := New()
	c.becomeSentinel()
	return c
}

// becomeSentinel changes the defaults to a Sentinel's, as redis-sentinel does.
func (c *Config) becomeSentinel() {
	c.Sentinel = true
	c.put(c.find("port"), SentinelPort)
	c.put(c.find("protected-mode"), "no")
}

// asksForSentinel reports whether the arguments ask for a Sentinel. rest are the arguments
// without a --sentinel in front of a configuration file.
func asksForSentinel(args []string) (rest []string, asks bool) {
	if !slices.Contains(args, "--sentinel") {
		return args, false
	}
	if args[0] != "--sentinel" || len(args) == 1 || strings.HasPrefix(args[1], "-") {
		return args, true
	}
	if slices.Contains(sentinelOptions, strings.ToLower(args[1])) {
		return args, true
	}
	return args[1:], true
}

// sentinel keeps a sentinel line. The line that the option --sentinel makes has no other words.
func (c *Config) sentinel(words []string, at position) error {
	if len(words) == 1 {
		return nil
	}
	if !c.Sentinel {
		return errNotSentinel
	}
	rest := slices.Clone(words[1:])
	rest[0] = strings.ToLower(rest[0])
	c.SentinelLines = append(c.SentinelLines, SentinelLine{rest, at})
	return nil
}

// SentinelStateLine is a line that Rewrite writes for a Sentinel.
type SentinelStateLine struct {
	Text  string
	Usual bool // it says what is usual: it only takes the place of an old line
}

// sentinelState is what Rewrite knows about sentinel lines: the lines to write, by option.
type sentinelState struct {
	order []SentinelStateLine            // the lines that are not written yet, in order
	byKey map[string][]SentinelStateLine // the same by option
}

// newSentinelState returns the lines that the Sentinel wants to keep, nil for a server.
func (c *Config) newSentinelState() *sentinelState {
	if c.SentinelState == nil {
		return nil
	}
	st := &sentinelState{order: c.SentinelState(), byKey: map[string][]SentinelStateLine{}}
	for _, line := range st.order {
		key := sentinelKey(lineWords(line.Text))
		st.byKey[key] = append(st.byKey[key], line)
	}
	return st
}

// sentinelKey returns the option of a sentinel line.
func sentinelKey(words []string) string {
	if len(words) < 2 {
		return ""
	}
	key := strings.ToLower(words[1])
	if key == "known-slave" {
		return "known-replica"
	}
	return key
}

// replace returns the line that takes the place of an old sentinel line. ok is false when the
// old line goes.
func (st *sentinelState) replace(words []string) (line string, ok bool) {
	key := sentinelKey(words)
	if len(st.byKey[key]) == 0 {
		return "", false
	}
	next := st.byKey[key][0]
	st.byKey[key] = st.byKey[key][1:]
	i := slices.Index(st.order, next)
	st.order = slices.Delete(st.order, i, i+1)
	return next.Text, true
}

// rest returns the lines that no old line was replaced by.
func (st *sentinelState) rest() (lines []string) {
	for _, line := range st.order {
		if !line.Usual {
			lines = append(lines, line.Text)
		}
	}
	return lines
}
