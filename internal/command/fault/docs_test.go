package fault_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/rediscli"
	"github.com/lockredis/lockredis/resp"
)

// Each example of docs/faults.md is played on a server of its own. What a command in the background
// prints comes last.
func TestTheExamplesOfThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	examples := regexp.MustCompile("(?ms)^```\n(\\$ .*?)^```$")
	for _, m := range examples.FindAllStringSubmatch(strings.ReplaceAll(string(page), "\r\n", "\n"), -1) {
		played++
		play(t, m[1])
	}
	if played < 8 {
		t.Errorf("the page has only %d examples", played)
	}
}

// The faults that docs/from-testcontainers.md names in the place of toxics exist.
func TestTheFaultsInThePlaceOfToxicsAreAccepted(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "from-testcontainers.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, map[string]string{"enable-lock-commands": "yes"})
	defer s.srv.Close()
	added := 0
	for _, m := range regexp.MustCompile("`(FAULT\\.ADD [^`…]+)`").FindAllSubmatch(page, -1) {
		added++
		inside := backdoor.Open(s.srv)
		inside.Call(0, args(string(m[1])), func(r resp.Reply) {
			if r.IsError() {
				t.Errorf("%s: %s", m[1], resp.Append(nil, r, 2))
			}
		})
	}
	if added < 8 {
		t.Errorf("the page has only %d faults", added)
	}
}

func play(t *testing.T, block string) {
	s := open(t, map[string]string{"enable-lock-commands": "yes"})
	defer s.srv.Close()
	_, port, err := net.SplitHostPort(s.srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	cli := func(line string) string {
		words := []string{"-p", port, "--no-raw"}
		for _, word := range args(line) {
			words = append(words, string(word))
		}
		var out bytes.Buffer
		rediscli.Run(rediscli.Process{Args: words, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			Getenv: func(string) string { return "" }})
		return out.String()
	}
	var got strings.Builder
	background := make(chan string)
	running := 0
	for line := range strings.Lines(block) {
		command, is := strings.CutPrefix(strings.TrimSpace(line), "$ redis-cli ")
		if !is {
			continue
		}
		got.WriteString(line)
		if command, is = strings.CutSuffix(command, " &"); is {
			running++
			go func() { background <- cli(command) }()
			s.holds(1, 1)
			continue
		}
		got.WriteString(cli(command))
	}
	for range running {
		got.WriteString(<-background)
	}
	if got.String() != block {
		t.Errorf("the page has\n%s\nand the server says\n%s", block, got.String())
	}
}
