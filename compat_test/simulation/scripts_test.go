package simulation

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// script is a Lua script of rlock.
type script struct {
	body, sha  string
	keys, args int  // how many its head names
	least      int  // a call may have so many arguments instead: without those in brackets
	more       bool // further arguments may follow
}

func newScript(body string) script {
	sum := sha1.Sum([]byte(body))
	s := script{body: body, sha: hex.EncodeToString(sum[:])}
	s.keys = len(headOf(body, "-- KEYS:"))
	args := headOf(body, "-- ARGV:")
	s.args, s.least = len(args), len(args)
	if i := slices.IndexFunc(args, func(a string) bool { return a[0] == '[' }); i >= 0 {
		s.least = i
	}
	if s.args > 0 && strings.HasSuffix(args[s.args-1], "...") {
		s.args, s.least, s.more = s.args-1, s.args-1, true
	}
	return s
}

// headOf returns the words after prefix in a script's head.
func headOf(body, prefix string) []string {
	_, after, _ := strings.Cut(body, "\n"+prefix)
	line, _, _ := strings.Cut(after, "\n")
	return strings.Fields(line)
}

// fits reports whether a call has as many keys and arguments as the script's head.
func (s script) fits(c *call) bool {
	return len(c.keys) == s.keys && (len(c.args) == s.args || len(c.args) == s.least ||
		s.more && len(c.args) > s.args)
}

// rlockScripts reads rlock's scripts, by the names of their files. So the simulation
// runs what rlock sends. It cannot import their package, which is internal to rlock.
func rlockScripts(dir string) (map[string]script, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.lua"))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("read scripts: %s has none", dir)
	}
	if err != nil {
		return nil, err
	}
	scripts := map[string]script{}
	for _, path := range paths {
		body, err := expand(dir, path)
		if err != nil {
			return nil, err
		}
		scripts[strings.TrimSuffix(filepath.Base(path), ".lua")] = newScript(body)
	}
	return scripts, nil
}

// expand returns the text of a file of dir, with the files that it includes.
func expand(dir, path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		name, ok := strings.CutPrefix(line, "-- include: ")
		if !ok {
			b.WriteString(line)
			continue
		}
		included, err := expand(dir, filepath.Join(dir, "fragments", strings.TrimSpace(name)+".lua"))
		if err != nil {
			return "", err
		}
		b.WriteString(included)
	}
	return b.String(), nil
}
