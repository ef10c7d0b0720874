package fuzz

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/internal/memory"
	"github.com/lockredis/lockredis/internal/nohost"
	"github.com/lockredis/lockredis/resp"
)

// start is the time at which every world begins.
var start = time.UnixMilli(1_700_000_000_000)

// maxReads is how often a command may read the clock. A script reads it at each safe
// point, about every thousand instructions.
const maxReads = 100

// clock is advanced by the test. It ends a script that reads it too often.
type clock struct {
	*expiry.Manual
	reads   atomic.Int64
	overrun func()
}

func (c *clock) Now() time.Time {
	if c.reads.Add(1) == maxReads {
		c.overrun()
	}
	return c.Manual.Now()
}

// host has a start time.
type host struct{ nohost.Host }

func (host) Identity() command.Identity {
	return command.Identity{StartMillis: start.UnixMilli()}
}

// complaints keeps logged errors. A caught panic is logged as an error.
type complaints struct{ text string }

func (c *complaints) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }
func (c *complaints) Handle(_ context.Context, r slog.Record) error {
	c.text += r.Message
	r.Attrs(func(a slog.Attr) bool {
		c.text += "\n" + a.String()
		return true
	})
	return nil
}
func (c *complaints) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c *complaints) WithGroup(string) slog.Handler      { return c }

// client is a session and the bytes that it has received.
type client struct {
	session *command.Session
	out     bytes.Buffer
	conn    *wire.Conn // reads from out
	killed  bool
}

func (c *client) Write(b []byte) bool        { c.out.Write(b); return true }
func (c *client) Kill()                      { c.killed = true }
func (c *client) Wake()                      {}
func (c *client) Sizes(bool) command.Buffers { return command.Buffers{InSmall: c.out.Len()} }

// world is an engine with two clients. Its time stands still until the input advances it.
type world struct {
	t       testing.TB
	engine  *engine.Engine
	clock   *clock
	log     complaints
	clients [2]*client
	direct  client   // runs commands without a client
	rows    []string // names of the command table's rows
	over    bool     // a script ran for too long; the engine runs no more of them
}

// patience is how many seconds one input may take on a slow machine.
const patience = 30

// watch ends the process when an input takes too long. The returned function stops the
// watch. Seconds in which the process itself is stopped do not count.
func watch(input string) (stop func()) {
	done := make(chan struct{})
	go func() {
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for range patience {
			select {
			case <-done:
				return
			case <-second.C:
			}
		}
		panic(fmt.Sprintf("an input without end: %q", input))
	}()
	return func() { close(done) }
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, clock: &clock{Manual: expiry.NewManual(start)}}
	w.direct.conn = wire.NewConn(&source{r: &w.direct.out})
	cfg := config.New()
	for name, value := range map[string]string{"proto-max-bulk-len": "1mb",
		"enable-debug-command": "yes", "enable-lock-commands": "yes", "notify-keyspace-events": "AKE"} {
		if err := cfg.Load(name, value); err != nil {
			t.Fatal(err)
		}
	}
	w.clock.overrun = func() {
		w.over = true
		w.engine.Interrupt()
	}
	w.engine = engine.New(engine.Options{
		Config: cfg, Clock: w.clock, Rand: rand.New(rand.NewPCG(1, 2)), Log: slog.New(&w.log),
		Server: host{}, Memory: 1 << 30,
	})
	for i := range w.clients {
		w.join(i)
	}
	for _, cmd := range w.engine.Env().Table.All() {
		w.rows = append(w.rows, cmd.Name)
		for _, sub := range cmd.Subs {
			w.rows = append(w.rows, strings.ReplaceAll(sub.Name, "|", " "))
		}
	}
	return w
}

func (w *world) join(i int) {
	c := &client{session: &command.Session{Addr: "127.0.0.1:" + strconv.Itoa(i+1)}}
	c.session.Conn = c
	c.conn = wire.NewConn(&source{r: &c.out})
	w.clients[i] = c
	w.inside(func() { w.engine.Join(c.session) })
}

func (w *world) inside(unit func()) {
	w.clock.reads.Store(0)
	w.engine.Do(&engine.Caller{}, unit)
	w.awaitOthers()
}

// awaitOthers waits until no MEMORY PURGE is under way and no turn of the clock. Their goroutines enter
// the engine by themselves: they would change clients and read the clock while the test does.
func (w *world) awaitOthers() {
	for running := true; running; {
		w.engine.Outside(func() {
			w.clock.reads.Store(0)
			running = w.engine.Env().Purging.(*memory.Purges).Running() || w.turns()
		})
	}
}

// turns reports whether a client waits for a turn of the clock.
func (w *world) turns() bool {
	for _, c := range w.clients {
		if c != nil && c.session.Parked != nil && strings.HasPrefix(c.session.Parked.Cmd.Name, "clock.") {
			return true
		}
	}
	return false
}

// pass advances the clock and ends what is due.
func (w *world) pass(ms int64) {
	w.clock.Advance(time.Duration(ms) * time.Millisecond)
	w.clock.reads.Store(0)
	w.engine.Outside(w.engine.EndDue)
}

// parse reads a line of input.
func (w *world) parse(line string) (who int, args resp.Args) {
	if rest, ok := strings.CutPrefix(line, "@"); ok {
		who, line = 1, rest
	}
	words, ok := resp.SplitLine([]byte(line))
	if !ok {
		words = bytes.Fields([]byte(line))
	}
	if len(words) > 0 && len(words[0]) > 1 && words[0][0] == '#' {
		if n, err := strconv.ParseUint(string(words[0][1:]), 10, 16); err == nil {
			name := bytes.Fields([]byte(w.rows[int(n)%len(w.rows)]))
			words = append(name, words[1:]...)
		}
	}
	return who, words
}

