package abuse

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/resp"
)

// trap makes one command of one client panic. It finds the client by its name.
type trap struct {
	row   string // the command that panics
	after bool   // after its handler has returned, not before it runs
	fell  int    // number of panics
}

// victimName is the name of the client whose commands panic.
const victimName = "victim"

// lay puts the trap around the handler of every command.
func (v *victim) lay(tr *trap) {
	v.inside(func(e *engine.Engine) {
		e.Env().Table.Own()
		for _, cmd := range rows(e.Env().Table.All()) {
			run := cmd.Run
			cmd.Run = func(c *command.Ctx, args resp.Args) resp.Reply {
				hit := c.Session.Name == victimName && cmd.Name == tr.row
				if hit && !tr.after {
					tr.fell++
					panic("a trap")
				}
				reply := run(c, args)
				if hit {
					tr.fell++
					panic(errors.New("a trap"))
				}
				return reply
			}
		}
	})
}

// rows returns all commands with a handler: subcommands in place of containers.
func rows(cmds []*command.Command) (all []*command.Command) {
	for _, cmd := range cmds {
		if cmd.Container() {
			all = append(all, rows(cmd.Subs)...)
		} else {
			all = append(all, cmd)
		}
	}
	return all
}

// inside runs unit inside the server's engine, while no command runs.
func (v *victim) inside(unit func(e *engine.Engine)) {
	e := backdoor.Open(v.srv).Engine.(*engine.Engine)
	e.Outside(func() { unit(e) })
}

// sound checks the engine's own invariants.
func (v *victim) sound() {
	v.t.Helper()
	v.inside(func(e *engine.Engine) {
		if err := e.Check(); err != nil {
			v.t.Error(err)
		}
	})
}

// panics removes the panics from the log and counts them. Each must have its stack.
func (v *victim) panics() int {
	v.t.Helper()
	list := v.log.take()
	for _, text := range list {
		if !strings.HasPrefix(text, "panic") || !strings.Contains(text, "stack=goroutine ") ||
			!strings.Contains(text, "_test.go:") {
			v.t.Errorf("the server logged: %s", text)
		}
	}
	return len(list)
}

// way returns the commands that a client sends for one command. Each gets one reply. The
// arguments fit no command.
type way func(args []string) [][]string

var ways = map[string]way{
	"as it is": func(args []string) [][]string { return [][]string{args} },
	"in MULTI": func(args []string) [][]string {
		return [][]string{{"WATCH", "w"}, {"MULTI"}, {"SET", "m", "1"}, args, {"EXEC"}}
	},
	"from a script": func(args []string) [][]string {
		return [][]string{append([]string{"EVAL", "return redis.call(unpack(ARGV))", "0"}, args...)}
	},
	"from a script's pcall": func(args []string) [][]string {
		const body = "for i = 1, 2 do pcall(redis.call, unpack(ARGV)) end return redis.pcall(unpack(ARGV))"
		return [][]string{append([]string{"EVAL", body, "0"}, args...)}
	},
}

// deadly are commands that end, stop or change more than their client when their handler runs, or after which
// it gets no replies.
var deadly = map[string]bool{"shutdown": true, "client|pause": true, "debug|sleep": true,
	"client|kill": true, "sync": true, "psync": true, "replicaof": true, "slaveof": true}

func TestPanicInAnyCommandEndsOnlyItsClient(t *testing.T) {
	for _, after := range []bool{false, true} {
		for name, way := range ways {
			if !redistest.Whole() && after != (name == "as it is" || name == "from a script") {
				continue // each way in one of two forms
			}
			t.Run(fmt.Sprintf("%s, after its work %v", name, after), func(t *testing.T) {
				v := attack(t, map[string]string{"enable-debug-command": "yes"})
				before := measure()
				tr := &trap{after: after}
				v.lay(tr)
				neighbour := v.dial()
				v.want(neighbour, "+OK", "MULTI")
				var cmds []*command.Command
				v.inside(func(e *engine.Engine) { cmds = rows(e.Env().Table.All()) })
				for _, cmd := range cmds {
					if after && deadly[cmd.Name] {
						continue
					}
					v.inside(func(*engine.Engine) { tr.row, tr.fell = cmd.Name, 0 })
					v.spring(tr, cmd, way)
					v.want(neighbour, "+QUEUED", "PING")
				}
				neighbour.Close()
				v.alive()
				v.recovers(before)
			})
		}
	}
}

