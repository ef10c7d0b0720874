package tracking

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commands"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// host is an engine that runs no commands: it has clients, and says whose command runs.
type host struct {
	command.Clients

	env       command.Env
	tracker   *Tracker
	sessions  []*command.Session
	current   *command.Session
	runsQueue bool
	declared  [][]byte // by the running script; nil: no script runs
}

func newHost() *host {
	h := &host{}
	h.env = command.Env{
		Config: config.New(), Table: commands.NewTable(), Space: store.NewSpace(1, nil),
		Rand: rand.New(rand.NewPCG(1, 2)), Clients: h, Script: scripts{h: h},
	}
	h.env.Space.SetNow(1000)
	h.tracker = New(h, &h.env)
	return h
}

func (h *host) Attend()                           {}
func (h *host) Current() *command.Session         { return h.current }
func (h *host) RunsQueue(s *command.Session) bool { return h.runsQueue && s == h.current }
func (h *host) ScriptKeys() [][]byte              { return h.declared }

// scripts says whether a script runs.
type scripts struct {
	command.ScriptRunner
	h *host
}

func (s scripts) Busy() (resp.Reply, bool) { return resp.NoReply, s.h.declared != nil }

func (h *host) Each(do func(*command.Session) bool) {
	for _, s := range h.sessions {
		if s.Conn.(*conn).open && !do(s) {
			return
		}
	}
}

func (h *host) ByID(id int64) *command.Session {
	if s := h.sessions[id-1]; s.Conn.(*conn).open {
		return s
	}
	return nil
}

// conn keeps its output.
type conn struct {
	command.Conn
	open bool
	text strings.Builder
}

func (c *conn) Write(b []byte) bool {
	c.text.Write(b)
	return true
}

// connect returns a client in RESP3 that tracks in a mode.
func (h *host) connect(mode command.TrackingMode, prefixes ...string) *command.Session {
	s := &command.Session{ID: int64(len(h.sessions) + 1), Proto: 3, Conn: &conn{open: true}}
	h.sessions = append(h.sessions, s)
	h.tracker.Enable(s, mode|command.TrackingOn, 0, prefixes)
	return s
}

// leave ends the connection of s.
func (h *host) leave(s *command.Session) {
	s.Conn.(*conn).open = false
	h.tracker.Forget(s)
}

// read runs MGET as a command of s.
func (h *host) read(s *command.Session, keys ...string) {
	c, line := h.begin(s, "MGET", keys...)
	h.tracker.Remember(c, line)
	h.tracker.CommandEnds(c)
}

// write runs a command of s that changes keys. s may be nil: the timer changes them.
func (h *host) write(s *command.Session, keys ...string) {
	c, _ := h.begin(s, "DEL", keys...)
	for _, key := range keys {
		h.tracker.Changed(key)
	}
	if s != nil {
		h.tracker.CommandEnds(c)
	}
	h.current = nil
	h.tracker.UnitEnds()
}

func (h *host) begin(s *command.Session, name string, keys ...string) (*command.Ctx, resp.Args) {
	line := resp.Args{[]byte(name)}
	for _, key := range keys {
		line = append(line, []byte(key))
	}
	h.current = s
	return &command.Ctx{Env: &h.env, Session: s, Cmd: h.env.Table.Find(line)}, line
}

// got returns the output to s since the last call, with spaces in place of line ends.
func got(s *command.Session) string {
	text := &s.Conn.(*conn).text
	defer text.Reset()
	return strings.TrimSpace(strings.ReplaceAll(text.String(), "\r\n", " "))
}

func pushed(keys ...string) string {
	text := fmt.Sprintf(">2 $10 invalidate *%d", len(keys))
	for _, key := range keys {
		text += fmt.Sprintf(" $%d %s", len(key), key)
	}
	return text
}

// expect checks the output to s and the state of the tracker.
func (h *host) expect(t *testing.T, s *command.Session, want string) {
	t.Helper()
	if text := got(s); text != want {
		t.Errorf("client %d got %q, want %q", s.ID, text, want)
	}
	if err := h.tracker.Check(); err != nil {
		t.Error(err)
	}
}

