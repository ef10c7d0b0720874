package growth

import (
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/internal/nohost"
	"github.com/lockredis/lockredis/resp"
)

// target runs lines.
type target interface {
	// run runs lines. An error reply fails the test.
	run(lines []line)
	// time runs lines. It returns the time that the given commands took, and how often the
	// first of them was called.
	time(commands []string, lines []line) (took time.Duration, calls int)
	close()
}

// inProcess is the engine without sockets.
type inProcess struct {
	t        testing.TB
	engine   *engine.Engine
	sessions map[int]*command.Session
	caller   engine.Caller
}

func newInProcess(t testing.TB) *inProcess {
	return &inProcess{
		t: t, sessions: map[int]*command.Session{},
		engine: engine.New(engine.Options{
			Config: config.New(), Clock: expiry.System(), Rand: rand.New(rand.NewPCG(1, 2)),
			Log: slog.New(slog.DiscardHandler), Server: nohost.Host{},
		}),
	}
}

func (p *inProcess) session(conn int) *command.Session {
	s := p.sessions[conn]
	if s == nil {
		s = &command.Session{Conn: &nowhere{t: p.t}, Addr: "127.0.0.1:6000", LAddr: "127.0.0.1:6379"}
		p.sessions[conn] = s
		p.engine.Do(&p.caller, func() { p.engine.Join(s) })
	}
	return s
}

func (p *inProcess) execute(l line) {
	s := p.session(l.conn)
	p.engine.Do(&p.caller, func() { p.engine.Execute(s, resp.Args(l.words)) })
}

func (p *inProcess) run(lines []line) {
	for _, l := range lines {
		p.execute(l)
	}
}

func (p *inProcess) time(commands []string, lines []line) (took time.Duration, calls int) {
	var args resp.Args
	var s *command.Session
	unit := func() { p.engine.Execute(s, args) }
	for _, l := range lines {
		at := indexOf(commands, l.command())
		if at < 0 {
			p.execute(l)
			continue
		}
		s, args = p.session(l.conn), l.words
		start := time.Now()
		p.engine.Do(&p.caller, unit)
		took += time.Since(start)
		if at == 0 {
			calls++
		}
	}
	return took, calls
}

func (p *inProcess) close() { p.engine.Close() }

func indexOf(list []string, word string) int {
	for i, w := range list {
		if w == word {
			return i
		}
	}
	return -1
}

// nowhere is a connection that drops its output.
type nowhere struct{ t testing.TB }

func (c *nowhere) Write(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		c.t.Errorf("answered %s", b) // Fatalf would leave the engine locked
	}
	return true
}
func (*nowhere) Kill()                          {}
func (*nowhere) Wake()                          {}
func (*nowhere) Sizes(bool) (b command.Buffers) { return b }