// spring makes a client run into the trap, and checks the damage.
func (v *victim) spring(tr *trap, cmd *command.Command, way way) {
	v.t.Helper()
	c := v.named(victimName)
	defer c.Close()
	args := strings.Split(cmd.Name, "|")
	for n := max(cmd.Arity, -cmd.Arity); len(args) < n; {
		args = append(args, "1")
	}
	if err := c.SendAll(way(args)...); err != nil {
		v.t.Fatal(err)
	}
	told, err := false, error(nil)
	for n := len(way(args)); err == nil && (n > 0 || v.fell(tr) > 0); n-- {
		var r wire.Value
		r, err = c.Receive()
		told = told || strings.Contains(r.String(), "ERR internal error")
	}
	fell := v.fell(tr)
	if n := v.panics(); n != fell {
		v.t.Errorf("%s: %d panics, %d logged", cmd.Name, fell, n)
	}
	silenced := cmd.Name == "client|reply"
	if fell > 0 && (err != io.EOF && !wire.IsReset(err) || !told && !silenced) {
		v.t.Errorf("%s: replies %v, then %v", cmd.Name, told, err)
	}
	v.sound()
}

// fell returns the number of panics of the trap.
func (v *victim) fell(tr *trap) (n int) {
	v.inside(func(*engine.Engine) { n = tr.fell })
	return n
}

// badSocket panics at every write.
type badSocket struct{ command.Conn }

func (badSocket) Write([]byte) bool { panic("a trap") }

// breakSocket makes the output of the clients of that name panic.
func (v *victim) breakSocket(name string) {
	v.inside(func(e *engine.Engine) {
		e.Env().Clients.Each(func(s *command.Session) bool {
			if s.Name == name {
				s.Conn = badSocket{s.Conn}
			}
			return true
		})
	})
}

// named returns a connection of that name.
func (v *victim) named(name string) *wire.Conn {
	v.t.Helper()
	c := v.dial()
	v.want(c, "+OK", "CLIENT", "SETNAME", name)
	return c
}

// paid checks that the server has closed c and logged n panics.
func (v *victim) paid(c *wire.Conn, panics int) {
	v.t.Helper()
	if _, err := c.ReceiveWithin(slack(2 * time.Second)); err != io.EOF && !wire.IsReset(err) {
		v.t.Errorf("the connection is open: %v", err)
	}
	if n := v.panics(); n != panics {
		v.t.Errorf("%d panics, want %d", n, panics)
	}
	v.sound()
}

func TestPanicInEncodingEndsOnlyItsClient(t *testing.T) {
	v := attack(t, nil)
	neighbour, waiter, c := v.dial(), v.dial(), v.named(victimName)
	if err := waiter.Send("BLPOP", "q", "0"); err != nil {
		t.Fatal(err)
	}
	v.awaitBlocked(neighbour, 1)
	v.breakSocket(victimName)
	if err := c.Send("RPUSH", "q", "x"); err != nil {
		t.Fatal(err)
	}
	if r, err := waiter.Receive(); err != nil || r.String() != `["q" "x"]` {
		t.Errorf("the waiter got %s %v", r, err)
	}
	v.paid(c, 1)
	v.want(neighbour, "+PONG", "PING")
}

func TestPanicInDeliveryEndsOnlyTheSubscriber(t *testing.T) {
	v := attack(t, map[string]string{"notify-keyspace-events": "KEA"})
	first, bad, last, neighbour := v.dial(), v.named(victimName), v.dial(), v.dial()
	for _, c := range []*wire.Conn{first, bad, last} {
		v.want(c, `["psubscribe" "*" :1]`, "PSUBSCRIBE", "*")
	}
	v.breakSocket(victimName)
	v.want(neighbour, ":3", "PUBLISH", "c", "hello")
	for _, c := range []*wire.Conn{first, last} {
		if r, err := c.Receive(); err != nil || r.String() != `["pmessage" "*" "c" "hello"]` {
			t.Errorf("%s %v", r, err)
		}
	}
	v.paid(bad, 1)
	v.want(neighbour, "+OK", "SET", "k", "v", "PX", "10")
	for _, c := range []*wire.Conn{first, last} {
		v.hears(c, `["pmessage" "*" "__keyevent@0__:expired" "k"]`)
	}
}