func TestATrackingClientThatLeavesLeavesNothing(t *testing.T) {
	h := newHost()
	stays := h.connect(0)
	h.read(stays, "a", "b", "c")
	prefixes := h.connect(command.Broadcast, "x", "y")
	leavers := []*command.Session{prefixes}
	for range 9 {
		s := h.connect(0)
		h.read(s, "a", "b", "c", "d")
		leavers = append(leavers, s)
	}
	off := h.connect(0)
	h.read(off, "a", "e")
	h.tracker.Disable(off)
	want := command.TrackingCounts{Clients: 11, Keys: 5, Items: 41, Prefixes: 2}
	if got := h.tracker.Counts(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, s := range leavers {
		h.leave(s)
		h.expect(t, s, "")
	}
	if got := h.tracker.Counts(); got.Clients != 1 || got.Items > 10 || got.Prefixes != 0 {
		t.Errorf("after the others left: %+v", got)
	}
	h.leave(off)
	h.write(nil, "a", "d")
	h.expect(t, stays, pushed("a"))
	h.leave(stays)
	if got := h.tracker.Counts(); got != (command.TrackingCounts{}) || h.tracker.Active() || h.tracker.Bytes() != 0 {
		t.Errorf("in the end: %+v, %d bytes", got, h.tracker.Bytes())
	}
}

func TestAnInvalidationWaitsForTheEndOfExec(t *testing.T) {
	h := newHost()
	reader, redirected := h.connect(0), h.connect(0)
	h.read(reader, "a")
	h.tracker.Enable(redirected, command.TrackingOn, reader.ID, nil)
	h.read(redirected, "a")
	c, _ := h.begin(reader, "EXEC")
	h.runsQueue = true
	h.tracker.Changed("a")
	h.tracker.Flushed()
	h.expectSent(t, reader, "")
	h.runsQueue = false
	h.tracker.CommandEnds(c)
	h.expect(t, reader, pushed("a")+" "+pushed("a")+" >2 $10 invalidate _ >2 $10 invalidate _")
}

// expectSent is expect while an invalidation waits.
func (h *host) expectSent(t *testing.T, s *command.Session, want string) {
	t.Helper()
	if text := got(s); text != want {
		t.Errorf("client %d got %q, want %q", s.ID, text, want)
	}
}

func TestAClientWithNoLoopHearsOnlyOfTheChangesOfOthers(t *testing.T) {
	for _, mode := range []command.TrackingMode{0, command.Broadcast} {
		h := newHost()
		s, other := h.connect(mode|command.NoLoop), h.connect(0)
		h.read(s, "a", "b")
		h.write(s, "a")
		h.expect(t, s, "")
		h.write(other, "b")
		h.expect(t, s, pushed("b"))
	}
}

func TestAScriptThatReadsIsRememberedWithTheKeysThatItDeclares(t *testing.T) {
	h := newHost()
	s := h.connect(0)
	h.declared = [][]byte{[]byte("a"), []byte("b")}
	c, line := h.begin(s, "MGET", "c")
	c.From = command.FromScript
	h.tracker.Remember(c, line)
	h.declared = nil
	h.write(nil, "b", "c")
	h.expect(t, s, pushed("b"))
}

func TestATableThatIsTooLargeInvalidatesRandomKeys(t *testing.T) {
	h := newHost()
	s := h.connect(command.NoLoop)
	for i := range 500 {
		h.read(s, fmt.Sprint("key:", i))
	}
	h.env.Config.TrackingMaxKeys = 10
	h.read(s)
	if n := h.tracker.Counts().Keys; n != 500-invalidationsEach || h.tracker.Due() != 1000 {
		t.Errorf("%d keys after one command, due at %d", n, h.tracker.Due())
	}
	for more := true; more; {
		more = h.tracker.Fire(1000)
	}
	if n, sent := h.tracker.Counts().Keys, strings.Count(got(s), "invalidate"); n != 10 || sent != 490 {
		t.Errorf("%d keys and %d invalidations", n, sent)
	}
	if h.tracker.Due() != 0 {
		t.Error("the timer has something to do")
	}
	h.expect(t, s, "")
}
