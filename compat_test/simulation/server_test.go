package simulation

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/internal/nohost"
	"github.com/lockredis/lockredis/resp"
)

// epoch is the server's time when a simulation starts, in Unix ms.
const epoch = 1_700_000_000_000

// clock is the server's clock. It has no timers that fire: the simulation decides when
// the timer's goroutine would run.
type clock struct{ millis int64 }

func (c *clock) Now() time.Time         { return time.UnixMilli(c.millis) }
func (c *clock) NewTimer() expiry.Timer { return idleTimer{} }

type idleTimer struct{}

func (idleTimer) C() <-chan time.Time { return nil }
func (idleTimer) Reset(time.Time)     {}
func (idleTimer) Stop()               {}

// newEngine returns an engine. Its timer does not run by itself. Its random choices are
// the same in every run.
func newEngine(c *clock, log *slog.Logger) *engine.Engine {
	settings := config.New()
	return engine.New(engine.Options{
		Config: settings, Clock: c, Rand: rand.New(rand.NewPCG(1, 2)), Log: log, Server: nohost.Host{},
	})
}

// link is a connection without a socket.
type link struct {
	w    *world
	name string // for output
	s    *command.Session
	out  []byte
	dead bool // killed by the server
	deaf bool // messages are lost, and the client has not noticed yet
	// heard receives the messages; nil: the link receives replies.
	heard func(channel, payload string)
}

// dial opens a connection. With proto 3 it sends HELLO first.
func (w *world) dial(proto int, heard func(channel, payload string)) *link {
	w.dials++
	l := &link{w: w, name: "connection " + itoa(w.dials), heard: heard}
	l.s = &command.Session{Addr: "simulated", Conn: l}
	w.e.Do(&w.caller, func() { w.e.Join(l.s) })
	if proto == 3 {
		l.do("HELLO", "3")
	}
	return l
}

// hangUp closes the connection from the client's side.
func (l *link) hangUp() {
	l.dead = true
	l.w.e.Do(&l.w.caller, func() { l.w.e.Leave(l.s) })
}

// Write receives the server's output.
func (l *link) Write(b []byte) bool {
	l.w.note(b)
	if l.heard == nil {
		l.out = append(l.out, b...)
		return true
	}
	for len(b) > 0 {
		v, rest := parse(b)
		b = rest
		if parts, ok := v.([]any); ok && len(parts) == 3 && parts[0] == "message" && !l.deaf {
			l.heard(parts[1].(string), parts[2].(string))
		}
	}
	return true
}

func (l *link) Kill()                        { l.dead = true }
func (*link) Wake()                          {}
func (*link) Sizes(bool) (b command.Buffers) { return b }
func (l *link) do(words ...string) any       { return l.run(words) }

// run executes a command as one unit and returns its reply.
func (l *link) run(words []string) any {
	args := make(resp.Args, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	l.w.e.Do(&l.w.caller, func() { l.w.e.Execute(l.s, args) })
	reply := l.take()
	if l.w.tell != nil {
		l.w.tell("    %s: %s -> %s", l.name, brief(words), brief(reply))
	}
	return reply
}

// brief renders a command or a reply for output.
func brief(v any) string {
	text := fmt.Sprint(v)
	if words, ok := v.([]string); ok {
		text = fmt.Sprintf("%q", words)
	}
	return text[:min(len(text), 250)]
}

// take returns the oldest reply that has arrived, none if there is none.
func (l *link) take() any {
	if len(l.out) == 0 {
		return none{}
	}
	v, rest := parse(l.out)
	l.out = append(l.out[:0], rest...)
	return v
}

// failure is an error reply; none means that there is no reply.
type (
	failure string
	none    struct{}
)

// parse reads one reply (nil, int64, string, failure or []any) and returns the rest.
func parse(b []byte) (v any, rest []byte) {
	end := bytes.IndexByte(b, '\n')
	head, rest := string(b[1:end-1]), b[end+1:]
	switch b[0] {
	case '+', ',':
		return head, rest
	case '-':
		return failure(head), rest
	case '_':
		return nil, rest
	case ':':
		n, err := strconv.ParseInt(head, 10, 64)
		if err != nil {
			panic(err)
		}
		return n, rest
	}
	n, err := strconv.Atoi(head)
	if err != nil {
		panic(fmt.Sprintf("reply %q", b))
	}
	switch {
	case n < 0:
		return nil, rest
	case b[0] == '$':
		return string(rest[:n]), rest[n+2:]
	case b[0] == '%':
		n *= 2
	}
	list := make([]any, n)
	for i := range list {
		list[i], rest = parse(rest)
	}
	return list, rest
}

// Send fails: there is no network.
