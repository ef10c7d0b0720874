package fault_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/resp"
)

// server is a lockredis whose kit sets faults as the door of internal/control does.
type server struct {
	t      testing.TB
	srv    *lockredis.Server
	inside backdoor.Inside
	reset  func() error
}

func start(t testing.TB) *server {
	t.Helper()
	s := open(t, map[string]string{"control": "yes"})
	t.Cleanup(func() { s.srv.Close() })
	return s
}

func open(t testing.TB, directives map[string]string) *server {
	t.Helper()
	srv := lockredis.New(lockredis.Config{Directives: directives})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	inside := backdoor.Open(srv)
	return &server{t, srv, inside, inside.Remember()}
}

// kit runs a command as a test kit and returns the reply as RESP2. A word of the line that begins
// and ends with ' may have spaces.
func (s *server) kit(line string) (reply string) {
	s.inside.Call(0, args(line), func(r resp.Reply) { reply = string(resp.Append(nil, r, 2)) })
	return reply
}

func args(line string) (words resp.Args) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, []byte(part))
			continue
		}
		for word := range strings.FieldsSeq(part) {
			words = append(words, []byte(word))
		}
	}
	return words
}

// kits runs a command as a test kit and compares the reply.
func (s *server) kits(want, line string) {
	s.t.Helper()
	if got := s.kit(line); got != want {
		s.t.Errorf("%s: the kit's reply is %q, want %q", line, got, want)
	}
}

// list returns what FAULT.LIST has of each fault: values by the names of fields.
func (s *server) list() (faults []map[string]string) {
	s.inside.Call(0, args("FAULT.LIST"), func(r resp.Reply) {
		for _, row := range r.Elems() {
			fault, fields := map[string]string{}, row.Elems()
			for i := 0; i < len(fields); i += 2 {
				fault[fields[i].Text()] = text(fields[i+1])
			}
			faults = append(faults, fault)
		}
	})
	return faults
}

// text returns the text of a string or an integer.
func text(r resp.Reply) string {
	if r.Kind() == resp.KindInt {
		return strconv.FormatInt(r.Int(), 10)
	}
	return r.Text()
}

// field returns a field of the fault with the id, "" if there is none.
func (s *server) field(id int, name string) string {
	for _, fault := range s.list() {
		if fault["id"] == strconv.Itoa(id) {
			return fault[name]
		}
	}
	return ""
}

// holds waits until the fault holds back n items.
func (s *server) holds(id, n int) {
	s.t.Helper()
	s.awaits(fmt.Sprintf("fault %d holds back %d", id, n), func() bool { return s.field(id, "held") == strconv.Itoa(n) })
}

// awaits waits until done returns true.
func (s *server) awaits(what string, done func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			s.t.Fatal("in vain: ", what)
		case <-time.After(time.Millisecond):
		}
	}
}

// connections returns how many connections there are.
func (s *server) connections() int {
	n, _ := s.inside.ConnectionCounts()
	return n
}

// client is a client's connection over a socket.
type client struct {
	t testing.TB
	*wire.Conn
}

func (s *server) dial() client {
	s.t.Helper()
	c := client{s.t, redistest.Dial(s.t, s.srv.Addr())}
	c.SetTimeout(time.Minute)
	return c
}

// send sends a command and waits for nothing.
func (c client) send(line string) {
	c.t.Helper()
	var words []string
	for _, word := range args(line) {
		words = append(words, string(word))
	}
	if err := c.Send(words...); err != nil {
		c.t.Fatal(err)
	}
}

// says sends a command and compares the reply.
func (c client) says(want, line string) {
	c.t.Helper()
	c.send(line)
	c.hears(want)
}

// hears receives a reply, or a message, and compares it.
func (c client) hears(want string) {
	c.t.Helper()
	if got, err := c.Receive(); err != nil || string(got.Raw) != want {
		c.t.Fatalf("the client receives %q %v, want %q", got.Raw, err, want)
	}
}

// ended checks that the server closes the connection.
func (c client) ended() {
	c.t.Helper()
	if got, err := c.Receive(); !wire.IsClosed(err) {
		c.t.Fatalf("the client receives %q %v, want the end", got.Raw, err)
	}
}

// silent checks that nothing has arrived.
func (c client) silent() {
	c.t.Helper()
	c.SetTimeout(5 * time.Millisecond)
	defer c.SetTimeout(time.Minute)
	if got, err := c.Receive(); err == nil {
		c.t.Fatalf("the client receives %q, want nothing", got.Raw)
	}
}
