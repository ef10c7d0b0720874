package acl

import (
	"slices"
	"strings"
)

// permission is what a user may do with a key: a set of bits.
type permission uint8

const (
	reads permission = 1 << iota
	writes
)

// keyPattern is one rule about keys.
type keyPattern struct {
	allows  permission
	pattern string
}

// selector is a set of rights. A user has a root selector and any number of others. A
// command needs one selector that allows all of it.
type selector struct {
	commands commandSet
	// future is set by +@all and cleared by -@all. Such a selector also allows commands
	// that a later version may have, so its description subtracts from +@all.
	future bool
	// firstArgs holds the first arguments with which a command is allowed that is not in
	// commands, by the command's name. nil: none.
	firstArgs map[string][]string

	allKeys bool
	keys    []keyPattern

	allChannels bool
	channels    []string
}

// newSelector returns a selector that allows no command and no key. channels says whether
// it allows all channels (acl-pubsub-default).
func newSelector(c *Catalog, channels bool) *selector {
	return &selector{commands: c.newSet(), allChannels: channels}
}

// clone returns a copy that shares nothing with s.
func (s *selector) clone() *selector {
	n := *s
	n.commands = slices.Clone(s.commands)
	n.keys, n.channels = slices.Clone(s.keys), slices.Clone(s.channels)
	n.firstArgs = nil
	for name, args := range s.firstArgs {
		n.addFirstArgs(name, args...)
	}
	return &n
}

// apply carries out a rule about commands, keys or channels.
func (s *selector) apply(c *Catalog, rule string) error {
	switch lower(rule) {
	case "":
		return nil
	case "allkeys", "~*":
		s.allKeys, s.keys = true, nil
		return nil
	case "resetkeys":
		s.allKeys, s.keys = false, nil
		return nil
	case "allchannels", "&*":
		s.allChannels, s.channels = true, nil
		return nil
	case "resetchannels":
		s.allChannels, s.channels = false, nil
		return nil
	case "allcommands", "+@all":
		s.setAll(c, true)
		return nil
	case "nocommands", "-@all":
		s.setAll(c, false)
		return nil
	}
	switch rest := rule[1:]; {
	case rule[0] == '~' || rule[0] == '%':
		return s.addKeys(rule)
	case rule[0] == '&':
		return s.addChannels(rest)
	case rule[0] == '+' && strings.HasPrefix(rest, "@"):
		return s.setCategory(c, rest[1:], true)
	case rule[0] == '-' && strings.HasPrefix(rest, "@"):
		return s.setCategory(c, rest[1:], false)
	case rule[0] == '+':
		return s.allow(c, rest)
	case rule[0] == '-':
		cmd := c.Lookup(rest)
		if cmd == nil {
			return ErrUnknown
		}
		s.set(cmd, false)
		return nil
	}
	return ErrSyntax
}

// setAll carries out +@all or -@all.
func (s *selector) setAll(c *Catalog, allowed bool) {
	c.fill(s.commands, allowed)
	s.future, s.firstArgs = allowed, nil
}

// set allows or forbids a command with its subcommands.
func (s *selector) set(cmd *Command, allowed bool) {
	s.commands.putAll(cmd, allowed)
	delete(s.firstArgs, cmd.Name)
}

// setCategory allows or forbids the commands of a category.
func (s *selector) setCategory(c *Catalog, name string, allowed bool) error {
	category := categoryOf(name)
	if category < 0 {
		return ErrUnknown
	}
	for _, cmd := range c.all {
		if cmd.In(category) {
			s.set(cmd, allowed)
		}
	}
	return nil
}

// allow carries out +name, +name|subcommand, or +name|argument for a command without
// subcommands.
func (s *selector) allow(c *Catalog, name string) error {
	bar := strings.LastIndexByte(name, '|')
	if bar < 0 {
		cmd := c.Lookup(name)
		if cmd == nil {
			return ErrUnknown
		}
		s.set(cmd, true)
		return nil
	}
	cmd, arg := c.Lookup(name[:bar]), name[bar+1:]
	switch {
	case cmd == nil:
		return ErrUnknown
	case cmd.parent != nil:
		return ErrFirstArg
	case arg == "":
		return ErrSyntax
	case len(cmd.subs) == 0:
		if hasSpace(arg) {
			// Differs from Redis: a file could not hold such an argument.
			return ErrSyntax
		}
		s.addFirstArgs(cmd.Name, arg)
		return nil
	}
	sub := c.Lookup(name)
	if sub == nil {
		return ErrUnknown
	}
	s.set(sub, true)
	return nil
}

// addFirstArgs allows first arguments of a command. Case counts only in descriptions.
func (s *selector) addFirstArgs(name string, args ...string) {
	if s.firstArgs == nil {
		s.firstArgs = map[string][]string{}
	}
	for _, arg := range args {
		same := func(known string) bool { return lower(known) == lower(arg) }
		if !slices.ContainsFunc(s.firstArgs[name], same) {
			s.firstArgs[name] = append(s.firstArgs[name], arg)
		}
	}
}

// addKeys carries out ~pattern, %R~pattern and the like.
func (s *selector) addKeys(rule string) error {
	if s.allKeys {
		return ErrAllKeys
	}
	allows, pattern, ok := parseKeyRule(rule)
	if !ok || hasSpace(pattern) {
		return ErrSyntax
	}
	for i := range s.keys {
		if s.keys[i].pattern == pattern {
			s.keys[i].allows |= allows
			return nil
		}
	}
	s.keys = append(s.keys, keyPattern{allows, pattern})
	return nil
}

// parseKeyRule splits a rule about keys into permissions and pattern. A rule with % and
// without ~ has an empty pattern, as in Redis.
func parseKeyRule(rule string) (allows permission, pattern string, ok bool) {
	if rule[0] == '~' {
		return reads | writes, rule[1:], true
	}
	for i := 1; i < len(rule); i++ {
		switch c := rule[i] | 0x20; {
		case c == 'r' && allows&reads == 0:
			allows |= reads
		case c == 'w' && allows&writes == 0:
			allows |= writes
		case rule[i] == '~' && allows != 0:
			return allows, rule[i+1:], true
		default:
			return 0, "", false
		}
	}
	return allows, "", allows != 0
}

// addChannels carries out &pattern.
func (s *selector) addChannels(pattern string) error {
	switch {
	case s.allChannels:
		return ErrAllChannels
	case hasSpace(pattern):
		return ErrSyntax
	case !slices.Contains(s.channels, pattern):
		s.channels = append(s.channels, pattern)
	}
	return nil
}

// hasSpace reports whether a pattern or user name has a space or a NUL, with which it
// cannot be written into a file.
func hasSpace(s string) bool { return strings.ContainsAny(s, " \t\n\v\f\r\x00") }