// run runs one line of input and checks all properties.
func (w *world) run(line string) {
	if ms, ok := strings.CutPrefix(line, "+"); ok {
		if n, err := strconv.ParseUint(ms, 10, 40); err == nil {
			w.pass(int64(n))
			w.check(line)
			return
		}
	}
	who, args := w.parse(line)
	if len(args) == 0 {
		return
	}
	w.execute(who, args)
	w.check(line)
}

// execute runs one command and returns its replies. A client that waits or is held by
// CLIENT PAUSE runs none.
func (w *world) execute(who int, args resp.Args) []wire.Value {
	w.t.Helper()
	c := w.clients[who]
	if c.killed || !c.session.State().Live() {
		w.inside(func() { w.engine.Leave(c.session) })
		w.join(who)
		c = w.clients[who]
	}
	if c.session.State() != command.Ready {
		return nil
	}
	silent := c.session.ReplyMode != command.ReplyOn
	w.values(c)
	ran := false
	w.inside(func() { ran = w.engine.Execute(c.session, args) })
	replies := w.values(c)
	s := c.session
	faulty := s.Conn != command.Conn(c) || !s.State().Live() // FAULT.ADD delays or loses output
	silent = silent || s.ReplyMode != command.ReplyOn || s.Parked != nil || !ran || c.killed || faulty ||
		strings.EqualFold(string(args[0]), "shutdown")
	if len(replies) == 0 && !silent {
		w.t.Fatalf("%q: no reply", [][]byte(args))
	}
	return replies
}

// values parses the bytes that a client has received.
func (w *world) values(c *client) (values []wire.Value) {
	w.t.Helper()
	if c.session.Follows() { // SYNC or PSYNC: a file and a stream, no replies
		c.out.Reset()
		return nil
	}
	sent := c.out.Bytes()
	for {
		v, err := c.conn.Receive()
		if err == io.EOF {
			return values
		}
		if err != nil {
			w.t.Fatalf("%q: %v", sent, err)
		}
		values = append(values, v)
	}
}

// source is a connection that can only be read.
type source struct {
	net.Conn
	r io.Reader
}

func (s *source) Read(b []byte) (int, error)      { return s.r.Read(b) }
func (s *source) SetReadDeadline(time.Time) error { return nil }

// check checks the engine's invariants and its log.
func (w *world) check(line string) {
	w.t.Helper()
	if w.log.text != "" {
		w.t.Fatalf("after %q: %s", line, w.log.text)
	}
	w.clock.reads.Store(0)
	w.engine.Outside(func() {
		if err := w.engine.Check(); err != nil {
			w.t.Fatalf("after %q: %v", line, err)
		}
	})
}

// finish ends every wait and pause, and disconnects the clients.
func (w *world) finish() {
	w.t.Helper()
	w.inside(w.engine.Env().Pausing.Unpause)
	for i, c := range w.clients {
		w.inside(func() { w.engine.Leave(c.session) })
		if c.session.Parked != nil {
			w.t.Fatalf("client %d is disconnected and still waits", i)
		}
	}
	w.check("the end")
	w.inside(func() {
		if n := w.engine.Connections(); n != 0 {
			w.t.Fatalf("%d clients are left", n)
		}
	})
	w.engine.Close()
	w.check("Close")
}

// state returns all contents of the databases as text.
func (w *world) state() string {
	var b strings.Builder
	for db := range w.engine.Env().Space.Len() {
		for _, key := range w.call(db, "KEYS", "*").Elems {
			name := string(key.Str)
			fmt.Fprintf(&b, "%d %q %s %s\n", db, name, w.call(db, "PEXPIRETIME", name), w.value(db, name))
		}
	}
	return sortedLines(b.String())
}

// value returns a key's value with its encoding. Values without an order are sorted.
func (w *world) value(db int, key string) string {
	encoding := w.call(db, "OBJECT", "ENCODING", key).String() + " "
	switch kind := string(w.call(db, "TYPE", key).Str); kind {
	case "string":
		return encoding + w.call(db, "GET", key).String()
	case "list":
		return encoding + w.call(db, "LRANGE", key, "0", "-1").String()
	case "hash":
		v := w.call(db, "HGETALL", key)
		var pairs []string
		for i := 0; i+1 < len(v.Elems); i += 2 {
			pairs = append(pairs, v.Elems[i].String()+"="+v.Elems[i+1].String())
		}
		return encoding + sortedLines(strings.Join(pairs, "\n"))
	case "set":
		var members []string
		for _, m := range w.call(db, "SMEMBERS", key).Elems {
			members = append(members, m.String())
		}
		return encoding + sortedLines(strings.Join(members, "\n"))
	default:
		return encoding + w.call(db, "ZRANGE", key, "0", "-1", "WITHSCORES").String()
	}
}

// call runs a command without a client.
func (w *world) call(db int, words ...string) (v wire.Value) {
	w.t.Helper()
	args := make(resp.Args, len(words))
	for i := range words {
		args[i] = []byte(words[i])
	}
	w.clock.reads.Store(0)
	w.engine.RunDirect(db, args, func(r resp.Reply) {
		var err error
		w.direct.out.Write(resp.Append(nil, r, 3))
		if v, err = w.direct.conn.Receive(); err != nil {
			w.t.Fatalf("%q: %v", words, err)
		}
	})
	return v
}
