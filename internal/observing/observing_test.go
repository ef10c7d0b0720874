package observing

import (
	"strings"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commands"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/nohost"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// server has an environment and a clock, and runs no commands.
type server struct {
	nohost.Host
	env      command.Env
	clock    *expiry.Manual
	watch    *Stopwatch
	traffic  command.Traffic
	attended int // calls of Attend
}

func newServer() *server {
	clock := expiry.NewManual(time.UnixMilli(1_700_000_000_000))
	s := &server{clock: clock, watch: NewStopwatch(clock)}
	s.env = command.Env{
		Config: config.New(), Table: commands.NewTable(), Space: store.NewSpace(2, nil), Server: s,
	}
	s.watch.Restart()
	return s
}

func (s *server) Traffic() command.Traffic { return s.traffic }
func (s *server) Attend()                  { s.attended++ }

// command returns a command of c and its arguments, which line has between spaces.
func (s *server) command(c *command.Session, from command.Origin, line string) (*command.Ctx, resp.Args) {
	var args resp.Args
	for word := range strings.FieldsSeq(line) {
		args = append(args, []byte(word))
	}
	return &command.Ctx{
		Env: &s.env, Session: c, Cmd: s.env.Table.Find(args), DB: s.env.Space.DB(1), From: from,
	}, args
}

// conn keeps its output.
type conn struct {
	command.Conn
	text    string
	onWrite func() // nil: nothing
}

func (c *conn) Write(b []byte) bool {
	c.text += string(b)
	if c.onWrite != nil {
		c.onWrite()
	}
	return true
}

func newClient(addr string) (*command.Session, *conn) {
	out := &conn{}
	return &command.Session{Addr: addr, Conn: out}, out
}
