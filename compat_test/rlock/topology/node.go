package topology

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/redistest"
)

// Node is one server process.
type Node struct {
	Addr string // 127.0.0.1 and the port; unchanged by a restart

	id      string // in a cluster
	program string
	dir     string // of its redis.conf, log and working directory
	options []string
	admin   *redis.Client

	mu      sync.Mutex        // guards the fields below
	process *redistest.Server // nil when the node was killed
	frozen  bool
	cut     bool // from its peers
}

// adminTimeout is the timeout of a command to a node.
const adminTimeout = 2 * time.Second

// newNode writes a redis.conf for a server on a free port and starts it. Options are
// further arguments, such as --sentinel.
func newNode(tb testing.TB, program string, conf []string, options ...string) *Node {
	tb.Helper()
	port := freePort(tb)
	n := &Node{Addr: net.JoinHostPort("127.0.0.1", port), program: program, dir: tb.TempDir(),
		options: options}
	conf = append([]string{"bind 127.0.0.1", "port " + port, "dir " + strconv.Quote(n.dir)}, conf...)
	if err := os.WriteFile(n.path("redis.conf"), []byte(strings.Join(conf, "\n")+"\n"),
		0o600); err != nil {
		tb.Fatal(err)
	}
	n.admin = redis.NewClient(&redis.Options{
		Addr: n.Addr, Password: passwordOf(conf), MaxRetries: -1, PoolSize: 3, DialTimeout: adminTimeout,
		ReadTimeout: adminTimeout, WriteTimeout: adminTimeout, ContextTimeoutEnabled: true,
	})
	tb.Cleanup(func() {
		n.admin.Close()
		n.Kill()
	})
	n.Restart(tb)
	return n
}

// passwordOf returns the password for clients of a node with these directives.
func passwordOf(conf []string) string {
	if slices.Contains(conf, peerConf()[0]) {
		return Password
	}
	return ""
}

// dataConf has the directives of every server that holds data.
func dataConf() []string {
	return []string{`save ""`, "appendonly no", "enable-debug-command yes", "repl-diskless-sync yes",
		"repl-diskless-sync-delay 0", "repl-ping-replica-period 1", "notify-keyspace-events KEA"}
}

func (n *Node) path(name string) string { return filepath.Join(n.dir, name) }

// Restart starts the process, empty, if it is not running, and waits for its first
// PONG.
func (n *Node) Restart(tb testing.TB) {
	tb.Helper()
	if n.start(tb) {
		await(tb, n.Addr+" "+n.program, func() error {
			if !n.Running() {
				return fmt.Errorf("it ended: %s", n.log())
			}
			_, err := n.Do("PING")
			return err
		})
	}
}

func (n *Node) start(tb testing.TB) bool {
	tb.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process != nil {
		return false
	}
	process, err := redistest.Command{Program: n.program, Addr: n.Addr, Dir: n.dir,
		Args: append([]string{n.path("redis.conf")}, n.options...)}.Start()
	if err != nil {
		tb.Fatal(err)
	}
	n.process = process
	return true
}

// Running reports whether the process exists, frozen or not.
func (n *Node) Running() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil {
		return false
	}
	select {
	case <-n.process.Ended():
		return false
	default:
		return true
	}
}

// Kill kills the process and waits for its end. The system closes its sockets, as
// after a crash.
func (n *Node) Kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil {
		return
	}
	n.process.Stop()
	n.process, n.frozen, n.cut = nil, false, false
}

// Freeze stops the process (SIGSTOP). Its connections stay open without replies, as
// when a machine or its network hangs. Thaw ends that.
func (n *Node) Freeze(tb testing.TB) {
	tb.Helper()
	n.signal(tb, "-STOP", true)
}

// Thaw ends Freeze. It does nothing if the node is not frozen.
func (n *Node) Thaw(tb testing.TB) {
	tb.Helper()
	n.signal(tb, "-CONT", false)
}

// signal runs the program kill, because the signals do not exist on Windows.
func (n *Node) signal(tb testing.TB, name string, frozen bool) {
	tb.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil || n.frozen == frozen {
		return
	}
	if output, err := exec.Command("kill", name,
		strconv.Itoa(n.process.PID)).CombinedOutput(); err != nil {
		tb.Fatalf("kill %s: %v: %s", name, err, output)
	}
	n.frozen = frozen
}

// Pause makes the node answer no command for a time (CLIENT PAUSE). As in Redis, keys
// do not expire meanwhile; replication continues.
func (n *Node) Pause(tb testing.TB, d time.Duration) {
	tb.Helper()
	if _, err := n.Do("CLIENT", "PAUSE", d.Milliseconds(), "ALL"); err != nil {
		tb.Fatal(err)
	}
}

// Do sends a command to this node, without retries.
func (n *Node) Do(args ...any) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
	defer cancel()
	return n.admin.Do(ctx, args...).Result()
}

// setUp is Do for a command of the topology's start. Redis writes the cluster's file to the disk
// before it replies, which may take seconds while other programs write.
func (n *Node) setUp(args ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), pollLimit)
	defer cancel()
	return n.admin.WithTimeout(pollLimit).Do(ctx, args...).Err()
}

// text is Do for string replies.
func (n *Node) text(args ...any) (string, error) {
	reply, err := n.Do(args...)
	if err != nil {
		return "", err
	}
	text, ok := reply.(string)
	if !ok {
		return "", fmt.Errorf("%v: a %T", args, reply)
	}
	return text, nil
}

// info returns the fields of a section of INFO.
func (n *Node) info(section string) (map[string]string, error) {
	text, err := n.text("INFO", section)
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for _, line := range strings.Split(text, "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

func (n *Node) role() (string, error) {
	fields, err := n.info("replication")
	return fields["role"], err
}

// log returns the last lines of the process's output.
func (n *Node) log() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil {
		return "killed by the test"
	}
	return n.process.Log()
}
