package acl

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
)

// User is a user with its rights. A nil *User may run everything: a session that belongs to
// no client has it.
type User struct {
	Name string

	on, noPassword bool
	payload        payload
	passwords      []string    // SHA-256, in lower-case hex
	selectors      []*selector // the root selector first
	openChannels   bool        // new selectors allow all channels: acl-pubsub-default

	// restricted is false when the user may run every command on every key and channel.
	// It is kept up to date by settle.
	restricted bool
	catalog    *Catalog
}

// payload is what a user's description says about the payloads of RESTORE.
type payload uint8

const (
	payloadUnsaid payload = iota
	payloadSkipped
	payloadSanitized
)

// newUser returns a user that is off and has no rights.
func newUser(c *Catalog, name string, openChannels bool) *User {
	u := &User{Name: name, catalog: c, openChannels: openChannels}
	u.selectors = []*selector{newSelector(c, openChannels)}
	u.settle()
	return u
}

// settle finds out whether the user is restricted.
func (u *User) settle() {
	u.restricted = !slices.ContainsFunc(u.selectors, func(s *selector) bool {
		return s.allKeys && s.allChannels && u.catalog.complete(s.commands)
	})
}

// Restricted reports whether commands of the user need a check. It is false for nil.
func (u *User) Restricted() bool { return u != nil && u.restricted }

// NoPassword reports whether the user needs no password.
func (u *User) NoPassword() bool { return u.noPassword }

// clone returns a copy under another name.
func (u *User) clone(name string) *User {
	n := *u
	n.Name = name
	n.passwords = slices.Clone(u.passwords)
	n.selectors = make([]*selector, len(u.selectors))
	for i, s := range u.selectors {
		n.selectors[i] = s.clone()
	}
	return &n
}

// become gives u the rights of from, which is not used any more. u keeps its name.
func (u *User) become(from *User) {
	name := u.Name
	*u = *from
	u.Name = name
	u.settle()
}

// apply carries out one rule. A selector in parentheses is one rule.
func (u *User) apply(rule string) error {
	switch lower(rule) {
	case "":
		return nil
	case "on":
		u.on = true
	case "off":
		u.on = false
	case "nopass":
		u.noPassword, u.passwords = true, nil
	case "resetpass":
		u.noPassword, u.passwords = false, nil
	case "skip-sanitize-payload":
		u.payload = payloadSkipped
	case "sanitize-payload":
		u.payload = payloadSanitized
	case "clearselectors":
		u.selectors = u.selectors[:1]
	case "reset":
		u.reset()
	default:
		return u.applySigned(rule)
	}
	return nil
}

// applySigned carries out a rule that begins with a sign.
func (u *User) applySigned(rule string) error {
	switch rest := rule[1:]; {
	case rule[0] == '>':
		u.addPassword(hash(rest))
	case rule[0] == '#':
		if !isHash(rest) {
			return ErrHash
		}
		u.addPassword(rest)
	case rule[0] == '<':
		return u.removePassword(hash(rest))
	case rule[0] == '!':
		if !isHash(rest) {
			return ErrHash
		}
		return u.removePassword(rest)
	case rule[0] == '(' && strings.HasSuffix(rule, ")"):
		return u.addSelector(rule[1 : len(rule)-1])
	default:
		return u.selectors[0].apply(u.catalog, rule)
	}
	return nil
}

// reset takes all rights and passwords away.
func (u *User) reset() {
	u.on, u.noPassword, u.passwords = false, false, nil
	u.payload = payloadSanitized
	u.selectors = []*selector{newSelector(u.catalog, u.openChannels)}
}

func (u *User) addSelector(rules string) error {
	s := newSelector(u.catalog, u.openChannels)
	for rule := range strings.SplitSeq(rules, " ") {
		if err := s.apply(u.catalog, rule); err != nil {
			return err
		}
	}
	u.selectors = append(u.selectors, s)
	return nil
}

func (u *User) addPassword(hash string) {
	if !slices.Contains(u.passwords, hash) {
		u.passwords = append(u.passwords, hash)
	}
	u.noPassword = false
}

func (u *User) removePassword(hash string) error {
	i := slices.Index(u.passwords, hash)
	if i < 0 {
		return ErrNoPassword
	}
	u.passwords = slices.Delete(u.passwords, i, i+1)
	return nil
}

// accepts reports whether the user can log in with a password. All hashes are compared,
// each in constant time, so that the time does not depend on the password.
func (u *User) accepts(password []byte) bool {
	sum := sha256.Sum256(password)
	got := []byte(hex.EncodeToString(sum[:]))
	same := 0
	for _, hash := range u.passwords {
		same |= subtle.ConstantTimeCompare([]byte(hash), got)
	}
	return u.on && (u.noPassword || same == 1)
}

func hash(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

func isHash(s string) bool {
	bad := func(c rune) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'f') }
	return len(s) == 2*sha256.Size && !strings.ContainsFunc(s, bad)
}
