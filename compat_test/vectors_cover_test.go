package compat

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// TestEveryCommandHasAVector gets the list of commands from lockredis and looks for a
// line in the vectors that begins with each.
func TestEveryCommandHasAVector(t *testing.T) {
	used := map[string]bool{}
	for _, path := range vectorFiles(t) {
		commandsOf(t, path, used)
	}
	conn, err := wire.Dial(startLockredis(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	list, err := conn.Do("COMMAND", "LIST")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Elems {
		if name := string(e.Str); !used[name] {
			t.Errorf("no vector of %s", name)
		}
	}
}

// commandsOf adds the first words of a file's lines: "set", and "client|kill" for the
// first two.
func commandsOf(t *testing.T, path string, used map[string]bool) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		words := strings.Fields(strings.ToLower(s.Text()))
		if len(words) > 0 {
			used[words[0]] = true
		}
		if len(words) > 1 {
			used[words[0]+"|"+words[1]] = true
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestRecorderRefusesLockredis(t *testing.T) {
	err := redistest.CheckVersion(startLockredis(t, nil))
	if err == nil || !strings.Contains(err.Error(), "is lockredis") {
		t.Errorf("got %v", err)
	}
}
