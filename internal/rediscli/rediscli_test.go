package rediscli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/rediscli"
	"github.com/lockredis/lockredis/internal/testcert"
)

var update = flag.Bool("update", false, "record testdata/recorded.json from redis-cli 7.0.15")

// run is one run of redis-cli, and what redis-cli 7.0.15 did. In Args, PORT, TLSPORT,
// LOCKED, CLOSED, SOCKET and CA stand for what the test's servers use.
type run struct {
	Args   []string
	Stdin  string `json:",omitempty"`
	Auth   string `json:",omitempty"` // REDISCLI_AUTH
	Stdout string `json:",omitempty"`
	Stderr string `json:",omitempty"`
	Status int    `json:",omitempty"`
}

// onPort makes runs on the open server, one for each line.
func onPort(lines ...string) (runs []run) {
	for _, line := range lines {
		runs = append(runs, run{Args: append([]string{"-p", "PORT"}, strings.Split(line, " ")...)})
	}
	return runs
}

// forms makes runs in every form of output.
func forms(command ...string) (runs []run) {
	for _, form := range [][]string{
		{}, {"-3"}, {"--no-raw"}, {"-3", "--no-raw"}, {"--raw"},
	} {
		args := append([]string{"-p", "PORT"}, form...)
		runs = append(runs, run{Args: append(args, command...)})
	}
	return runs
}

// cases returns the runs without results. A run sees the data of the runs before it.
func cases() []run {
	runs := onPort("ping", "PING hello", "set a 1", "get a", "get none", "incr a", "nonsense x",
		"rpush l 1 2 3", "hset h f 1 g 2", "sadd s x", "zadd z 1.5 m 2 n", "echo ",
		"-e nonsense", "-e get a", "-e -r 3 lpush l", "-r 3 ping", "-r 2 -i 0.01 ping", "-r 0 ping",
		"-r 2 nonsense", "-d , lrange l 0 -1", "-D | -r 2 ping", "-D  ping", "-d  lrange l 0 -1",
		"-D  nonsense", "-n 3 set in3 1", "-n 3 keys *", "-n x ping", "-n 99 ping", "-n 99 -3 ping",
		"-a x ping", "-a x --no-auth-warning ping", "--user u --pass x ping", "-v", "--version",
		"--bogus", "-p", "-u http://x ping", "-u redis:///3 keys *",
		"-u redis://127.0.0.1/3 keys *",
		"-u redis://u:p%40@127.0.0.1 ping", "quit", "-x",
		"-p CLOSED ping", "-s SOCKET.none ping", "-s SOCKET ping", "-2 ping", "-3 ping",
		"unsubscribe", "unsubscribe a b")
	for _, command := range [][]string{
		{"set", "text", "a\x01\n\"\\\x7fb\a\b\r\t"}, {"get", "text"}, {"get", "none"},
		{"incr", "n"}, {"lrange", "l", "0", "-1"}, {"lrange", "none", "0", "-1"},
		{"hgetall", "h"}, {"hgetall", "none"}, {"smembers", "s"}, {"smembers", "none"},
		{"zscore", "z", "m"}, {"zrange", "z", "0", "-1", "withscores"}, {"config", "get", "port*x"},
		{"config", "get", "maxmemory-policy"}, {"nonsense", "a"}, {"cluster", "nodes"},
		{"eval", "return {1,{2,{},{3}},'a',false,{err='X y'}}", "0"},
		{"eval", "redis.setresp(3); return {true,false,{double=3.5}}", "0"},
		{"eval", "redis.setresp(3); return {map={a={map={b={1,2}}}}}", "0"},
		{"eval", "redis.setresp(3); return {{map={a={map={}}}},{set={a=true}}}", "0"},
		{"eval", "local t={} for i=1,12 do t[i]={i,{'a'}} end return t", "0"},
		{"command", "info", "get", "nope"}, {"debug", "sleep", "0"}, {"nonsense", "doctor", "x"},
		{"info", "nope"}, {"hello", "3", "auth"},
	} {
		runs = append(runs, forms(command...)...)
	}
	for _, lines := range []string{
		"ping", "ping\nget a\n\n  \nnonsense\n", "set k 'a\\'b\\n'\nget k\n",
		"set k \"a\\x00\\n\\\"b\"\nget k\n", "get \"unbalanced\nping\n", "ping 'a'b\nping",
		"ping\nquit\nping\n", "EXIT\nping", "3 ping\n0 ping\n-2 ping\n3\n",
		"multi\nset a 1\nget a\nexec\n",
		"select 3\nkeys *\nselect 99\nkeys *\n", "connect 127.0.0.1 PORT\nping\n",
		"connect 127.0.0.1 CLOSED\nping\n", "lrange l 0 -1\nlrange none 0 -1\nget none\n",
		"hello 3\nhgetall h\n", "auth x\nping\n", "ping\r\nping\r\n",
	} {
		runs = append(runs, run{Args: []string{"-p", "PORT"}, Stdin: lines},
			run{Args: []string{"-p", "PORT", "--no-raw"}, Stdin: lines},
			run{Args: []string{"-p", "PORT", "-e", "-D", ";"}, Stdin: lines},
			run{Args: []string{"-p", "CLOSED"}, Stdin: lines})
	}
	for _, args := range [][]string{
		{"ping"}, {"-a", "secret", "ping"}, {"-a", "wrong", "ping"}, {"-3", "ping"},
		{"-a", "secret", "-3", "hget", "a", "b"}, {"--user", "default", "--pass", "secret", "ping"},
		{"--user", "other", "--pass", "secret", "ping"}, {"--user", "default", "ping"},
		{"-u", "redis://default:secret@127.0.0.1:LOCKED", "ping"},
		{"-u", "redis://secret@127.0.0.1:LOCKED/2", "ping"},
		{"-u", "redis://:secret@127.0.0.1:LOCKED", "ping"}, {"-n", "2", "ping"},
	} {
		args = append([]string{"-p", "LOCKED"}, args...)
		runs = append(runs, run{Args: args}, run{Args: args, Auth: "secret"},
			run{Args: args, Auth: "wrong"})
	}
	runs = append(runs, run{Args: []string{"-p", "PORT", "--no-raw"},
		Stdin: "set bytes \"a\\x00\\xe9\"\nget bytes\n"})
	tls := []string{"-p", "TLSPORT", "--tls", "--cacert", "CA"}
	runs = append(runs,
		run{Args: []string{"-p", "PORT", "-x", "set", "fromstdin"}, Stdin: "val\nue\n"},
		run{Args: []string{"-p", "PORT", "-x"}, Stdin: "ping\n"},
		run{Args: []string{"-p", "PORT", "-r", "3"}, Stdin: "incr lines\n2 incr lines\n"},
		run{Args: []string{"-p", "PORT", "-r", "-1"}, Stdin: "incr lines\n"},
		run{Args: []string{"-p", "PORT", "-r", "0"}, Stdin: "incr lines\n"},
		run{Args: []string{"-p", "PORT", "-r", "2", "-x", "echo"}, Stdin: "twice"},
		run{Args: []string{"-p", "PORT", "get", "fromstdin"}},
		run{Args: append(tls, "ping")},
		run{Args: append(tls, "-h", "localhost", "ping")},
		run{Args: []string{"-p", "TLSPORT", "--tls", "--insecure", "ping"}},
		run{Args: []string{"-p", "TLSPORT", "--insecure", "-u", "rediss://127.0.0.1:TLSPORT/1",
			"ping"}})
	return runs
}

