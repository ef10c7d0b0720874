package compat

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/lockredis/lockredis/compat_test/vector"
	"github.com/lockredis/lockredis/internal/redistest"
)

// replyTimeout is how long the reply to a vector may take before it counts as missing.
const replyTimeout = 30 * time.Second

// TestVectorsReplayAsRecorded plays every file of testdata. The environment variable
// LOCKREDIS_VECTORS chooses the server: empty means an in-process lockredis, "record"
// (together with -rewrite) and "recheck" mean redis-server, and "addr=HOST:PORT" the
// server at that address.
func TestVectorsReplayAsRecorded(t *testing.T) {
	start := target(t)
	files := vectorFiles(t)
	for _, path := range files {
		name := strings.TrimPrefix(filepath.ToSlash(path), "testdata/")
		t.Run(name, func(t *testing.T) {
			if start.shared == "" {
				t.Parallel()
			}
			replay(t, path, start)
		})
	}
}

// server is the server that vectors are played against.
type server struct {
	shared string // address of one server for all files, or empty
	redis  bool   // a fresh redis-server for each file, in place of lockredis
}

func target(t *testing.T) server {
	t.Helper()
	mode := os.Getenv("LOCKREDIS_VECTORS")
	rewrite := flag.Lookup("rewrite").Value.String() == "true"
	if rewrite != (mode == "record") {
		t.Fatal("recording needs both LOCKREDIS_VECTORS=record and -rewrite")
	}
	switch {
	case mode == "record" || mode == "recheck":
		if _, err := redistest.Program(); err != nil { // a skipped recording would look done
			t.Fatal(err)
		}
		return server{redis: true}
	case strings.HasPrefix(mode, "addr="):
		return server{shared: strings.TrimPrefix(mode, "addr=")}
	case mode != "":
		t.Fatalf("unknown LOCKREDIS_VECTORS=%s", mode)
	}
	return server{}
}

// start returns the address of the server for one file with these directives ("--name",
// "value", …). It skips the test when a shared server cannot have them.
func (s server) start(t *testing.T, directives []string) string {
	t.Helper()
	switch {
	case s.shared != "" && len(directives) > 0:
		t.Skip("needs a server started with " + strings.Join(directives, " "))
	case s.shared != "":
		return s.shared
	case s.redis && len(directives) > 1 && slices.Equal(directives[:2], emulateValkey):
		return redistest.Run(t, redistest.Command{Program: redistest.FindValkey(t), Args: directives[2:]}).Addr
	case s.redis && slices.Contains(directives, "--cluster-enabled"):
		return redistest.StartNode(t, directives...).Addr
	case s.redis:
		return redistest.Start(t, directives...).Addr
	}
	return startLockredis(t, directives)
}

// emulateValkey begins the server directive of a file that Valkey is the oracle of.
var emulateValkey = []string{"--emulate", "valkey-9.1"}

func vectorFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir("testdata", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.Count(filepath.ToSlash(path), "/") == 2 {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// replay plays one file and reports every wrong reply, not only the first. Recording does
// not change the file when a directive fails.
func replay(t *testing.T, path string, s server) {
	runner, err := vector.NewRunner(s.start(t, directives(t, path)), replyTimeout)
	if err != nil {
		t.Fatal(err)
	}
	if s.shared != "" {
		if err := runner.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	var wrong []string
	over := false // a directive failed, so that later replies would only time out
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "server" || over {
			return d.Expected
		}
		steps, err := runner.Run(d)
		if err != nil && d.Rewrite {
			t.Fatal(err)
		}
		if err != nil {
			wrong = append(wrong, err.Error()+" (the rest of the file was not played)")
			over = true
		}
		if d.Rewrite {
			return record(t, d, steps)
		}
		wrong = append(wrong, differences(d, steps)...)
		return d.Expected
	})
	if err := runner.Close(); err != nil {
		wrong = append(wrong, err.Error())
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// directives returns the arguments of the file's server directive.
func directives(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "server "); ok {
			return strings.Fields(rest)
		}
	}
	return nil
}

// record returns the output to write into the file. A missing or malformed reply is a
// mistake in the file.
func record(t *testing.T, d *datadriven.TestData, steps []vector.Step) string {
	t.Helper()
	var b strings.Builder
	for _, s := range steps {
		if strings.HasPrefix(s.Output, "(timeout)") || strings.HasPrefix(s.Output, "(malformed") {
			t.Fatalf("%s: %s: %s", d.Pos, s.Command, s.Output)
		}
		b.WriteString(s.Output + "\n")
	}
	return b.String()
}

// differences compares the replies to a directive one by one with the file.
func differences(d *datadriven.TestData, steps []vector.Step) []string {
	var out []string
	want := replies(d.Expected)
	for i, s := range steps {
		switch {
		case i >= len(want):
			out = append(out, fmt.Sprintf("%s: %s\n  a reply that the file does not have: %s", d.Pos,
				s.Command, s.Output))
		case want[i] != s.Output:
			out = append(out, fmt.Sprintf("%s: %s\n  want %s\n  got  %s", d.Pos, s.Command, want[i],
				s.Output))
		}
	}
	for i := len(steps); i < len(want); i++ {
		out = append(out, fmt.Sprintf("%s: no reply, the file has %s", d.Pos, want[i]))
	}
	return out
}

// replies divides expected text into replies. Each begins at the left edge of a line.
func replies(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, " ") && len(out) > 0 {
			out[len(out)-1] += "\n" + line
			continue
		}
		out = append(out, line)
	}
	return out
}
