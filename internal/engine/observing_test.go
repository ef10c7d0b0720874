package engine

import (
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/nohost"
)

// sleeper is a host on which DEBUG SLEEP moves the manual clock.
type sleeper struct {
	nohost.Host
	clock *expiry.Manual
}

func (s sleeper) Sleep(micros int64) { s.clock.Advance(time.Duration(micros) * time.Microsecond) }

// textConn keeps its output.
type textConn struct {
	discardConn
	text []byte
}

func (n *textConn) Write(b []byte) bool { n.text = append(n.text, b...); return true }

// watched is an engine in which a command takes as long as DEBUG SLEEP says, and clients of it.
type watched struct {
	t     *testing.T
	e     *Engine
	clock *expiry.Manual
	out   map[*command.Session]*textConn
}

func newWatched(t *testing.T, settings ...string) *watched {
	clock := expiry.NewManual(time.UnixMilli(1_700_000_000_000))
	cfg := config.New()
	cfg.DebugCommand = config.AccessYes
	for i := 0; i < len(settings); i += 2 {
		if err := cfg.Set([]config.Pair{{Name: settings[i], Value: settings[i+1]}}, true); err != nil {
			t.Fatal(err)
		}
	}
	e := New(Options{
		Config: cfg, Clock: clock, Rand: rand.New(rand.NewPCG(1, 2)),
		Log: slog.New(slog.DiscardHandler), Server: sleeper{clock: clock},
	})
	return &watched{t: t, e: e, clock: clock, out: map[*command.Session]*textConn{}}
}

func (w *watched) client(addr string) *command.Session {
	out := &textConn{}
	s := &command.Session{Conn: out, Addr: addr}
	w.e.Do(&Caller{}, func() { w.e.Join(s) })
	w.out[s] = out
	return s
}

// run runs a line of words, of which each pair of ' encloses one, and returns what s received.
func (w *watched) run(s *command.Session, line string) string {
	w.t.Helper()
	var list []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	w.e.Do(&Caller{}, func() { w.e.Execute(s, words(list...)) })
	return w.received(s)
}

func (w *watched) received(s *command.Session) string {
	text := string(w.out[s].text)
	w.out[s].text = nil
	return text
}