// The texts of redis-cli's help are not copied.
func TestHelpIsACommandOfRedisCLIItself(t *testing.T) {
	words := servers(t)
	for _, args := range [][]string{{"help"}, {"HELP", "get"}, {"?"}, {"-r", "2", "help"}} {
		for _, port := range []string{"PORT", "CLOSED"} {
			got := own(run{Args: append([]string{"-p", port}, args...)}, words)
			if strings.Count(got.Stdout, "Usage: redis-cli") != 1 || got.Stderr != "" || got.Status != 0 {
				t.Errorf("%q on %s: %+v", args, port, got)
			}
		}
	}
}

// safeBuffer is a buffer that a test reads while a run writes it.
type safeBuffer struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestASubscriptionPrintsMessagesUntilTheServerEnds(t *testing.T) {
	srv := lockredis.New(lockredis.Config{})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	_, port, err := net.SplitHostPort(srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for _, proto := range []string{"-2", "-3"} {
		var stdout, stderr safeBuffer
		ended := make(chan int)
		go func() {
			ended <- rediscli.Run(rediscli.Process{
				Args: []string{"-p", port, proto, "subscribe", "c"}, Getenv: os.Getenv,
				Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
			})
		}()
		await := func(what string) {
			for deadline := time.Now().Add(30 * time.Second); stdout.String() != what; {
				if time.Now().After(deadline) {
					t.Fatalf("stdout %q, want %q", stdout.String(), what)
				}
				runtime.Gosched()
			}
		}
		ask := func(words ...string) {
			status := rediscli.Run(rediscli.Process{
				Args: append([]string{"-p", port}, words...), Getenv: os.Getenv,
				Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard,
			})
			if status != 0 {
				t.Fatalf("%v: status %d", words, status)
			}
		}
		await("subscribe\nc\n1\n")
		ask("publish", "c", "hi")
		await("subscribe\nc\n1\nmessage\nc\nhi\n")
		ask("client", "kill", "type", "pubsub")
		if status := <-ended; status != 1 {
			t.Errorf("status %d, want 1", status)
		}
		if got := stderr.String(); got != "Error: Server closed the connection\n" {
			t.Errorf("stderr %q", got)
		}
	}
}

// servers starts an open server, one with a password and one with TLS, and returns
// what replaces the words in a run's arguments.
func servers(t *testing.T) *strings.Replacer {
	t.Helper()
	dir := t.TempDir()
	authority, err := testcert.New("authority")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue("localhost")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"ca": authority.PEM, "crt": pair.CertPEM, "key": pair.KeyPEM,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start := func(directives map[string]string) *lockredis.Server {
		srv := lockredis.New(lockredis.Config{Directives: directives})
		if err := srv.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { srv.Close() })
		return srv
	}
	port := func(addr string) string {
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		return port
	}
	socket := filepath.Join(dir, "s")
	open := start(map[string]string{"unixsocket": socket})
	locked := start(map[string]string{"requirepass": "secret"})
	secure := start(map[string]string{"tls-port": "auto", "tls-auth-clients": "no",
		"tls-cert-file": filepath.Join(dir, "crt"), "tls-key-file": filepath.Join(dir, "key")})
	return strings.NewReplacer("TLSPORT", port(secure.TLSAddr()), "PORT", port(open.Addr()),
		"LOCKED", port(locked.Addr()), "CLOSED", "1", "SOCKET", socket,
		"CA", filepath.Join(dir, "ca"))
}

