package survey

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// programs is the directory of lockredis, which is built once for all tests.
var programs string

var program sync.Once

func TestMain(m *testing.M) {
	code := m.Run()
	if programs != "" {
		_ = os.RemoveAll(programs) // in the system's temporary directory
	}
	os.Exit(code)
}

// lockredis returns the path of the program.
func lockredis(t *testing.T) string {
	t.Helper()
	program.Do(func() {
		built := redistest.BuildLockredis(t)
		dir, err := os.MkdirTemp("", "survey-")
		if err == nil {
			programs = dir
			err = os.Rename(built, filepath.Join(dir, "lockredis"))
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	return filepath.Join(programs, "lockredis")
}

// server is one of the two servers, with a connection to it.
type server struct {
	t    *testing.T
	addr string
	conn *wire.Conn
}

// do sends a command. It connects again if the server has closed the connection.
func (s *server) do(args ...string) wire.Value {
	s.t.Helper()
	v, err := s.conn.Do(args...)
	if err != nil {
		_ = s.conn.Close()
		s.connect()
		v, err = s.conn.Do(args...)
	}
	if err != nil {
		s.t.Fatalf("%s: %.200q: %v", s.addr, args, err)
	}
	return v
}

func (s *server) connect() {
	s.t.Helper()
	s.conn = redistest.Dial(s.t, s.addr)
}

// start starts redis-server and lockredis with the same directives.
func start(t *testing.T, args ...string) (oracle, target *server) {
	t.Helper()
	oracle = &server{t: t, addr: redistest.Start(t, args...).Addr}
	program := lockredis(t)
	target = &server{t: t, addr: redistest.Run(t, redistest.Command{Program: program, Args: args}).Addr}
	oracle.connect()
	target.connect()
	return oracle, target
}

// pairs returns the elements of a map as a Go map, and its names in order.
func pairs(v wire.Value) (values map[string]string, names []string) {
	values = map[string]string{}
	for i := 0; i+1 < len(v.Elems); i += 2 {
		name := string(v.Elems[i].Str)
		names = append(names, name)
		values[name] = string(v.Elems[i+1].Str)
	}
	return values, names
}
