package replication

import (
	"net"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// server is a server with a connection.
type server struct {
	t       *testing.T
	addr    string
	conn    *wire.Conn
	process *redistest.Server // nil: lockredis
}

// primary starts a lockredis.
func primary(t *testing.T, directives map[string]string) *server {
	t.Helper()
	redistest.Asked(t)
	all := map[string]string{"enable-debug-command": "yes", "dir": t.TempDir()}
	for name, value := range directives {
		all[name] = value
	}
	srv := lockredis.New(lockredis.Config{Directives: all})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return &server{t, srv.Addr(), redistest.Dial(t, srv.Addr()), nil}
}

// redis starts a redis-server.
func redis(t *testing.T, args ...string) *server {
	t.Helper()
	own := []string{"--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0"}
	srv := redistest.Start(t, slices.Concat(own, args)...)
	return &server{t, srv.Addr, redistest.Dial(t, srv.Addr), srv}
}

// replicaOf starts a redis-server that follows p, and waits for its synchronization.
func replicaOf(p *server, args ...string) *server {
	p.t.Helper()
	host, port, _ := net.SplitHostPort(p.addr)
	r := redis(p.t, append([]string{"--replicaof", host + " " + port}, args...)...)
	r.awaitUp()
	return r
}

// do sends a command whose reply is no error.
func (s *server) do(args ...string) wire.Value {
	s.t.Helper()
	v := s.ask(args...)
	if v.IsError() {
		s.t.Fatalf("%v: %s", args, v)
	}
	return v
}

// ask sends a command.
func (s *server) ask(args ...string) wire.Value {
	s.t.Helper()
	v, err := s.conn.Do(args...)
	if err != nil {
		s.t.Fatalf("%v: %v", args, err)
	}
	return v
}

// another returns the server with another connection.
func (s *server) another() *server {
	return &server{s.t, s.addr, redistest.Dial(s.t, s.addr), s.process}
}

// info returns the fields of a section of INFO.
func (s *server) info(section string) map[string]string {
	s.t.Helper()
	return redistest.InfoFields(string(s.do("INFO", section).Str))
}

// syncs returns the counters of full, partial and refused partial synchronizations.
func (s *server) syncs() string {
	s.t.Helper()
	info := s.info("stats")
	return info["sync_full"] + " " + info["sync_partial_ok"] + " " + info["sync_partial_err"]
}

func (s *server) awaitUp() {
	s.t.Helper()
	s.await("the link", func() bool { return s.info("replication")["master_link_status"] == "up" })
}

// await waits for something.
func (s *server) await(what string, done func() bool) {
	s.t.Helper()
	if !redistest.Poll(time.Minute, done) {
		s.t.Fatalf("%s does not come within a minute: %v", what, s.info("replication"))
	}
}

// awaitSame waits until replicas have all of p's stream and its data.
func awaitSame(p *server, replicas ...*server) {
	p.t.Helper()
	for _, r := range replicas {
		r.await("the same data", func() bool {
			info := r.info("replication")
			return info["master_link_status"] == "up" &&
				info["slave_repl_offset"] == p.info("replication")["master_repl_offset"] &&
				string(r.do("DEBUG", "DIGEST").Str) == string(p.do("DEBUG", "DIGEST").Str)
		})
	}
}

// freeze stops the process, and returns what continues it.
func (s *server) freeze() (thaw func()) {
	s.t.Helper()
	signal := func(name string) {
		s.t.Helper()
		pid := strconv.Itoa(s.process.PID)
		if out, err := exec.Command("kill", name, pid).CombinedOutput(); err != nil {
			s.t.Fatalf("kill %s %s: %v: %s", name, pid, err, out)
		}
	}
	signal("-STOP")
	return func() { signal("-CONT") }
}

// number returns an integer reply.
func number(t *testing.T, v wire.Value) int64 {
	t.Helper()
	n, ok := v.Int()
	if !ok {
		t.Fatalf("%s is no integer", v)
	}
	return n
}
