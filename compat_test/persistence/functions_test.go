package persistence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockredis/lockredis"
)

// libraries are source texts of libraries, a short text and a text that files compress.
var libraries = []string{
	"#!lua name=short\nredis.register_function('one', function() return 1 end)",
	"#!lua name=long\n-- " + strings.Repeat("a comment ", 2000) +
		"\nlocal n = 1 redis.register_function('next', function() n = n + 1 return n end)",
}

// hasLibraries checks that both libraries are there and new.
func hasLibraries(t *testing.T, c *client) {
	t.Helper()
	if got := c.do("FCALL", "one", "0") + c.do("FCALL", "next", "0"); got != "12" {
		t.Errorf("%s: the functions answer %s", c.name, got)
	}
	for _, code := range libraries {
		name, _, _ := strings.Cut(strings.TrimPrefix(code, "#!lua name="), "\n")
		list := c.ask("FUNCTION", "LIST", "LIBRARYNAME", name, "WITHCODE")
		if len(list.Elems) != 1 || string(list.Elems[0].Elems[7].Str) != code {
			t.Errorf("%s: FUNCTION LIST of %s is %.100s", c.name, name, list)
		}
	}
}

func TestFunctionsAreInFilesAndPayloads(t *testing.T) {
	redis := startOracle(t)
	dir := t.TempDir()
	_, lock := startInDir(t, dir, nil)
	for _, c := range []*client{redis, lock} {
		for _, code := range libraries {
			c.do("FUNCTION", "LOAD", code)
		}
		c.do("SET", "k", "v")
		c.do("FCALL", "next", "0")
		c.do("SAVE")
	}
	_, reader := startInDir(t, string(redis.ask("CONFIG", "GET", "dir").Elems[1].Str), nil)
	hasLibraries(t, reader)
	hasLibraries(t, startOracle(t, "--dir", dir))
	for _, pair := range [][2]*client{{redis, lock}, {lock, redis}} {
		payload := string(pair[0].ask("FUNCTION", "DUMP").Str)
		pair[1].do("FUNCTION", "RESTORE", payload, "FLUSH")
		hasLibraries(t, pair[1])
	}
}

func TestDebugReloadReadsFunctions(t *testing.T) {
	_, lock := startInDir(t, t.TempDir(), nil)
	redis := startOracle(t)
	for _, c := range []*client{redis, lock} {
		for _, code := range libraries {
			c.do("FUNCTION", "LOAD", code)
		}
		c.do("FCALL", "next", "0")
		c.do("DEBUG", "RELOAD")
		hasLibraries(t, c)
		c.do("DEBUG", "RELOAD", "NOSAVE", "NOFLUSH", "MERGE")
		hasLibraries(t, c)
		c.do("FUNCTION", "FLUSH")
		c.do("DEBUG", "RELOAD", "NOSAVE")
		hasLibraries(t, c)
	}
	got := lock.ask("DEBUG", "RELOAD", "NOSAVE", "NOFLUSH")
	if got.String() != "-ERR Error trying to load the RDB dump" {
		t.Errorf("RELOAD NOSAVE NOFLUSH with equal libraries: %s", got)
	}
}

func TestAFileWithABrokenLibraryEndsTheStart(t *testing.T) {
	dir := t.TempDir()
	_, c := startInDir(t, dir, map[string]string{"rdbcompression": "no", "rdbchecksum": "no"})
	c.do("FUNCTION", "LOAD", libraries[0])
	c.do("SAVE")
	path := filepath.Join(dir, "dump.rdb")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"#!lua", "name=", "redis.register", "end)"} {
		bad := strings.Replace(string(good), part, strings.Repeat("x", len(part)), 1)
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		srv := lockredis.New(lockredis.Config{Directives: map[string]string{"dir": dir}})
		if err := srv.Start(); err == nil {
			t.Errorf("a library without %s is accepted", part)
			srv.Close()
		} else if !strings.Contains(err.Error(), "library of functions") {
			t.Errorf("a library without %s: %v", part, err)
		}
	}
}