// back is words' inverse for the texts of a run.
func back(text string, words *strings.Replacer) string {
	for _, word := range []string{"TLSPORT", "PORT", "LOCKED", "SOCKET"} {
		text = strings.ReplaceAll(text, words.Replace(word), word)
	}
	return text
}

func TestOutputAndStatusAreThoseOfRedisCLI(t *testing.T) {
	words := servers(t)
	const file = "testdata/recorded.json"
	if *update {
		record(t, file, words)
		words = servers(t)
	}
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var runs []run
	if err := json.Unmarshal(recorded, &runs); err != nil {
		t.Fatal(err)
	}
	if len(runs) != len(cases()) {
		t.Fatalf("%s has %d runs instead of %d: record it again with -update",
			file, len(runs), len(cases()))
	}
	for _, want := range runs {
		got := own(want, words)
		if got.Stdout != want.Stdout || got.Stderr != want.Stderr || got.Status != want.Status {
			t.Errorf("redis-cli %q, stdin %q, REDISCLI_AUTH=%s\n got %d, %q, stderr %q\n"+
				"want %d, %q, stderr %q", want.Args, want.Stdin, want.Auth,
				got.Status, got.Stdout, got.Stderr, want.Status, want.Stdout, want.Stderr)
		}
	}
}

// own runs r with package rediscli.
func own(r run, words *strings.Replacer) run {
	var stdout, stderr bytes.Buffer
	status := rediscli.Run(rediscli.Process{
		Args: replaced(r.Args, words),
		Getenv: func(name string) string {
			if name == "REDISCLI_AUTH" {
				return r.Auth
			}
			return ""
		},
		Stdin:  strings.NewReader(words.Replace(r.Stdin)),
		Stdout: &stdout, Stderr: &stderr,
	})
	r.Stdout, r.Stderr = back(stdout.String(), words), back(stderr.String(), words)
	r.Status = status
	return r
}

func replaced(args []string, words *strings.Replacer) []string {
	full := make([]string, len(args))
	for i, arg := range args {
		full[i] = words.Replace(arg)
	}
	return full
}

// record runs the installed redis-cli and writes file.
func record(t *testing.T, file string, words *strings.Replacer) {
	t.Helper()
	program, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Fatal(err)
	}
	runs := cases()
	for i := range runs {
		r := &runs[i]
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(program, replaced(r.Args, words)...)
		cmd.Env = os.Environ()
		if r.Auth != "" {
			cmd.Env = append(cmd.Env, "REDISCLI_AUTH="+r.Auth)
		}
		cmd.Stdin = strings.NewReader(words.Replace(r.Stdin))
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		var failed *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		r.Stdout, r.Stderr = back(stdout.String(), words), back(stderr.String(), words)
		r.Status = cmd.ProcessState.ExitCode()
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	out.WriteString("[\n")
	for i, r := range runs {
		if i > 0 {
			out.Truncate(out.Len() - 1)
			out.WriteString(",\n")
		}
		if err := encoder.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	out.WriteString("]\n")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
