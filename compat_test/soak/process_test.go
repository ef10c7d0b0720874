package soak

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// directives are the server's directives on which the load relies.
var directives = []string{
	"--port", "auto", "--exit-with-parent", "yes", "--notify-keyspace-events", "Ex",
	"--busy-reply-threshold", "300",
	"--client-output-buffer-limit", "normal 32mb 8mb 5 pubsub 8mb 2mb 5",
	"--client-query-buffer-limit", "8mb", "--maxclients", "1000",
}

// process is a running server.
type process struct {
	cmd    *exec.Cmd
	addr   string
	output string // the file for standard output and standard error
}

// start runs the server until the test's end. It returns when the server accepts
// connections.
func start(t *testing.T, path string) *process {
	t.Helper()
	dir := t.TempDir()
	port := filepath.Join(dir, "port")
	p := &process{output: filepath.Join(dir, "output")}
	out, err := os.Create(p.output)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p.cmd = exec.Command(path, append([]string{"--port-file", port}, directives...)...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, out, out
	p.cmd.Env = append(os.Environ(), "GOTRACEBACK=all")
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill() }) // an error means that the process has already ended
	await(t, time.Minute, func() string {
		text, err := os.ReadFile(port)
		p.addr = "127.0.0.1:" + strings.TrimSpace(string(text))
		if err != nil {
			return fmt.Sprintf("the server is not up: %v\n%s", err, p.said())
		}
		return ""
	})
	return p
}

// said returns the server's output.
func (p *process) said() string {
	text, _ := os.ReadFile(p.output)
	return string(text)
}

// await polls until holds returns "". Any other text says what is missing.
func await(t *testing.T, limit time.Duration, holds func() string) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; <-time.After(20 * time.Millisecond) {
		missing := holds()
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(missing)
		}
	}
}

// sample is the process's use of resources at one time.
type sample struct {
	at       time.Duration // since the load began
	resident int           // KB
	heap     int           // KB, garbage included
	threads  int
	files    int
	clients  int
}

func (s sample) String() string {
	return fmt.Sprintf("%6s resident %d MB, heap %d MB, %d threads, %d files, %d clients",
		s.at.Round(time.Second), s.resident>>10, s.heap>>10, s.threads, s.files, s.clients)
}

// take measures the process from outside and by INFO.
func (p *process) take(ctx context.Context, rdb *redis.Client, since time.Time) (s sample,
	err error) {
	dir := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		return s, err
	}
	files, err := os.ReadDir(dir + "fd")
	if err != nil {
		return s, err
	}
	var info string
	if err := patient(ctx, func() (err error) {
		info, err = rdb.Info(ctx).Result()
		return err
	}); err != nil {
		return s, err
	}
	return sample{
		at: time.Since(since), resident: number(string(status), "VmRSS:"),
		threads: number(string(status), "Threads:"), files: len(files),
		heap: number(info, "allocator_allocated:") >> 10, clients: number(info, "connected_clients:"),
	}, nil
}

// number returns the number after a name, or -1 when the name is missing.
func number(text, name string) int {
	_, rest, _ := strings.Cut(text, "\n"+name)
	rest = strings.TrimSpace(rest)
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i > 0 {
		rest = rest[:i]
	}
	n, err := strconv.Atoi(rest)
	if err != nil {
		return -1
	}
	return n
}

// goroutines ends the process with a dump of its goroutines. It returns one line for
// each, except for the Go runtime's own.
func (p *process) goroutines(t *testing.T) []string {
	t.Helper()
	before := len(p.said())
	if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatalf("the server is gone: %v\n%s", err, tail(p.said()))
	}
	p.cmd.Wait() // the error is the signal
	var list []string
	for _, stack := range bytes.Split([]byte(p.said()[before:]), []byte("\n\n")) {
		lines := strings.Split(string(stack), "\n")
		if begun := lines[len(lines)-1]; strings.HasPrefix(lines[0], "goroutine ") &&
			!strings.Contains(begun, "/src/runtime/") {
			list = append(list, lines[0]+" "+begun)
		}
	}
	return list
}

func tail(text string) string { return text[max(0, len(text)-20000):] }

// clean checks that the server has reported neither a race nor a panic.
func (p *process) clean(t *testing.T) {
	t.Helper()
	said := strings.ReplaceAll(p.said(), "/panic.go:", "") // a file in a goroutine's stack
	for _, word := range []string{"DATA RACE", "panic", "fatal error", "internal error"} {
		if i := strings.Index(said, word); i >= 0 {
			t.Errorf("the server's output has %q:\n%s", word, said[max(0, i-500):min(len(said), i+6000)])
		}
	}
}