// awaitBlocked polls until n clients wait in a blocking command.
func (v *victim) awaitBlocked(c *wire.Conn, n int) {
	v.t.Helper()
	eventually(v.t, 3*time.Second, func() string {
		if now := v.field(c, "blocked_clients"); now != n {
			return fmt.Sprintf("%d clients are blocked, want %d", now, n)
		}
		return ""
	})
}

// hears waits for a message and skips everything before it.
func (v *victim) hears(c *wire.Conn, message string) {
	v.t.Helper()
	for {
		r, err := c.Receive()
		if err != nil {
			v.t.Fatal(err)
		}
		if r.String() == message {
			return
		}
	}
}

// badEvents panics when the event of a key of that name is published.
type badEvents struct {
	command.Events
	key string
}

func (b badEvents) Notify(class command.Class, event string, db int, key string) {
	if event == "expired" && key == b.key {
		panic("a trap")
	}
	b.Events.Notify(class, event, db, key)
}

func TestPanicInTheTimerDoesNotStopOtherExpiries(t *testing.T) {
	clock := expiry.NewManual(time.Now())
	v := attackOn(t, clock, map[string]string{"notify-keyspace-events": "Ex"})
	listener, waiter, c := v.dial(), v.dial(), v.dial()
	v.want(listener, `["psubscribe" "*" :1]`, "PSUBSCRIBE", "*")
	v.inside(func(e *engine.Engine) { e.Env().Events = badEvents{e.Env().Events, "bad"} })
	v.want(c, "+OK", "SET", "bad", "v", "PX", "20")
	v.want(c, "+OK", "SET", "good", "v", "PX", "21")
	if err := waiter.Send("BLPOP", "q", "0.03"); err != nil {
		t.Fatal(err)
	}
	v.awaitBlocked(c, 1)
	clock.Advance(time.Second)
	eventually(t, 3*time.Second, func() string {
		if v.log.len() == 0 {
			return "the timer did not panic"
		}
		return ""
	})
	clock.Advance(time.Second) // the timer tries again after a pause
	v.hears(listener, `["pmessage" "*" "__keyevent@0__:expired" "good"]`)
	if r, err := waiter.Receive(); err != nil || r.String() != "(nil array)" {
		t.Errorf("%s %v", r, err)
	}
	v.want(c, ":0", "DBSIZE")
	if n := v.panics(); n != 1 {
		t.Errorf("%d panics", n)
	}
	v.sound()
}

func TestPanicInServingEndsOnlyTheParkedClient(t *testing.T) {
	v := attack(t, nil)
	first, second, c := v.named(victimName), v.dial(), v.dial()
	for i, waiter := range []*wire.Conn{first, second} {
		if err := waiter.Send("BLPOP", "q", "0"); err != nil {
			t.Fatal(err)
		}
		v.awaitBlocked(c, i+1)
	}
	v.inside(func(e *engine.Engine) {
		e.Env().Clients.Each(func(s *command.Session) bool {
			if s.Name == victimName {
				s.Parked.Serve = func(*command.Ctx, []byte) (resp.Reply, bool) { panic("a trap") }
			}
			return true
		})
	})
	v.want(c, ":1", "RPUSH", "q", "x")
	if r, err := second.Receive(); err != nil || r.String() != `["q" "x"]` {
		t.Errorf("%s %v", r, err)
	}
	v.paid(first, 1)
}

func TestPanicInATransactionLetsItsOtherCommandsRun(t *testing.T) {
	v := attack(t, nil)
	tr := &trap{row: "incr"}
	v.lay(tr)
	c, neighbour := v.named(victimName), v.dial()
	err := c.SendAll([]string{"WATCH", "w"}, []string{"MULTI"}, []string{"SET", "a", "1"},
		[]string{"INCR", "a"}, []string{"SET", "b", "2"}, []string{"EXEC"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"+OK", "+OK", "+QUEUED", "+QUEUED", "+QUEUED",
		`[+OK -"ERR internal error" +OK]`} {
		if r, err := c.Receive(); err != nil || r.String() != want {
			t.Fatalf("%s %v, want %s", r, err, want)
		}
	}
	v.paid(c, 1)
	v.want(neighbour, `["1" "2"]`, "MGET", "a", "b")
}
