package acl

import (
	"slices"
	"strings"
)

// String describes the user as ACL LIST does: "user alice on nopass ~* &* +@all".
func (u *User) String() string {
	words := append([]string{"user", u.Name}, u.Flags()...)
	for _, hash := range u.passwords {
		words = append(words, "#"+hash)
	}
	for i, s := range u.selectors {
		text := s.describe(u.catalog)
		if i > 0 {
			text = "(" + text + ")"
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

// Flags returns the user's flags in Redis's order.
func (u *User) Flags() []string {
	flags := []string{"off"}
	if u.on {
		flags[0] = "on"
	}
	if u.noPassword {
		flags = append(flags, "nopass")
	}
	switch u.payload {
	case payloadSkipped:
		flags = append(flags, "skip-sanitize-payload")
	case payloadSanitized:
		flags = append(flags, "sanitize-payload")
	}
	return flags
}

// Passwords returns the hashes of the passwords.
func (u *User) Passwords() []string { return u.passwords }

// Rights are the rules of a selector, as ACL GETUSER shows them.
type Rights struct{ Commands, Keys, Channels string }

// Rights returns the rules of the user's selectors. The root selector is the first.
func (u *User) Rights() []Rights {
	all := make([]Rights, len(u.selectors))
	for i, s := range u.selectors {
		all[i] = Rights{
			s.describeCommands(u.catalog), s.describeKeys(), s.describeChannels(),
		}
	}
	return all
}

// describe returns the rules that make the selector from an empty one.
func (s *selector) describe(c *Catalog) string {
	var rules []string
	if keys := s.describeKeys(); keys != "" {
		rules = append(rules, keys)
	}
	if !s.allChannels {
		rules = append(rules, "resetchannels")
	}
	if channels := s.describeChannels(); channels != "" {
		rules = append(rules, channels)
	}
	return strings.Join(append(rules, s.describeCommands(c)), " ")
}

func (s *selector) describeKeys() string {
	if s.allKeys {
		return "~*"
	}
	rules := make([]string, len(s.keys))
	for i, k := range s.keys {
		sign := "~"
		switch k.allows {
		case reads:
			sign = "%R~"
		case writes:
			sign = "%W~"
		}
		rules[i] = sign + k.pattern
	}
	return strings.Join(rules, " ")
}

func (s *selector) describeChannels() string {
	if s.allChannels {
		return "&*"
	}
	rules := make([]string, len(s.channels))
	for i, pattern := range s.channels {
		rules[i] = "&" + pattern
	}
	return strings.Join(rules, " ")
}

// describeCommands finds rules that make the selector's set of commands: all or none, the
// categories that fit best, and single commands for the rest.
func (s *selector) describeCommands(c *Catalog) string {
	rules, sign := []string{"-@all"}, "+"
	made := newSelector(c, false) // what the rules make
	if s.future {
		rules, sign = []string{"+@all"}, "-"
		made.setAll(c, true)
	}
	left := s.clone() // without the categories that are described already
	described := make([]bool, len(Categories))
	for {
		best := left.bestCategory(c, described)
		if best < 0 {
			break
		}
		described[best] = true
		rules = append(rules, sign+"@"+Categories[best])
		_ = made.setCategory(c, Categories[best], !s.future)
		_ = left.setCategory(c, Categories[best], s.future)
	}
	for _, cmd := range c.all {
		rules = append(rules, s.describeCommand(cmd, made)...)
	}
	return strings.Join(rules, " ")
}

// bestCategory returns the position of the category whose commands differ least from the
// selector: most of them must be described by it. Of two such categories the one that
// describes more is better. It returns -1 when there is none.
func (s *selector) bestCategory(c *Catalog, described []bool) int {
	best, leastWrong, mostRight := -1, len(c.all)+1, 0
	for i := range Categories {
		if described[i] {
			continue
		}
		right, wrong := 0, 0
		for _, cmd := range c.all {
			if cmd.In(i) {
				if s.commands.has(cmd) != s.future {
					right++
				} else {
					wrong++
				}
			}
		}
		if right > wrong && (wrong < leastWrong || wrong == leastWrong && right > mostRight) {
			best, leastWrong, mostRight = i, wrong, right
		}
	}
	return best
}

// describeCommand returns the rules for one command, after the rules before it have made
// a set of commands. It adds to that set what its rules add.
func (s *selector) describeCommand(cmd *Command, made *selector) (rules []string) {
	allowed := s.commands.has(cmd)
	if allowed != made.commands.has(cmd) {
		sign := "-"
		if allowed {
			sign = "+"
		}
		rules = append(rules, sign+cmd.Name)
		made.set(cmd, allowed)
	}
	if !allowed {
		for _, arg := range s.firstArgs[cmd.Name] {
			rules = append(rules, "+"+cmd.Name+"|"+arg)
		}
	}
	return slices.Clip(rules)
}
