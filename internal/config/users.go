package config

import (
	"fmt"
	"slices"
	"strings"
)

// UserLine is a user line: a user with its rules. The engine decides whether the rules are
// right, because it knows the commands.
type UserLine struct {
	Name  string
	Rules []string // the words after the name
	line  position
}

// Errorf returns the error that the program ends with when it cannot carry out the line.
// The error has Redis's form.
func (u UserLine) Errorf(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if u.line.number == 0 {
		return fmt.Errorf("directive user %s: %s", u.Name, text)
	}
	at := u.line
	if slices.ContainsFunc(u.Rules, isPassword) {
		at.line = u.redacted()
	}
	return &FatalError{at: at, Reason: text}
}

// isPassword reports whether a rule holds a password in clear text.
func isPassword(rule string) bool {
	return strings.HasPrefix(rule, ">") || strings.HasPrefix(rule, "<")
}

// redacted returns the line without passwords.
func (u UserLine) redacted() string {
	words := []string{"user", Quoted(u.Name)}
	for _, rule := range u.Rules {
		if isPassword(rule) {
			rule = rule[:1] + "(redacted)"
		}
		words = append(words, Quoted(rule))
	}
	return strings.Join(words, " ")
}

// userLines returns the lines of the present users, for Rewrite. It returns nil when
// Rewrite does not know them.
func (c *Config) userLines() *[]string {
	if c.UserState == nil {
		return nil
	}
	var lines []string
	for _, words := range c.UserState() {
		for i, w := range words {
			words[i] = Quoted(w)
		}
		lines = append(lines, "user "+strings.Join(words, " "))
	}
	return &lines
}
