package luaexec

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/resp"
)

// A fact file holds scripts and the replies of redis-server 7.0.15:
//
//	> script, with \n and \\ as escapes
//	< the reply as Go quotes it
//
// Each script runs on an empty database. Files named resp3… have the replies to
// RESP3 clients. LUAEXEC_RECORD=1 go test -run Facts ./luaexec records the replies
// again from redis-server.

type fact struct {
	line           int
	script, answer string
}

func unescapeFact(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(s)
}

func readFacts(t *testing.T, path string) []fact {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var facts []fact
	for i, line := range strings.Split(string(data), "\n") {
		switch {
		case strings.HasPrefix(line, "> "):
			facts = append(facts, fact{line: i + 1, script: unescapeFact(line[2:])})
		case strings.HasPrefix(line, "< "):
			facts[len(facts)-1].answer = line[2:]
		}
	}
	return facts
}

func quoteReply(b []byte) string {
	q := strconv.Quote(string(b))
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

func protocolOf(path string) int {
	if strings.HasPrefix(filepath.Base(path), "resp3") {
		return 3
	}
	return 2
}

func TestRecordedFactsHold(t *testing.T) {
	files, err := filepath.Glob("testdata/*.facts")
	if err != nil || len(files) == 0 {
		t.Fatal("no fact files", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if os.Getenv("LUAEXEC_RECORD") != "" {
				recordFacts(t, path)
			}
			r := New(Options{Version: "7.0.15"})
			for _, f := range readFacts(t, path) {
				got := quoteReply(eval(r, f.script, protocolOf(path), newFakeServer()))
				if !equalExceptLuaText(got, f.answer) {
					t.Errorf("%s:%d: %s\n got %.400s\nwant %.400s",
						path, f.line, f.script, got, f.answer)
				}
			}
		})
	}
}

// variable is the name of a variable in Lua's message about a value of a wrong type.
var variable = regexp.MustCompile(`(local|global|field|upvalue|method) '[^']*' \((a \w+ value)\)`)

// equalExceptLuaText compares two replies. It ignores what may differ according to
// docs/differences.md: the names of variables, and the text between "user_script:N: "
// and " script: " of a C stack overflow.
func equalExceptLuaText(got, want string) bool {
	if want = variable.ReplaceAllString(want, "$2"); got == want {
		return true
	}
	g, gTail, ok1 := strings.Cut(got, " script: ")
	w, wTail, ok2 := strings.Cut(want, " script: ")
	if !ok1 || !ok2 || gTail != wTail {
		return false
	}
	if !strings.HasSuffix(w, "C stack overflow") {
		return false
	}
	return g[:strings.Index(g, ": ")] == w[:strings.Index(w, ": ")]
}

// eval returns EVAL's reply in RESP version proto.
func eval(r *Runtime, script string, proto int, h Host, args ...string) []byte {
	s, failure, ok := r.Load([]byte(script))
	if !ok {
		return resp.Append(nil, failure, proto)
	}
	argv := make([][]byte, len(args))
	for i, a := range args {
		argv[i] = []byte(a)
	}
	if f, ok := h.(*fakeServer); ok {
		f.readOnly = s.Flags().NoWrites
	}
	return resp.Append(nil, r.Run(s, nil, argv, h), proto)
}

func recordFacts(t *testing.T, path string) {
	o := startOracle(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		if strings.HasPrefix(line, "<") {
			continue
		}
		fmt.Fprintln(&out, line)
		if script, ok := strings.CutPrefix(line, "> "); ok {
			fmt.Fprintln(&out, "<", quoteReply(o.eval(t, unescapeFact(script), protocolOf(path))))
		}
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// oracle is the address of a redis-server that runs as long as the test.
type oracle struct{ addr string }

func startOracle(t *testing.T) *oracle { return &oracle{redistest.Start(t).Addr} }

// eval runs a script on an empty database and returns the bytes of the reply.
func (o *oracle) eval(t *testing.T, script string, proto int) []byte {
	c, err := wire.Dial(o.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetTimeout(20 * time.Second)
	var v wire.Value
	for _, args := range [][]string{
		{"FLUSHALL", "ASYNC"}, {"HELLO", strconv.Itoa(proto)}, {"EVAL", script, "0"},
	} {
		if v, err = c.Do(args...); err != nil {
			t.Fatal(err)
		}
	}
	return v.Raw
}
