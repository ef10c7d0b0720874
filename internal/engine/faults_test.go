package engine

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commands"
	"github.com/lockredis/lockredis/internal/fault"
	"github.com/lockredis/lockredis/resp"
)

// recordingConn is a connection that keeps its output.
type recordingConn struct {
	discardConn
	output string
	woken  int
}

func (c *recordingConn) Write(b []byte) bool { c.output += string(b); return true }
func (c *recordingConn) Wake()               { c.woken++ }

func faultySession(e *Engine) (*command.Session, *recordingConn) {
	out := &recordingConn{}
	s := &command.Session{Conn: out}
	e.Do(&Caller{}, func() { e.Join(s) })
	return s, out
}

func execute(e *Engine, s *command.Session, args ...string) (ran bool) {
	e.Do(&Caller{}, func() { ran = e.Execute(s, words(args...)) })
	return ran
}

// A request that CLIENT PAUSE postpones comes again. The rules count it once.
func TestAFaultHitsARequestOnceThoughAPausePostponesIt(t *testing.T) {
	e := newTestEngine(expiry.System())
	s, out := faultySession(e)
	other, _ := faultySession(e)
	hits := 0
	e.Faults().Add(&fault.Rule{Kind: fault.DuplicateReply, Times: fault.Always,
		Request: func(r fault.Request) bool { return r.Name() == "incr" }, OnHit: func() { hits++ }})
	execute(e, other, "CLIENT", "PAUSE", "100000", "WRITE")
	for range 3 {
		if execute(e, s, "INCR", "n") {
			t.Fatal("the command ran in spite of the pause")
		}
	}
	execute(e, other, "CLIENT", "UNPAUSE")
	if !execute(e, s, "INCR", "n") || out.output != ":1\r\n:1\r\n" || hits != 1 {
		t.Errorf("output %q, %d hits", out.output, hits)
	}
	if n := e.Faults().Requests()["incr"]; n != 1 {
		t.Errorf("%d requests were counted", n)
	}
}

func TestADelayedRequestComesAgainUntilItIsReleased(t *testing.T) {
	e := newTestEngine(expiry.System())
	s, out := faultySession(e)
	rule := &fault.Rule{Kind: fault.DelayRequest}
	e.Faults().Add(rule)
	for range 3 {
		if execute(e, s, "INCR", "n") || s.State() != command.Postponed {
			t.Fatal("the request was not delayed")
		}
	}
	if e.Faults().Delayed(rule) != 1 || out.woken != 0 {
		t.Errorf("%d are delayed, woken %d times", e.Faults().Delayed(rule), out.woken)
	}
	if !e.Faults().ReleaseNext(rule) || e.Faults().ReleaseNext(rule) {
		t.Error("not one release")
	}
	if out.woken != 1 || !execute(e, s, "INCR", "n") || s.State() != command.Ready {
		t.Errorf("woken %d times, state %v", out.woken, s.State())
	}
}

// sourceOf is a Source with given commands.
type sourceOf [][]string

func (q *sourceOf) Next() (args resp.Args, ok bool) {
	if len(*q) == 0 {
		return nil, false
	}
	args = words((*q)[0]...)
	*q = (*q)[1:]
	return args, true
}

func (*sourceOf) Unread() {}

func TestARequestThatWasReleasedBeforeItsClientLeftRuns(t *testing.T) {
	e := newTestEngine(expiry.System())
	s, _ := faultySession(e)
	rule := &fault.Rule{Kind: fault.DelayRequest}
	e.Faults().Add(rule)
	execute(e, s, "INCR", "n")
	e.Faults().ReleaseNext(rule)
	e.Do(&Caller{}, func() { e.LeaveUnread(s, &sourceOf{{"INCR", "n"}, {}, {"INCR", "n"}}) })
	e.RunDirect(0, words("GET", "n"), func(r resp.Reply) {
		if r.Text() != "2" {
			t.Errorf("n is %q", r.Text())
		}
	})
}