// wants checks that text holds each of the lines.
func (w *watched) wants(text string, lines ...string) {
	w.t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, line+"\r\n") {
			w.t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

func TestCommandstatsHasTheTimeOfCommands(t *testing.T) {
	w := newWatched(t)
	s := w.client("1.2.3.4:5")
	w.run(s, "debug sleep 0.003")
	w.run(s, "debug sleep 0.002")
	w.run(s, "multi")
	w.run(s, "debug sleep 0.001")
	w.run(s, "exec")
	w.wants(w.run(s, "info commandstats"),
		"cmdstat_debug:calls=3,usec=6000,usec_per_call=2000.00,rejected_calls=0,failed_calls=0",
		"cmdstat_exec:calls=1,usec=1000,usec_per_call=1000.00,rejected_calls=0,failed_calls=0",
		"cmdstat_multi:calls=1,usec=0,usec_per_call=0.00,rejected_calls=0,failed_calls=0")
	w.wants(w.run(s, "info latencystats"),
		"latency_percentiles_usec_debug:p50=2007.039,p99=3014.655,p99.9=3014.655",
		"latency_percentiles_usec_multi:p50=0.001,p99=0.001,p99.9=0.001")
	w.run(s, "config set latency-tracking-info-percentiles '0 33.3333333 100'")
	w.wants(w.run(s, "info latencystats"),
		"latency_percentiles_usec_debug:p0=999.424,p33.333333=1003.519,p100=3014.655")
	w.run(s, "config set latency-tracking no")
	if text := w.run(s, "info latencystats"); text != "$16\r\n# Latencystats\r\n\r\n" {
		t.Errorf("without latency-tracking: %q", text)
	}
	w.run(s, "config resetstat")
	w.wants(w.run(s, "info commandstats"), "cmdstat_config|resetstat:calls=1,usec=0,"+
		"usec_per_call=0.00,rejected_calls=0,failed_calls=0")
}

func TestTheTimeOfABlockedCommandIsWithoutItsWait(t *testing.T) {
	w := newWatched(t)
	s, other := w.client("1.2.3.4:5"), w.client("1.2.3.4:6")
	w.run(s, "blpop l 0")
	if text := w.run(other, "info latencystats"); strings.Contains(text, "blpop") {
		t.Errorf("a command that waits has a duration: %s", text)
	}
	w.clock.Advance(time.Minute)
	w.run(other, "lpush l x")
	w.wants(w.run(other, "info commandstats"),
		"cmdstat_blpop:calls=1,usec=0,usec_per_call=0.00,rejected_calls=0,failed_calls=0")
	w.wants(w.run(other, "info latencystats"),
		"latency_percentiles_usec_blpop:p50=0.001,p99=0.001,p99.9=0.001")
}

func TestTheSecondCommandOfABatchBeginsWhenTheFirstHasEnded(t *testing.T) {
	w := newWatched(t)
	s := w.client("1.2.3.4:5")
	w.e.Do(&Caller{}, func() {
		w.e.Execute(s, words("debug", "sleep", "0.005"))
		w.e.Execute(s, words("time"))
		w.e.Execute(s, words("set", "k", "v", "px", "1"))
		w.clock.Advance(time.Millisecond)
	})
	if text := w.run(s, "get k"); !strings.HasSuffix(text, "$-1\r\n") {
		t.Errorf("the key has not expired: %q", text)
	}
}

// bulks returns the bulk strings of a reply, with a space between.
func bulks(reply string) string {
	lines := strings.Split(reply, "\r\n")
	var list []string
	for i, line := range lines {
		if strings.HasPrefix(line, "$") && i+1 < len(lines) {
			list = append(list, lines[i+1])
		}
	}
	return strings.Join(list, " ")
}

func TestSlowlogHasTheCommandsThatTookLong(t *testing.T) {
	w := newWatched(t, "slowlog-log-slower-than", "2000")
	s, other := w.client("1.2.3.4:5"), w.client("1.2.3.4:6")
	w.run(s, "client setname me")
	w.run(s, "debug sleep 0.001999")
	w.run(s, "debug sleep 0.002")
	w.clock.Advance(5 * time.Second)
	w.run(s, "multi")
	w.run(s, "debug sleep 0.003")
	w.run(s, "ping")
	w.run(s, "exec")
	w.run(other, "debug sleep 0.004")
	if n := w.run(s, "slowlog len"); n != ":3\r\n" {
		t.Errorf("SLOWLOG LEN is %q", n)
	}
	want := "*1\r\n*6\r\n:2\r\n:1700000005\r\n:4000\r\n*3\r\n$5\r\ndebug\r\n$5\r\nsleep\r\n$5\r\n0.004\r\n" +
		"$9\r\n1.2.3.4:6\r\n$0\r\n\r\n"
	if got := w.run(s, "slowlog get 1"); got != want {
		t.Errorf("SLOWLOG GET 1 is %q", got)
	}
	if got := bulks(w.run(s, "slowlog get")); got != "debug sleep 0.004 1.2.3.4:6  "+
		"debug sleep 0.003 1.2.3.4:5 me debug sleep 0.002 1.2.3.4:5 me" {
		t.Errorf("SLOWLOG GET names %q", got)
	}
	w.run(s, "config set slowlog-max-len 1")
	if n := w.run(s, "slowlog len"); n != ":1\r\n" {
		t.Errorf("with slowlog-max-len 1 SLOWLOG LEN is %q", n)
	}
	w.run(s, "config set slowlog-log-slower-than -1")
	w.run(s, "debug sleep 1")
	if n := w.run(s, "slowlog len"); n != ":1\r\n" {
		t.Errorf("a negative slowlog-log-slower-than logs commands: %q", n)
	}
}

func TestSlowlogHasABlockedCommandWhenItIsServed(t *testing.T) {
	w := newWatched(t, "slowlog-log-slower-than", "0")
	s, other := w.client("1.2.3.4:5"), w.client("1.2.3.4:6")
	w.run(s, "blpop l 0")
	w.run(other, "slowlog reset")
	w.clock.Advance(time.Second)
	w.run(other, "rpush l x")
	want := "blpop l 0 1.2.3.4:5  rpush l x 1.2.3.4:6  slowlog reset 1.2.3.4:6 "
	if got := w.run(other, "slowlog get"); bulks(got) != want || !strings.Contains(got, ":0\r\n*3\r\n$5\r\nblpop") {
		t.Errorf("the log has %q", got)
	}
}

func TestLatencyHasTheEventsThatTookLong(t *testing.T) {
	w := newWatched(t, "latency-monitor-threshold", "3")
	s := w.client("1.2.3.4:5")
	w.run(s, "debug sleep 0.002")
	if got := w.run(s, "latency latest"); got != "*0\r\n" {
		t.Errorf("there are events: %q", got)
	}
	w.run(s, "debug sleep 0.005")
	w.clock.Advance(10 * time.Second)
	w.run(s, "debug sleep 0.003")
	if got := w.run(s, "latency latest"); got != "*1\r\n*4\r\n$7\r\ncommand\r\n:1700000010\r\n:3\r\n:5\r\n" {
		t.Errorf("LATENCY LATEST is %q", got)
	}
	if got := w.run(s, "latency history command"); got != "*2\r\n*2\r\n:1700000000\r\n:5\r\n*2\r\n:1700000010\r\n:3\r\n" {
		t.Errorf("LATENCY HISTORY is %q", got)
	}
	if got := w.run(s, "latency doctor"); !strings.Contains(got, "1 events took") {
		t.Errorf("LATENCY DOCTOR is %q", got)
	}
	if got := w.run(s, "latency graph command"); got !=
		"$51\r\ncommand - high 5 ms, low 3 ms (all time high 5 ms)\n\r\n" {
		t.Errorf("LATENCY GRAPH is %q", got)
	}
	if got := w.run(s, "latency histogram debug"); got != "*2\r\n$5\r\ndebug\r\n*4\r\n$5\r\ncalls\r\n:3\r\n"+
		"$14\r\nhistogram_usec\r\n*6\r\n:2113\r\n:1\r\n:4227\r\n:2\r\n:8454\r\n:3\r\n" {
		t.Errorf("LATENCY HISTOGRAM is %q", got)
	}
	if got := w.run(s, "latency reset fast-command command"); got != ":1\r\n" {
		t.Errorf("LATENCY RESET is %q", got)
	}
}

func TestAScriptsCommandsAreMeasuredOnceInAWhile(t *testing.T) {
	w := newWatched(t)
	s := w.client("1.2.3.4:5")
	for range 40 {
		w.run(s, "eval 'return redis.call(\"incr\",\"k\")' 0")
	}
	w.wants(w.run(s, "info commandstats"),
		"cmdstat_incr:calls=40,usec=0,usec_per_call=0.00,rejected_calls=0,failed_calls=0")
	if got := w.run(s, "latency histogram incr"); !strings.Contains(got, "calls\r\n:40\r\n") {
		t.Errorf("not every call counts: %q", got)
	}
	w.run(s, "config set slowlog-log-slower-than 0")
	w.run(s, "slowlog reset")
	w.run(s, "eval 'return redis.call(\"incr\",\"k\")' 0")
	if got := bulks(w.run(s, "slowlog get 2")); got != `eval return redis.call("incr","k") 0 1.2.3.4:5  incr k ?:0 ` {
		t.Errorf("the log has %q", got)
	}
}
