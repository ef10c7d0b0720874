package survey

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/lockredis/lockredis/compat_test/vector"
	"github.com/lockredis/lockredis/compat_test/wire"
)

// judged are the counters of INFO that both servers must count alike. The classes of
// errorstats come besides.
var judged = []string{"keyspace_hits", "keyspace_misses", "expired_keys", "evicted_keys",
	"expired_time_cap_reached_count", "total_error_replies", "unexpected_error_replies"}

// counts returns the judged counters of a server, one in a line.
func (s *server) counts() string {
	s.t.Helper()
	var lines []string
	for line := range strings.SplitSeq(string(s.do("INFO", "stats", "errorstats").Str), "\r\n") {
		name, _, _ := strings.Cut(line, ":")
		if slices.Contains(judged, name) || strings.HasPrefix(name, "errorstat_") {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// vectorFiles returns the files of compat_test/testdata that need no server of their own. It
// leaves out those named busy, whose errors depend on when a script is slow: one of them ends
// the server.
func vectorFiles(t *testing.T) (files []string) {
	t.Helper()
	root := filepath.Join("..", "testdata")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Dir(path) == root || e.Name() == "busy" {
			return err
		}
		text, err := os.ReadFile(path)
		if !strings.HasPrefix(string(text), "server ") && !strings.Contains(string(text), "\nserver ") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestCommandsCountHitsMissesAndErrorsAsInRedis(t *testing.T) {
	groups := map[string][]string{}
	for _, path := range vectorFiles(t) {
		group := filepath.Base(filepath.Dir(path))
		groups[group] = append(groups[group], path)
	}
	for group, paths := range groups {
		t.Run(group, func(t *testing.T) {
			t.Parallel() // blocked commands take most of the time
			var servers []*server
			commands := 0
			for _, path := range paths {
				if runners(servers) == nil { // none yet, or the last file has set a password
					oracle, target := start(t, "--enable-debug-command", "yes")
					servers = []*server{oracle, target}
				}
				commands += compareCounts(t, path, servers)
			}
			t.Logf("%d commands", commands)
		})
	}
}

// runners empties the servers and returns a Runner for each, or nil if that fails.
func runners(servers []*server) (all []*vector.Runner) {
	for _, s := range servers {
		r, err := vector.NewRunner(s.addr, wire.DefaultTimeout)
		if err != nil || r.Flush() != nil {
			return nil
		}
		all = append(all, r)
	}
	return all
}

// compareCounts plays a file of vectors on both servers and compares the counters after each
// directive. It returns how many commands there were.
func compareCounts(t *testing.T, path string, servers []*server) (commands int) {
	t.Helper()
	players := runners(servers)
	for i, s := range servers {
		defer players[i].Close()
		s.do("CONFIG", "RESETSTAT")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	datadriven.RunTestFromString(t, string(text), func(t *testing.T, d *datadriven.TestData) string {
		commands += strings.Count(d.Input, "\n") + 1
		for _, r := range players {
			_, _ = r.Run(d) // replies are TestVectors' task
		}
		diff := ""
		if d.Cmd != "gone" && d.Cmd != "until" { // they ask until the reply is another
			if diff = countsDiffer(servers[0], servers[1]); diff == "" {
				return d.Expected
			}
			t.Errorf("%s: %s: %s\n%s\n%s", path, d.Pos, d.Cmd, d.Input, diff)
		}
		for _, s := range servers {
			s.do("CONFIG", "RESETSTAT")
		}
		return d.Expected
	})
	return commands
}

// countsDiffer returns how the counters of two servers differ, "" if they do not. A key expires
// a little later on one of them, so it waits for a while.
func countsDiffer(oracle, target *server) string {
	deadline := time.Now().Add(3 * time.Second)
	for {
		want, got := oracle.counts(), target.counts()
		if want == got {
			return ""
		}
		if time.Now().After(deadline) {
			return difference(want, got)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// difference returns the lines that only one of two texts has.
func difference(want, got string) string {
	var lines []string
	wanted, have := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, line := range wanted {
		if !slices.Contains(have, line) {
			lines = append(lines, "want "+line)
		}
	}
	for _, line := range have {
		if !slices.Contains(wanted, line) {
			lines = append(lines, "got  "+line)
		}
	}
	return strings.Join(lines, "\n")
}
