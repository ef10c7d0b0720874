package fault

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/str"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// host is an engine that answers each request with the request itself.
type host struct {
	command.Clients

	env      command.Env
	injector *Injector
	sessions []*command.Session
	ran      []string
	busy     bool
}

func newHost() *host {
	h := &host{}
	h.env = command.Env{
		Config: config.New(), Table: command.NewTable(command.Group{Name: "string", Rows: str.Commands()}), Space: store.NewSpace(1, nil), Clients: h,
		PubSub: pubsub.NewBroker(func(pattern, name string) bool { return false }),
	}
	h.injector = NewInjector(h, &h.env)
	h.env.PubSub.Drop = h.injector.Drops
	return h
}

func (h *host) Outside(unit func())       { unit() }
func (h *host) Forget(s *command.Session) { h.injector.Forget(s) }
func (h *host) Attend(busy bool)          { h.busy = busy }
func (h *host) Kill(s *command.Session)   { s.Move(command.Closing) }

func (h *host) Each(do func(*command.Session) bool) {
	for _, s := range h.sessions {
		if !do(s) {
			return
		}
	}
}

func (h *host) Execute(s *command.Session, args resp.Args) (ran bool) {
	c := &command.Ctx{Env: &h.env, Session: s, Cmd: h.env.Table.Find(args), DB: h.env.Space.DB(0)}
	reply := resp.Status(text(args))
	switch v, failure := h.injector.Admit(c, args); v {
	case Lost:
		return true
	case Failed:
		reply = failure
	case Delayed:
		s.Move(command.Postponed)
		return false
	default:
		h.ran = append(h.ran, text(args))
	}
	if s.State() == command.Postponed {
		s.Move(command.Ready)
	}
	s.Conn.Write(resp.Append(nil, reply, 2))
	h.injector.Replied(s)
	return true
}

// conn keeps its output.
type conn struct {
	command.Conn
	output string
	woken  int
}

func (c *conn) Write(b []byte) bool {
	c.output += strings.ReplaceAll(string(b), "\r\n", " ")
	return true
}
func (c *conn) Wake() { c.woken++ }

func (h *host) connect() (*command.Session, *conn) {
	out := &conn{}
	s := &command.Session{ID: int64(len(h.sessions) + 1), Conn: out}
	h.sessions = append(h.sessions, s)
	return s, out
}

// send runs a command line.
func (h *host) send(s *command.Session, line string) (ran bool) { return h.Execute(s, words(line)) }

func words(line string) (args resp.Args) {
	for _, word := range strings.Fields(line) {
		args = append(args, []byte(word))
	}
	return args
}

func TestADelayedRequestComesAgainUntilItIsReleased(t *testing.T) {
	h := newHost()
	s, out := h.connect()
	rule := &Rule{Kind: DelayRequest}
	h.injector.Add(rule)
	for range 3 {
		if h.send(s, "INCR n") {
			t.Fatal("the request was not delayed")
		}
	}
	if h.injector.Delayed(rule) != 1 || out.woken != 0 {
		t.Errorf("%d are delayed, woken %d times", h.injector.Delayed(rule), out.woken)
	}
	if !h.injector.ReleaseNext(rule) || h.injector.ReleaseNext(rule) {
		t.Error("not one release")
	}
	if out.woken != 1 || !h.send(s, "INCR n") || s.State() != command.Ready {
		t.Errorf("woken %d times, state %v", out.woken, s.State())
	}
	if n := h.injector.Requests()["incr"]; n != 1 {
		t.Errorf("%d requests were counted", n)
	}
}

func TestARequestThatFailsOrIsLostDoesNotRun(t *testing.T) {
	h := newHost()
	s, out := h.connect()
	h.injector.Add(&Rule{Kind: FailRequest, Error: "ERR on purpose"})
	h.injector.Add(&Rule{Kind: LoseRequest, Nth: 2})
	h.send(s, "INCR n")
	h.send(s, "INCR n")
	if out.output != "-ERR on purpose +[INCR n] " {
		t.Errorf("the client got %q", out.output)
	}
	h.send(s, "INCR m")
	if out.output != "-ERR on purpose +[INCR n] " || s.State() != command.Closing || len(h.ran) != 1 {
		t.Errorf("the client got %q, state %v", out.output, s.State())
	}
}

func TestTheRequestsOfAClientThatLeftRunWhenTheFirstIsReleased(t *testing.T) {
	for _, before := range []bool{true, false} {
		h := newHost()
		s, _ := h.connect()
		rule := &Rule{Kind: DelayRequest}
		h.injector.Add(rule)
		h.send(s, "INCR a")
		if before {
			h.injector.ReleaseNext(rule)
		}
		unread := []string{"INCR a", "INCR b"}
		h.injector.KeepLate(s, func() (args resp.Args, ok bool) {
			if len(unread) == 0 {
				return nil, false
			}
			args, unread = words(unread[0]), unread[1:]
			return args, true
		})
		h.injector.Forget(s)
		if !before {
			if len(h.ran) != 0 {
				t.Errorf("ran %q before the release", h.ran)
			}
			h.injector.ReleaseNext(rule)
		}
		if want := []string{"[INCR a]", "[INCR b]"}; !slices.Equal(h.ran, want) {
			t.Errorf("ran %q, want %q", h.ran, want)
		}
	}
}

