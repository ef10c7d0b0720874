package acl

import (
	"errors"
	"fmt"
	"strings"
)

// File is the text of an ACL file.
func (us *Users) File() string {
	var b strings.Builder
	for _, line := range us.Lines() {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// LoadError lists the mistakes of an ACL file, in Redis's words.
type LoadError string

// Error returns the list.
func (e LoadError) Error() string { return string(e) }

// Load replaces all users by the users of an ACL file. name is the file's name in errors. The
// default user becomes the file's, or a new default user. Load returns the users that are
// gone: all but the default user, because the file's users are new ones. After an error,
// which is a LoadError, nothing has changed.
func (us *Users) Load(name, text string) (gone []*User, err error) {
	users := map[string]*User{}
	var mistakes strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if line = strings.Trim(line, " \t\r\n"); line == "" {
			continue
		}
		if u, mistake := us.parseLine(users, line, i+1, fmt.Sprintf("%s:%d", name, i+1)); u != nil {
			users[u.Name] = u
		} else {
			mistakes.WriteString(mistake)
		}
	}
	if mistakes.Len() > 0 {
		return nil, LoadError(mistakes.String() + "WARNING: ACL errors detected, " +
			"no change to the previously active ACL rules was performed")
	}
	def := users[DefaultName]
	if def == nil {
		def = newDefault(us.catalog)
	}
	us.def.become(def)
	users[DefaultName] = us.def
	for name, u := range us.byName {
		if name != DefaultName {
			gone = append(gone, u)
		}
	}
	us.byName = users
	us.settle()
	return gone, nil
}

// parseLine returns the user of a line. It returns nil and the mistakes if there are any.
// at is the file's name and the line's number.
func (us *Users) parseLine(
	users map[string]*User, line string, number int, at string,
) (u *User, mistakes string) {
	words := strings.Split(line, " ")
	switch {
	case words[0] != "user" || len(words) < 2:
		return nil, at + " should start with user keyword followed by the username. "
	case hasSpace(words[1]):
		return nil, fmt.Sprintf("'%s: username '%s' contains invalid characters. ", at, words[1]) // sic: one quote
	case users[words[1]] != nil:
		return nil, fmt.Sprintf("WARNING: Duplicate user '%s' found on line %d. ", words[1], number)
	}
	rules, err := MergeSelectors(words[2:])
	if err != nil {
		return nil, at + ": Unmatched parenthesis in selector definition."
	}
	u = newUser(us.catalog, words[1], us.OpenChannels)
	faulty := false
	for _, rule := range rules {
		rule = strings.Trim(rule, "\t\r\n")
		switch err := u.apply(rule); {
		case err == nil:
		case errors.Is(err, ErrUnknown):
			mistakes += fmt.Sprintf("%s: Error in applying operation '%s': %v. ", at, rule, err)
		case !faulty:
			mistakes += fmt.Sprintf("%s: %v. ", at, err)
			faulty = true
		}
	}
	u.settle()
	if mistakes != "" {
		users[u.Name] = u // its name is taken
		return nil, mistakes
	}
	return u, ""
}