func TestAnEngineWithoutFaultsKeepsNothingOfAClientThatLeaves(t *testing.T) {
	e := newTestEngine(expiry.System())
	s, _ := faultySession(e)
	source := &sourceOf{{"INCR", "n"}}
	e.Do(&Caller{}, func() { e.LeaveUnread(s, source) })
	if len(*source) != 1 || s.State() != command.Gone {
		t.Error("the unread command was read")
	}
}

func TestADelayWhoseRuleWasRemovedBeforeTheReplyHoldsNothingBack(t *testing.T) {
	e := newTestEngine(expiry.System())
	s, out := faultySession(e)
	rule := &fault.Rule{Kind: fault.DelayReply}
	e.Faults().Add(rule)
	execute(e, s, "BLPOP", "q", "0")
	e.Faults().Remove(rule)
	e.RunDirect(0, words("RPUSH", "q", "v"), func(resp.Reply) {})
	if want := "*2\r\n$1\r\nq\r\n$1\r\nv\r\n"; out.output != want {
		t.Errorf("output %q", out.output)
	}
}

func TestRestartEndsSessionsPausesAndScripts(t *testing.T) {
	e := newTestEngine(expiry.System())
	s, _ := faultySession(e)
	execute(e, s, "SET", "k", "v")
	execute(e, s, "EVAL", "return 1", "0")
	execute(e, s, "CLIENT", "PAUSE", "100000")
	e.Kit().Restart(true)
	if open, total := e.Kit().ConnectionCounts(); open != 0 || total != 0 || s.State() != command.Gone {
		t.Errorf("%d connections of %d, state %v", open, total, s.State())
	}
	s, out := faultySession(e)
	execute(e, s, "EXISTS", "k")
	execute(e, s, "SCRIPT", "EXISTS", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db")
	e.Kit().Restart(false)
	s, after := faultySession(e)
	execute(e, s, "EXISTS", "k")
	if out.output != ":1\r\n*1\r\n:0\r\n" || after.output != ":0\r\n" {
		t.Errorf("%q, then %q", out.output, after.output)
	}
}

// After the last fault, and when nothing of it is left, a request takes the road of an engine that
// never had one.
func TestAnEngineWhoseFaultsAreClearedAsksNoMore(t *testing.T) {
	e := newTestEngine(expiry.System())
	s, out := faultySession(e)
	asks := func() bool {
		return e.attention&forFaults != 0 || e.replies.replied != nil || e.env.PubSub.Drop != nil
	}
	kit := func(want, line string) {
		t.Helper()
		e.RunDirect(0, words(strings.Fields(line)...), func(r resp.Reply) {
			if got := string(resp.Append(nil, r, 2)); got != want {
				t.Errorf("%s: %q, want %q", line, got, want)
			}
		})
	}
	commands.HideLockCommands(e.env.Table)
	if e.faults != nil {
		t.Error("an engine has room for faults from the start")
	}
	kit("*0\r\n", "FAULT.LIST")
	if asks() {
		t.Error("the engine asks without a rule")
	}
	kit(":1\r\n", "FAULT.ADD hold-request COMMAND incr")
	kit(":2\r\n", "FAULT.ADD delay-reply COMMAND blpop")
	if execute(e, s, "INCR", "n"); !asks() {
		t.Error("the engine does not ask")
	}
	kit(":2\r\n", "FAULT.CLEAR")
	if !asks() {
		t.Error("the engine has forgotten a request that is to come again")
	}
	if !execute(e, s, "INCR", "n") || out.output != ":1\r\n" || asks() {
		t.Errorf("output %q, the engine asks: %v", out.output, asks())
	}
	kit(":3\r\n", "FAULT.ADD delay-reply")
	execute(e, s, "BLPOP", "q", "0")
	kit(":1\r\n", "FAULT.CLEAR")
	if !asks() {
		t.Error("the engine has forgotten an open reply")
	}
	if kit(":1\r\n", "RPUSH q v"); asks() {
		t.Error("the engine asks after the reply")
	}
	kit(":4\r\n", "FAULT.ADD hold-request")
	execute(e, s, "INCR", "n")
	e.Do(&Caller{}, func() { e.Leave(s) })
	if kit(":1\r\n", "FAULT.CLEAR"); asks() {
		t.Error("the engine asks for a client that has left")
	}
}
