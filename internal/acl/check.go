package acl

import (
	"slices"

	"github.com/lockredis/lockredis/internal/glob"
)

// Line is a command line as rules see it.
type Line struct {
	Command *Command
	Args    [][]byte // with the command's name
	Keys    []Key
	// Channels are the channels that the command publishes or subscribes to.
	Channels []Channel
}

// Key is an argument that is a key.
type Key struct {
	At            int // index in Args
	Reads, Writes bool
}

// Channel is an argument that is a channel.
type Channel struct {
	At      int  // index in Args
	Pattern bool // of PSUBSCRIBE: it must be one of the user's patterns
}

// Reason is why a command or a login is refused.
type Reason uint8

// The reasons. A higher reason is nearer to success, except for Auth.
const (
	Allowed Reason = iota
	NoCommand
	NoKey
	BadAuth
	NoChannel
)

// String returns the name of the reason in ACL LOG.
func (r Reason) String() string {
	return [...]string{"", "command", "key", "auth", "channel"}[r]
}

// Check decides about a command line. It tries the selectors in order. If none allows the
// line, the reason comes from the selector that was nearest to allowing it. at is the
// index of the refused argument. The user is not nil.
func (u *User) Check(line *Line) (reason Reason, at int) {
	reason = NoCommand
	for _, s := range u.selectors {
		r, i := s.check(line)
		if r == Allowed {
			return Allowed, 0
		}
		if r > reason || r == reason && i > at {
			reason, at = r, i
		}
	}
	return reason, at
}

func (s *selector) check(line *Line) (reason Reason, at int) {
	if !s.allowsCommand(line) {
		return NoCommand, 0
	}
	if !s.allKeys {
		for _, k := range line.Keys {
			if !s.allowsKey(line.Args[k.At], k) {
				return NoKey, k.At
			}
		}
	}
	if !s.allChannels {
		for _, ch := range line.Channels {
			if !allowsChannel(s.channels, string(line.Args[ch.At]), ch.Pattern) {
				return NoChannel, ch.At
			}
		}
	}
	return Allowed, 0
}

func (s *selector) allowsCommand(line *Line) bool {
	cmd := line.Command
	if cmd.noAuth || s.commands.has(cmd) {
		return true
	}
	return len(line.Args) > 1 && s.firstArgs != nil &&
		slices.ContainsFunc(s.firstArgs[cmd.Name], func(arg string) bool {
			return lower(arg) == lower(string(line.Args[1]))
		})
}

func (s *selector) allowsKey(key []byte, k Key) bool {
	var needs permission
	if k.Reads {
		needs |= reads
	}
	if k.Writes {
		needs |= writes
	}
	return slices.ContainsFunc(s.keys, func(p keyPattern) bool {
		return p.allows&needs == needs && glob.Match(p.pattern, string(key), false)
	})
}

// allowsChannel reports whether one of the patterns allows a channel. A pattern of
// PSUBSCRIBE must be among them itself.
func allowsChannel(patterns []string, channel string, isPattern bool) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return isPattern && p == channel || !isPattern && glob.Match(p, channel, false)
	})
}

// CheckReadingAnyKey reports whether a selector allows the command and the reading of
// every key: SORT reads keys that are not among its arguments. The user is not nil.
func (u *User) CheckReadingAnyKey(line *Line) bool {
	return slices.ContainsFunc(u.selectors, func(s *selector) bool {
		all := s.allKeys || slices.ContainsFunc(s.keys, func(p keyPattern) bool {
			return p.allows&reads != 0 && p.pattern == "*"
		})
		reason, _ := s.check(line)
		return all && reason == Allowed
	})
}

// Channels are the channels that a user may use.
type Channels struct {
	all      bool
	patterns []string
}

// Allow reports whether a subscription is allowed: to a channel, or with isPattern to a
// pattern.
func (c *Channels) Allow(name string, isPattern bool) bool {
	return c.all || allowsChannel(c.patterns, name, isPattern)
}

// channels returns the channels of all selectors together.
func (u *User) channels() *Channels {
	c := &Channels{}
	for _, s := range u.selectors {
		c.all = c.all || s.allChannels
		c.patterns = append(c.patterns, s.channels...)
	}
	return c
}

// fewerChannels returns the channels that next allows if u may have more than that. It
// returns nil when every pattern of u is one of next's.
func (u *User) fewerChannels(next *User) *Channels {
	old, allowed := u.channels(), next.channels()
	missing := func(p string) bool { return !slices.Contains(allowed.patterns, p) }
	if allowed.all || !old.all && !slices.ContainsFunc(old.patterns, missing) {
		return nil
	}
	return allowed
}
