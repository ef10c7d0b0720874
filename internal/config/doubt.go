package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// doubt is a line that asks for what lockredis does not have. Whether that
// stands is known when everything has been read: the last value of a directive
// counts.
type doubt struct {
	at    position
	words []string
	row   *directive // nil: a user
}

// weigh notes or drops the doubt about a directive that a line has set.
func (c *Config) weigh(d *directive, value string, words []string, at position) {
	c.doubts = slices.DeleteFunc(c.doubts, func(old doubt) bool { return old.row == d })
	if d.refuses(value) {
		c.doubts = append(c.doubts, doubt{at, words, d})
	}
}

// Check refuses what lockredis cannot do, naming the line that asks for it. It
// is called when everything is loaded; Parse does it itself.
func (c *Config) Check() error {
	for _, d := range c.doubts {
		switch {
		case d.row != nil:
			return d.refusal(d.row.refuse)
		case !c.isDefaultUser(d.words[1:]):
			return d.refusal(noACL)
		}
	}
	return nil
}

func (d doubt) refusal(text string) error {
	if d.at.number == 0 {
		return fmt.Errorf("directive %s: %s", strings.Join(d.words, " "), text)
	}
	return &FatalError{d.at, text}
}

// isDefaultUser reports whether a user directive says what requirepass says
// anyway. CONFIG REWRITE of Redis 7 leaves such a line in the file.
func (c *Config) isDefaultUser(words []string) bool {
	password := "nopass"
	if c.RequirePass != "" {
		sum := sha256.Sum256([]byte(c.RequirePass))
		password = "#" + hex.EncodeToString(sum[:])
	}
	missing := map[string]bool{"on": true, password: true, "keys": true, "channels": true, "commands": true}
	if words[0] != "default" {
		return false
	}
	for _, word := range words[1:] {
		switch word = strings.ToLower(word); word {
		case "~*", "allkeys":
			word = "keys"
		case "&*", "allchannels":
			word = "channels"
		case "+@all", "allcommands":
			word = "commands"
		case "sanitize-payload": // there is no RESTORE
			continue
		case "on", password:
		default:
			return false
		}
		delete(missing, word)
	}
	return len(missing) == 0
}