// A tap that another tap wraps passes its output through, and both are removed in the end.
func TestDelaysOfOneConnectionKeepTheOrder(t *testing.T) {
	h := newHost()
	s, out := h.connect()
	rule := &Rule{Kind: DelayReply, Times: 2}
	h.injector.Add(rule)
	for _, line := range []string{"a", "b", "c"} {
		h.send(s, line)
	}
	for _, want := range []string{"+[a] ", "+[a] +[b] +[c] "} {
		h.injector.ReleaseNext(rule)
		if out.output != want {
			t.Errorf("output %q, want %q", out.output, want)
		}
	}
	if s.Conn != command.Conn(out) {
		t.Errorf("a tap is left: %T", s.Conn)
	}
}

func TestAMessageIsDroppedOrDelayed(t *testing.T) {
	h := newHost()
	s, out := h.connect()
	h.env.PubSub.Subscribe(s, &s.Subs, pubsub.Channel, "c")
	delay := &Rule{Kind: DelayMessage, Nth: 2}
	h.injector.Add(&Rule{Kind: DropMessage, Message: func(m Message) bool { return m.Payload == "a" }})
	h.injector.Add(delay)
	for _, payload := range []string{"a", "b", "c", "d"} {
		h.env.PubSub.Publish([]byte("c"), []byte(payload), false)
	}
	if !strings.HasSuffix(out.output, "b ") {
		t.Errorf("the subscriber got %q", out.output)
	}
	h.injector.ReleaseNext(delay)
	if strings.Contains(out.output, " a ") || !strings.HasSuffix(out.output, "d ") {
		t.Errorf("then the subscriber got %q", out.output)
	}
}

func TestASilencedClientGetsNothingMore(t *testing.T) {
	h := newHost()
	s, out := h.connect()
	other, heard := h.connect()
	n := h.injector.Silence(func(c Client) bool { return c.ID == s.ID })
	h.send(s, "a")
	h.send(other, "b")
	if n != 1 || out.output != "" || heard.output != "+[b] " || len(h.ran) != 2 {
		t.Errorf("%d clients, output %q and %q", n, out.output, heard.output)
	}
}

// The limit of time is far above what a slow machine needs. With a cost that grows with the square of the number,
// each of these takes minutes.
func TestManyFaultsEndInLinearTime(t *testing.T) {
	const faults = 200_000
	for name, end := range map[string]func(h *host, ids []int64, rules []*Rule){
		"FAULT.CLEAR": func(h *host, _ []int64, _ []*Rule) { h.injector.ClearFaults() },
		"FAULT.REMOVE": func(h *host, ids []int64, _ []*Rule) {
			for _, id := range ids {
				h.injector.RemoveFault(id)
			}
		},
		"Remove": func(h *host, _ []int64, rules []*Rule) {
			for _, rule := range rules {
				h.injector.Remove(rule)
			}
		},
	} {
		h := newHost()
		var ids []int64
		var rules []*Rule
		for range faults {
			if name == "Remove" {
				rules = append(rules, &Rule{Kind: LoseReply})
				h.injector.Add(rules[len(rules)-1])
			} else {
				ids = append(ids, h.injector.SetFault(command.Fault{Kind: "lose-reply", Command: "incr"}))
			}
		}
		begun := time.Now()
		end(h, ids, rules)
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s: %d faults end in %v", name, faults, took)
		}
		if len(h.injector.Faults()) != 0 || h.busy {
			t.Errorf("%s: %d faults are left, the injector is busy: %v", name, len(h.injector.Faults()), h.busy)
		}
	}
}

func TestFaultsAreListedWithWhatTheyHold(t *testing.T) {
	h := newHost()
	for i := range 20 {
		h.injector.SetFault(command.Fault{Kind: "hold-request", Command: "incr", Times: i + 1})
	}
	for range 1 + 2 + 3 + 2 {
		s, _ := h.connect()
		h.send(s, "INCR n")
	}
	for i, state := range h.injector.Faults() {
		held := []int{1, 2, 3, 2, 0}[min(i, 4)]
		if state.ID != int64(i+1) || state.Hits != held || state.Held != held {
			t.Errorf("at %d: fault %d with %d hits holds %d, want %d", i, state.ID, state.Hits, state.Held, held)
		}
	}
}

// text returns a command line in brackets.
func text(args resp.Args) string {
	return "[" + string(bytes.Join(args, []byte(" "))) + "]"
}
