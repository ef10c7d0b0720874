package acl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
)

// DefaultName is the name of the user that a new connection has.
const DefaultName = "default"

// Users are the users of a server.
type Users struct {
	// OpenChannels makes new users and selectors allow all channels (acl-pubsub-default).
	OpenChannels bool

	catalog *Catalog
	byName  map[string]*User
	def     *User // the default user: always the same pointer

	authRequired atomic.Bool
}

// NewUsers returns users with the default user only, who may do everything and needs no
// password.
func NewUsers(c *Catalog) *Users {
	us := &Users{catalog: c, def: newDefault(c)}
	us.byName = map[string]*User{DefaultName: us.def}
	return us
}

func newDefault(c *Catalog) *User {
	u := newUser(c, DefaultName, false)
	for _, rule := range []string{"on", "nopass", "~*", "&*", "+@all"} {
		_ = u.apply(rule)
	}
	u.settle()
	return u
}

// Catalog returns the commands that rules can name.
func (us *Users) Catalog() *Catalog { return us.catalog }

// Default returns the default user.
func (us *Users) Default() *User { return us.def }

// AuthRequired reports whether a new connection must log in: the default user needs a
// password or is off. It may be called without the engine lock.
func (us *Users) AuthRequired() bool { return us.authRequired.Load() }

// settle is called after each change of the default user.
func (us *Users) settle() { us.authRequired.Store(!us.def.on || !us.def.noPassword) }

// Get returns the user of that name, nil when there is none.
func (us *Users) Get(name string) *User { return us.byName[name] }

// Names returns the names in order.
func (us *Users) Names() []string { return slices.Sorted(maps.Keys(us.byName)) }

// Lines describes all users, in the order of their names.
func (us *Users) Lines() []string {
	names := us.Names()
	for i, name := range names {
		names[i] = us.byName[name].String()
	}
	return names
}

// Authenticate returns the user that can log in with the password, nil when it cannot.
func (us *Users) Authenticate(name string, password []byte) *User {
	u := us.byName[name]
	if u == nil {
		u = &User{passwords: []string{hash("")}} // an unknown name takes as long as a known one
	}
	if !u.accepts(password) {
		return nil
	}
	return u
}

// SetDefaultPassword gives the default user one password, or with "" none. requirepass
// does so.
func (us *Users) SetDefaultPassword(password string) {
	_ = us.def.apply("resetpass")
	rule := ">" + password
	if password == "" {
		rule = "nopass"
	}
	_ = us.def.apply(rule)
	us.settle()
}

// RuleError is a rule that is refused.
type RuleError struct {
	Rule string
	Err  error // one of the errors of this package
}

// Error returns the rule and the reason.
func (e *RuleError) Error() string { return fmt.Sprintf("rule '%s': %v", e.Shown(), e.Err) }

// Shown returns the rule for a message: a password is hidden.
func (e *RuleError) Shown() string {
	if e.Rule != "" && strings.Contains("><#!", e.Rule[:1]) {
		return e.Rule[:1] + "(redacted)"
	}
	return e.Rule
}

// Unwrap returns the reason.
func (e *RuleError) Unwrap() error { return e.Err }

// ErrUnmatched is the error of a selector without its closing parenthesis.
const ErrUnmatched = Error("Unmatched parenthesis in acl selector")

// MergeSelectors joins the words of each selector: "(+get", "~x)" become one rule. As in
// Redis, a word that opens a selector inside an open selector replaces it. The error of a
// selector that is not closed is a *RuleError with its first word.
func MergeSelectors(words []string) ([]string, error) {
	var rules []string
	open, first := "", "" // an open selector, and its first word; "": none is open
	for _, word := range words {
		switch {
		case strings.HasPrefix(word, "(") && !strings.HasSuffix(word, ")"):
			open, first = word, word
		case open == "":
			rules = append(rules, word)
		case strings.HasSuffix(word, ")"):
			rules = append(rules, open+" "+word)
			open = ""
		default:
			open += " " + word
		}
	}
	if open != "" {
		return nil, &RuleError{first, ErrUnmatched}
	}
	return rules, nil
}

// ValidName reports whether a user can have the name.
func ValidName(name string) bool { return !hasSpace(name) }

// Set carries out rules for a user, all or none. It makes the user if there is none. lost
// is not nil when the user may use fewer channels than before: subscribers to others are
// cut off. The error is a *RuleError.
func (us *Users) Set(name string, words []string) (lost *Channels, err error) {
	rules, err := MergeSelectors(words)
	if err != nil {
		return nil, err
	}
	u := us.byName[name]
	next := newUser(us.catalog, name, us.OpenChannels)
	if u != nil {
		next = u.clone(name)
		next.openChannels = us.OpenChannels
	}
	if err := next.applyAll(rules); err != nil {
		return nil, err
	}
	if u == nil {
		next.settle()
		us.byName[name] = next
		return nil, nil
	}
	lost = u.fewerChannels(next)
	u.become(next)
	us.settle()
	return lost, nil
}

// applyAll carries out rules up to the first mistake.
func (u *User) applyAll(rules []string) error {
	for _, rule := range rules {
		if err := u.apply(rule); err != nil {
			return &RuleError{rule, err}
		}
	}
	return nil
}

// Delete removes a user and returns it. It returns nil when there is none. The default
// user cannot be removed.
func (us *Users) Delete(name string) *User {
	u := us.byName[name]
	if u == us.def {
		return nil
	}
	delete(us.byName, name)
	return u
}

// Define makes the user of a line in the configuration, or gives the default user new
// rights. It is called at the start, once for each user. The error is a *RuleError.
func (us *Users) Define(name string, words []string) error {
	u := newUser(us.catalog, name, us.OpenChannels)
	if name == DefaultName {
		u.reset()
	}
	rules, err := MergeSelectors(words)
	if err == nil {
		err = u.applyAll(rules)
	}
	if err != nil {
		return err
	}
	u.settle()
	if name == DefaultName {
		us.def.become(u)
		us.settle()
	} else {
		us.byName[name] = u
	}
	return nil
}

// Disabled reports whether the user is off.
func (u *User) Disabled() bool { return !u.on }
