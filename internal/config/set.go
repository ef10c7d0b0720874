package config

import (
	"fmt"
	"strings"
)

// Set changes directives as CONFIG SET does: all or none. allowProtected says
// whether the client may change protected ones. The error's text is what the
// client is sent, without the leading class.
func (c *Config) Set(pairs []Pair, allowProtected bool) error {
	rows, err := settable(pairs, allowProtected)
	if err != nil {
		return err
	}
	old := make([]string, len(rows))
	for i, d := range rows {
		old[i] = c.values[d.name]
	}
	changed := make([]bool, len(rows))
	for i, d := range rows {
		value, err := d.check(input{words: d.split(pairs[i].Value), old: old[i], dir: c.Dir})
		if err == nil {
			err = c.canChange(d, value)
		}
		if err != nil {
			c.restore(rows[:i], old)
			_, name := find(pairs[i].Name)
			return setError(name, err)
		}
		changed[i] = value != old[i] || d.has(volatile)
		c.put(d.name, value)
	}
	return c.apply(rows, pairs, old, changed)
}

// settable finds the directives and checks that they may be set at all.
func settable(pairs []Pair, allowProtected bool) ([]*directive, error) {
	var rows []*directive
	for _, p := range pairs {
		d, name := find(p.Name)
		if d == nil {
			return nil, reason("Unknown option or number of arguments for CONFIG SET - '" + p.Name + "'")
		}
		if d.has(immutable) {
			return nil, setError(p.Name, reason("can't set immutable config"))
		}
		if d.has(protected) && !allowProtected {
			return nil, setError(p.Name, reason("can't set protected config"))
		}
		for i := range rows {
			if _, before := find(pairs[i].Name); before == name {
				return nil, setError(p.Name, reason("duplicate parameter"))
			}
		}
		rows = append(rows, d)
	}
	return rows, nil
}

// canChange refuses what may stand in a file, but not be changed to: what only a
// hook could carry out and none is there for, and what the build of Redis that we
// answer as cannot do.
func (c *Config) canChange(d *directive, value string) error {
	if value == c.values[d.name] || c.hooks[d.name] != nil {
		return nil
	}
	switch d.name {
	case "port", "tls-port", "bind":
		return reason(noRebind)
	case "activedefrag":
		if value == "yes" {
			return errDefrag
		}
	}
	return nil
}

func (c *Config) apply(rows []*directive, pairs []Pair, old []string, changed []bool) error {
	for i, d := range rows {
		hook := c.hooks[d.name]
		if hook == nil || !changed[i] {
			continue
		}
		if err := hook(); err != nil {
			c.restore(rows, old)
			c.reapply(rows[:i], changed)
			_, name := find(pairs[i].Name)
			return setError(name, err)
		}
	}
	return nil
}

// reapply lets the hooks see the values that were put back. They were in force
// before, so an error of theirs has no one to go to.
func (c *Config) reapply(rows []*directive, changed []bool) {
	for i, d := range rows {
		if hook := c.hooks[d.name]; hook != nil && changed[i] {
			_ = hook()
		}
	}
}

func (c *Config) restore(rows []*directive, old []string) {
	for i, d := range rows {
		c.put(d.name, old[i])
	}
}

func setError(name string, err error) error {
	return reason(fmt.Sprintf("CONFIG SET failed (possibly related to argument '%s') - %v", name, err))
}

// split returns the words of a value given as one argument.
func (d *directive) split(value string) []string {
	if !d.has(multi) {
		return []string{value}
	}
	if value == "" {
		return nil
	}
	return strings.Split(value, " ")
}

// Load sets a directive as a line of a configuration file does, immutable ones
// too: "include", "rename-command" and the directives that Redis 7.0 ignores
// are among them. The error's text is Redis's. As the last value of a directive
// counts, what lockredis refuses is left to Check.
func (c *Config) Load(name string, words ...string) error {
	return c.load(append([]string{strings.ToLower(name)}, words...), position{})
}

func (c *Config) load(words []string, at position) error {
	d, _ := find(words[0])
	if d == nil {
		return c.loadOther(words, at)
	}
	args := words[1:]
	switch {
	case len(args) == 0, len(args) > 1 && !d.has(multi):
		return errWords
	case args[0] != "" && len(args) == 1:
		args = d.split(args[0])
	}
	value, err := d.parse(input{words: args, old: c.values[d.name], again: c.loaded[d.name], dir: c.Dir})
	if err != nil {
		return err
	}
	c.loaded[d.name] = true
	c.weigh(d, value, words, at)
	c.put(d.name, value)
	return nil
}

// loadOther carries out the directives that have no value.
func (c *Config) loadOther(words []string, at position) error {
	args := words[1:]
	switch name := words[0]; {
	case name == "include" && len(args) == 1:
		return c.include(args[0], at.depth+1)
	case name == "rename-command" && len(args) == 2:
		c.Renames = append(c.Renames, Rename{From: args[0], To: args[1], line: at})
		return nil
	case name == "user" && len(args) >= 1:
		c.doubts = append(c.doubts, doubt{at, words, nil})
		return nil
	case name == "loadmodule" && len(args) >= 1:
		return reason(noModules)
	case name == "sentinel":
		return reason(noSentinel)
	case ignored(name) && len(args) == 1:
		return nil
	}
	return reason("Bad directive or wrong number of arguments")
}

// ignored are directives of older versions that Redis 7.0 passes over.
func ignored(name string) bool {
	return name == "list-max-ziplist-entries" || name == "list-max-ziplist-value" || name == "lua-replicate-commands"
}
