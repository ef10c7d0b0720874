package lualib

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fact file holds expressions and their values on redis-server 7.0.15:
//
//	> an expression
//	! statements that end with a return
//	< the values, as render writes them
//
// Lines that begin with # are comments. A file runs in one state, from top to bottom.
// LUALIB_RECORD=1 go test -run Facts records the values again from redis-server.

type fact struct {
	line           int
	code, expected string
}

func readFacts(t *testing.T, path string) []fact {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var facts []fact
	for i, line := range strings.Split(string(data), "\n") {
		switch {
		case isCode(line):
			facts = append(facts, fact{line: i + 1, code: line})
		case strings.HasPrefix(line, "<"):
			facts[len(facts)-1].expected = strings.TrimPrefix(line[1:], " ")
		}
	}
	return facts
}

func isCode(line string) bool {
	return strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "! ")
}

// chunk is the code as a Lua chunk, without its mark.
func (f fact) chunk() string {
	if f.code[0] == '>' {
		return "return " + f.code[2:]
	}
	return f.code[2:]
}

func factFiles(t *testing.T) []string {
	files, err := filepath.Glob("testdata/*.facts")
	if err != nil || len(files) == 0 {
		t.Fatal("no fact files", err)
	}
	return files
}

func TestRecordedFactsHold(t *testing.T) {
	for _, path := range factFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			L := newState(t)
			for _, f := range readFacts(t, path) {
				if got := evalHere(L, f.chunk()); got != f.expected {
					t.Errorf("%s:%d: %s\n got %.300s\nwant %.300s",
						path, f.line, f.code, got, f.expected)
				}
			}
		})
	}
}

func TestRecordedFactsHoldOnRedisServer(t *testing.T) {
	for _, path := range factFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			o := startOracle(t)
			if os.Getenv("LUALIB_RECORD") != "" {
				record(t, o, path)
				return
			}
			for _, f := range readFacts(t, path) {
				if got := o.eval(f.chunk()); got != f.expected {
					t.Errorf("%s:%d: %s\nredis %.300s\n file %.300s",
						path, f.line, f.code, got, f.expected)
				}
			}
		})
	}
}

func record(t *testing.T, o *oracle, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		if strings.HasPrefix(line, "<") {
			continue
		}
		out = append(out, line)
		if isCode(line) {
			out = append(out, strings.TrimRight("< "+o.eval(fact{code: line}.chunk()), " "))
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(out, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
