package compat

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// redissonStartLimit is how long a server may take to answer its first PING.
const redissonStartLimit = 10 * time.Second

// redissonProgram is a server that the suite can run against.
type redissonProgram struct {
	name string // lockredis or redis-server
	path string // absolute
}

// redissonPrograms returns the servers asked for; lockredis is built for the test.
func redissonPrograms(t *testing.T) []redissonProgram {
	t.Helper()
	asked := os.Getenv(redissonServersVar)
	if asked == "" {
		asked = "lockredis"
	}
	var programs []redissonProgram
	for _, name := range strings.Split(asked, ",") {
		switch name {
		case "lockredis":
			programs = append(programs, redissonProgram{name, buildLockredis(t)})
		case "redis-server":
			programs = append(programs, redissonProgram{name, redissonTool(t, name)})
		default:
			t.Fatalf("%s: no server %q; there are lockredis and redis-server", redissonServersVar, name)
		}
	}
	return programs
}

func buildLockredis(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lockredis")
	build := exec.Command("go", "build", "-o", path, "github.com/lockredis/lockredis/cmd/lockredis")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	return path
}

// startRedissonServer starts a server for the length of the test, makes sure that it is the program it is
// meant to be, and returns its address. Its output goes to the log file.
func startRedissonServer(t *testing.T, program redissonProgram, log string) string {
	t.Helper()
	output, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { output.Close() })
	addr := freeAddress(t)
	host, port, _ := net.SplitHostPort(addr)
	ctx, stop := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, program.path, "--port", port, "--bind", host,
		"--save", "", "--appendonly", "no", "--notify-keyspace-events", "KEA")
	server.Dir = t.TempDir()
	server.Stdout, server.Stderr = output, output
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		server.Wait()
	})
	info := awaitRedissonServer(t, addr, log)
	if isLockredis := strings.Contains(info, "lockredis_version:"); isLockredis != (program.name == "lockredis") ||
		!strings.Contains(info, "redis_version:7.0.") {
		t.Fatalf("%s is not %s 7.0:\n%s", program.path, program.name, info)
	}
	return addr
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// awaitRedissonServer polls until the server answers, and returns its INFO server.
func awaitRedissonServer(t *testing.T, addr, log string) string {
	t.Helper()
	deadline := time.Now().Add(redissonStartLimit)
	for {
		info, err := infoServer(addr)
		if err == nil {
			return info
		}
		if time.Now().After(deadline) {
			said, _ := os.ReadFile(log)
			t.Fatalf("no server on %s: %v\n%s", addr, err, said)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func infoServer(addr string) (string, error) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := fmt.Fprint(conn, "INFO server\r\nQUIT\r\n"); err != nil {
		return "", err
	}
	var lines []string
	for in := bufio.NewScanner(conn); in.Scan(); {
		lines = append(lines, in.Text())
	}
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "redis_version:") }) {
		return "", fmt.Errorf("INFO server: %q", lines)
	}
	return strings.Join(lines, "\n"), nil
}
