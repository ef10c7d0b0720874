package observing

import (
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

func TestALineHasTheTimeTheDatabaseTheClientAndTheArguments(t *testing.T) {
	s := newServer()
	s.env.Config.UnixSocket = "/tmp/s"
	monitors := NewMonitors(s, &s.env, s.watch)
	monitor, shown := newClient("1.2.3.4:5")
	client, _ := newClient("1.2.3.4:6")
	local, _ := newClient("/tmp/s:0")
	local.Unix, local.DB = true, 3
	monitors.Add(monitor)
	s.clock.Advance(1500 * time.Microsecond)
	for _, row := range []struct {
		by   *command.Session
		from command.Origin
		args []string
		want string
	}{
		{client, command.FromClient, []string{"set", "k", "a\tb"}, `[0 1.2.3.4:6] "set" "k" "a\tb"`},
		{client, command.FromExec, []string{"ping", "\"\\\n\r\a\b\x00\x7f\xffé"},
			`[0 1.2.3.4:6] "ping" "\"\\\n\r\a\b\x00\x7f\xff\xc3\xa9"`},
		{local, command.FromClient, []string{"get", ""}, `[3 unix:/tmp/s] "get" ""`},
		{client, command.FromScript, []string{"get", "k"}, `[1 lua] "get" "k"`},
	} {
		c, _ := s.command(row.by, row.from, row.args[0])
		var args resp.Args
		for _, arg := range row.args {
			args = append(args, []byte(arg))
		}
		shown.text = ""
		monitors.Ends(c, args, true)
		if want := "+1700000000.001500 " + row.want + "\r\n"; shown.text != want {
			t.Errorf("%q is shown as %q, want %q", row.args, shown.text, want)
		}
	}
}

func TestACommandIsShownOnceAndOnlyIfItRanForAClient(t *testing.T) {
	for _, row := range []struct {
		line          string
		from          command.Origin
		ran           bool
		begins, ended bool // it is shown then
	}{
		{"get k", command.FromClient, true, false, true},
		{"get k", command.FromExec, true, false, true},
		{"get k", command.FromScript, true, false, true},
		{"get k", command.FromKit, true, false, false},
		{"blpop l 0", command.FromWait, true, false, false},
		{"get k", command.FromClient, false, false, false},
		{"nonsense", command.FromClient, false, false, false},
		{"exec", command.FromClient, true, false, true},
		{"exec", command.FromClient, false, false, true},
		{"eval x 0", command.FromClient, true, true, false},
		{"eval x 0", command.FromKit, true, false, false},
		{"config get port", command.FromClient, true, false, false},
	} {
		s := newServer()
		monitors := NewMonitors(s, &s.env, s.watch)
		monitor, shown := newClient("1.2.3.4:5")
		client, _ := newClient("1.2.3.4:6")
		monitors.Add(monitor)
		c, args := s.command(client, row.from, row.line)
		if row.ran {
			monitors.Begins(c, args)
		}
		begins := shown.text != ""
		shown.text = ""
		monitors.Ends(c, args, row.ran)
		if ended := shown.text != ""; begins != row.begins || ended != row.ended {
			t.Errorf("%s from %d, which ran: %t, is shown at its begin: %t, at its end: %t",
				row.line, row.from, row.ran, begins, ended)
		}
	}
}

func TestAMonitorSeesNoHiddenArgument(t *testing.T) {
	s := newServer()
	monitors := NewMonitors(s, &s.env, s.watch)
	monitor, shown := newClient("1.2.3.4:5")
	client, _ := newClient("1.2.3.4:6")
	client.Hidden = []int{1, 9}
	monitors.Add(monitor)
	c, args := s.command(client, command.FromClient, "auth secret")
	monitors.Ends(c, args, true)
	if !strings.HasSuffix(shown.text, "\"auth\" \"(redacted)\"\r\n") || string(args[1]) != "secret" {
		t.Errorf("a monitor sees %q, the line is %q", shown.text, args)
	}
}

func TestASilentOrClosingMonitorSeesNothing(t *testing.T) {
	s := newServer()
	monitors := NewMonitors(s, &s.env, s.watch)
	silent, one := newClient("1.2.3.4:5")
	closing, other := newClient("1.2.3.4:6")
	silent.ReplyMode = command.ReplyOff
	closing.Move(command.Closing)
	monitors.Add(silent)
	monitors.Add(closing)
	c, args := s.command(silent, command.FromClient, "ping")
	monitors.Ends(c, args, true)
	if one.text+other.text != "" {
		t.Errorf("they see %q", one.text+other.text)
	}
}

func TestAMonitorMayLeaveWhileALineIsWritten(t *testing.T) {
	s := newServer()
	monitors := NewMonitors(s, &s.env, s.watch)
	first, out := newClient("1.2.3.4:5")
	second, shown := newClient("1.2.3.4:6")
	monitors.Add(first)
	monitors.Add(second)
	out.onWrite = func() { monitors.Remove(first) }
	c, args := s.command(second, command.FromClient, "ping")
	monitors.Ends(c, args, true)
	if !strings.HasSuffix(shown.text, "\"ping\"\r\n") || !monitors.Any() {
		t.Errorf("the second monitor sees %q", shown.text)
	}
}

func TestTheEngineLearnsOfTheFirstAndTheLastMonitor(t *testing.T) {
	s := newServer()
	monitors := NewMonitors(s, &s.env, s.watch)
	monitor, _ := newClient("1.2.3.4:5")
	monitors.Remove(monitor)
	if s.attended != 0 || monitors.Any() {
		t.Error("a client that is no monitor counts")
	}
	monitors.Add(monitor)
	if s.attended != 1 || !monitors.Any() || !monitor.Monitor {
		t.Error("the first monitor does not count")
	}
	monitors.Remove(monitor)
	if s.attended != 2 || monitors.Any() || monitor.Monitor {
		t.Error("the last monitor stays")
	}
}
