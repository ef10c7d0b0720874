package observing

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/command"
)

// measured runs a command of c that takes d, and reports whether it was measured.
func (s *server) measured(m *Measures, c *command.Session, from command.Origin, line string, d time.Duration) bool {
	x, args := s.command(c, from, line)
	calls := s.env.Table.Calls(x.Cmd)
	began, ok := m.Begins(x)
	s.clock.Advance(d)
	calls.Calls++
	if ok {
		m.Ends(x, calls, args, began)
	}
	return ok
}

// slow returns the command lines of SLOWLOG, the oldest first.
func (s *server) slow() (lines []string) {
	for _, entry := range s.env.SlowLog.Newest(99) {
		lines = append(lines, strings.Join(entry.Args, " ")+" by "+entry.Addr+entry.Name)
	}
	return lines
}

func newMeasures(s *server) *Measures {
	m := NewMeasures(&s.env, s.watch)
	m.Follow()
	return m
}

func TestSlowlogKeepsWhatTakesAtLeastTheLimit(t *testing.T) {
	s := newServer()
	s.env.Config.SlowerThan = 2000
	m := newMeasures(s)
	client, _ := newClient("1.2.3.4:5")
	client.Name = "-me"
	s.measured(m, client, command.FromClient, "get short", 1999*time.Microsecond)
	s.measured(m, client, command.FromClient, "get long", 2*time.Millisecond)
	s.measured(m, client, command.FromExec, "get queued", 3*time.Millisecond)
	s.measured(m, client, command.FromScript, "get scripted", 3*time.Millisecond)
	s.measured(m, client, command.FromClient, "exec", 3*time.Millisecond) // its commands are there
	want := []string{"get long by 1.2.3.4:5-me", "get queued by 1.2.3.4:5-me", "get scripted by ?:0"}
	if got := s.slow(); !slices.Equal(got, want) {
		t.Errorf("SLOWLOG has %q, want %q", got, want)
	}
	if e := s.env.SlowLog.Newest(3)[0]; e.Micros != 2000 || e.Unix != 1_700_000_000 {
		t.Errorf("the first took %d µs and ended at %d", e.Micros, e.Unix)
	}
	s.env.Config.SlowlogMax = 1
	s.env.Config.SlowerThan = -1
	m.Follow()
	s.measured(m, client, command.FromClient, "get long", time.Hour)
	if got := s.slow(); !slices.Equal(got, want) {
		t.Errorf("SLOWLOG that is off has %q, want %q", got, want)
	}
	s.env.Config.SlowerThan = 0
	m.Follow()
	if got := s.slow(); !slices.Equal(got, want[2:]) {
		t.Errorf("SLOWLOG of one entry has %q", got)
	}
}

func TestTheNextCommandOfAUnitBeginsWhenTheLastHasEnded(t *testing.T) {
	s := newServer()
	m := newMeasures(s)
	client, _ := newClient("1.2.3.4:5")
	s.measured(m, client, command.FromClient, "get k", 3*time.Millisecond)
	s.measured(m, client, command.FromExec, "set k v", 2*time.Millisecond)
	for name, want := range map[string]float64{"get": 3000, "set": 2000} {
		if got := s.env.Table.Calls(s.env.Table.Find([][]byte{[]byte(name)})).Micros(true); got != want {
			t.Errorf("%s took %v µs, want %v", name, got, want)
		}
	}
}

func TestOneCallOfAScriptStandsForOthersUnlessShortOnesAreAskedFor(t *testing.T) {
	s := newServer()
	m := newMeasures(s)
	client, _ := newClient("1.2.3.4:5")
	run := func() (n int) {
		for range 64 {
			if s.measured(m, client, command.FromScript, "get k", 0) {
				n++
			}
		}
		return n
	}
	if n := run(); n != 2 {
		t.Errorf("%d calls of 64 are measured, want 2", n)
	}
	for _, row := range []struct{ slower, threshold, want int64 }{
		{1000, 0, 2}, {999, 0, 64}, {0, 0, 64}, {-1, 0, 2}, {1000, 1, 64},
	} {
		s.env.Config.SlowerThan, s.env.Config.LatencyThreshold = row.slower, row.threshold
		m.Follow()
		if n := run(); int64(n) != row.want {
			t.Errorf("slower than %d, threshold %d: %d calls of 64 are measured, want %d",
				row.slower, row.threshold, n, row.want)
		}
		if err := m.Check(); err != nil {
			t.Error(err)
		}
	}
	s.env.Config.LatencyThreshold = 0
	if m.Check() == nil {
		t.Error("Check does not see a directive that Follow has not")
	}
}

func TestACommandThatWaitsCountsWhenItIsServed(t *testing.T) {
	s := newServer()
	s.env.Config.SlowerThan, s.env.Config.LatencyThreshold = 3000, 2
	m := newMeasures(s)
	client, _ := newClient("1.2.3.4:5")
	blpop := s.env.Table.Find([][]byte{[]byte("blpop")})
	parked := &command.Parked{Session: client, Cmd: blpop}
	client.Parked = parked
	s.measured(m, client, command.FromClient, "blpop l 0", time.Millisecond)
	calls := s.env.Table.Calls(blpop)
	if len(s.slow()) != 0 || calls.Times(true).Total() != 0 || parked.Took != 1e6 {
		t.Errorf("before the wait ends: SLOWLOG has %q, %d calls have a duration", s.slow(), calls.Times(true).Total())
	}
	s.clock.Advance(time.Hour)
	if s.measured(m, client, command.FromWait, "blpop l 0", time.Hour) {
		t.Error("a served command is measured twice")
	}
	m.Served(parked, 2e6)
	if got := s.slow(); !slices.Equal(got, []string{"blpop l 0 by 1.2.3.4:5"}) {
		t.Errorf("SLOWLOG has %q", got)
	}
	if got := calls.Micros(true); got != 3000 {
		t.Errorf("it took %v µs, want 3000", got)
	}
	if e := s.env.Latency.Find("command-unblocking"); e == nil || e.Latest().Millis != 2 {
		t.Errorf("LATENCY has %v", e)
	}
}

func TestLatencyKeepsEventsFromTheThresholdOn(t *testing.T) {
	s := newServer()
	s.env.Config.LatencyThreshold = 3
	m := newMeasures(s)
	client, _ := newClient("1.2.3.4:5")
	s.measured(m, client, command.FromClient, "get k", 3*time.Millisecond)
	s.measured(m, client, command.FromClient, "keys x", 2*time.Millisecond)
	m.Spike("expire-cycle", 5e6)
	var names []string
	for _, e := range s.env.Latency.All() {
		names = append(names, e.Name)
	}
	if got := strings.Join(names, " "); got != "expire-cycle fast-command" {
		t.Errorf("LATENCY has %q", got)
	}
	s.env.Config.LatencyThreshold = 0
	m.Follow()
	m.Spike("other", 1e12)
	if s.env.Latency.Find("other") != nil {
		t.Error("LATENCY that is off keeps an event")
	}
}
