package config

import (
	"fmt"
	"strconv"
	"strings"
)

// change is one pair of a CONFIG SET.
type change struct {
	*setting
	name    string // as the client spelled it, in lower case
	given   string
	old     string
	changed bool // hooks run for it
}

// Set changes directives as CONFIG SET does: all or none. allowProtected says
// whether the client may change protected directives. The error's text is Redis's
// reply without its prefix ERR.
func (c *Config) Set(pairs []Pair, allowProtected bool) error {
	changes, err := c.settable(pairs, allowProtected)
	if err != nil {
		return err
	}
	for i := range changes {
		ch := &changes[i]
		value, err := c.checkChange(ch)
		if err != nil {
			c.undo(changes[:i])
			return setError(ch.name, err)
		}
		ch.changed = value != ch.old || ch.has(volatile)
		c.put(ch.setting, value)
	}
	return c.runHooks(changes)
}

// settable finds the directives and checks that CONFIG SET may change them. A client may set an
// immutable directive that is lockredis's own to its present value. So a client that knows which
// directives of Redis are immutable can set all that CONFIG GET * shows.
func (c *Config) settable(pairs []Pair, allowProtected bool) ([]change, error) {
	changes := make([]change, 0, len(pairs))
	for _, p := range pairs {
		s := c.find(p.Name)
		switch {
		case s == nil:
			return nil, reason("Unknown option or number of arguments for CONFIG SET - '" + cString(p.Name) + "'")
		case s.has(immutable) && !(s.has(own) && p.Value == s.shown(s.value)):
			return nil, setError(p.Name, reason("can't set immutable config"))
		case s.has(protected) && !allowProtected:
			return nil, setError(p.Name, reason("can't set protected config"))
		}
		name := strings.ToLower(p.Name)
		for _, before := range changes {
			if before.name == name { // Redis takes a name beside its alias
				return nil, setError(p.Name, reason("duplicate parameter"))
			}
		}
		changes = append(changes, change{setting: s, name: name, given: p.Value, old: s.value})
	}
	return changes, nil
}

// checkChange returns the value to keep for a pair of CONFIG SET.
func (c *Config) checkChange(ch *change) (string, error) {
	value, err := ch.check(c.input(ch.setting, ch.split(ch.given)))
	if err == nil && ch.canSet != nil && value != ch.value {
		err = ch.canSet(value)
	}
	return value, err
}

// input returns what the parser of a setting reads.
func (c *Config) input(s *setting, words []string) input {
	return input{name: s.name, words: words, old: s.value, dir: c.Dir, value: c.Get}
}

// undo puts the old values back.
func (c *Config) undo(changes []change) {
	for _, ch := range changes {
		c.put(ch.setting, ch.old)
	}
}

func setError(name string, err error) error {
	return reason(fmt.Sprintf("CONFIG SET failed (possibly related to argument '%s') - %v",
		cString(name), err))
}

// Load sets a directive as a line of a configuration file does. It also sets
// immutable directives, and carries out lines that have no value, such as
// "rename-command". The error's text is Redis's. Load leaves what lockredis
// refuses to Check, because only the last value of a directive counts. It runs no
// hooks.
func (c *Config) Load(name string, words ...string) error {
	return c.load(append([]string{strings.ToLower(name)}, words...), position{})
}

func (c *Config) load(words []string, at position) error {
	s := c.find(words[0])
	if s == nil {
		return c.runStatement(words, at)
	}
	args := words[1:]
	switch {
	case len(args) == 0 && s.has(own), len(args) != 1 && !s.has(multi):
		return errWords
	case len(args) == 1 && args[0] != "":
		args = s.split(args[0])
	}
	in := c.input(s, args)
	in.again, in.loaded = s.loaded && !c.included, true
	value, err := s.parse.check(in)
	if err != nil {
		return err
	}
	s.loaded = true
	c.noteDoubt(s.directive, value, words, at)
	c.put(s, value)
	return nil
}

// Follow stores the server that this one follows, for CONFIG GET and CONFIG REWRITE. "" as the host
// means that it follows none.
func (c *Config) Follow(host string, port int) {
	value := ""
	if host != "" {
		value = host + " " + strconv.Itoa(port)
	}
	c.put(c.find("replicaof"), value)
}
