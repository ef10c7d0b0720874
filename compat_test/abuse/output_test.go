package abuse

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/redistest"
)

// deaf returns a connection with a small receive buffer. The test never reads from it.
func (v *victim) deaf(words ...string) *wire.Conn {
	v.t.Helper()
	nc := v.raw()
	nc.SetReadBuffer(4096)
	c := wire.NewConn(nc)
	c.SetTimeout(slack(wire.DefaultTimeout))
	send(v.t, c, words...)
	return c
}

// clientsFall polls until the server has at most n clients.
func (v *victim) clientsFall(c *wire.Conn, n int) {
	v.t.Helper()
	eventually(v.t, 4*time.Second, func() string {
		if now := v.field(c, "connected_clients"); now > n {
			return fmt.Sprintf("%d clients, want %d", now, n)
		}
		return ""
	})
}

func TestSoftOutputLimitEndsAClientThatStaysOverItTooLong(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	for _, row := range []struct {
		name, limit string
		begin       []string // commands of the client that does not read
		fill        []string // produces a megabyte of output for it
	}{
		{"a subscriber", "pubsub 0 1mb 1", []string{"SUBSCRIBE", "c"}, []string{"PUBLISH", "c", strings.Repeat("x", big)}},
		{"a RESP3 subscriber of a pattern", "pubsub 0 1mb 1", []string{"PSUBSCRIBE", "*"}, []string{"PUBLISH", "c", strings.Repeat("x", big)}},
		{"a normal client", "normal 0 1mb 1", []string{"EVAL", "local s = {} for i = 1, 64 do s[i] = string.rep('x', 2^18) end return s", "0"}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.name != "a normal client" {
				redistest.SkipUnlessWhole(t) // each takes a second
			}
			v := attack(t, map[string]string{"client-output-buffer-limit": row.limit,
				"busy-reply-threshold": "100000"})
			c := v.dial()
			before := measure()
			loser := v.deaf("HELLO", "3")
			begin := time.Now()
			send(t, loser, row.begin...)
			v.clientsFall(c, 2)
			for range 8 * min(len(row.fill), 1) {
				v.do(c, row.fill...)
			}
			v.clientsFall(c, 1) // the server sends it nothing more
			if d := time.Since(begin); d < 900*time.Millisecond {
				t.Errorf("cut off after %v", d)
			}
			loser.Close()
			c.Close()
			v.recovers(before)
		})
	}
}

func TestSoftOutputLimitSparesAClientThatCatchesUp(t *testing.T) {
	redistest.SkipWhenQuick(t) // the limit is on seconds
	clock := expiry.NewManual(time.Now())
	v := attackOn(t, clock, map[string]string{"client-output-buffer-limit": "pubsub 0 1mb 1"})
	c, late := v.dial(), v.dial()
	v.want(late, `["subscribe" "c" :1]`, "SUBSCRIBE", "c")
	message := strings.Repeat("x", big)
	for range 3 {
		for range 16 {
			v.want(c, ":1", "PUBLISH", "c", message)
		}
		for range 16 {
			if r, err := late.Receive(); err != nil || len(r.Elems) != 3 {
				t.Fatalf("%.100s %v", r, err)
			}
		}
		clock.Advance(time.Minute)
	}
}

func TestHardOutputLimitEndsOnlyClientsOfItsClass(t *testing.T) {
	for _, row := range []struct{ limit, subscriber, normal string }{
		{"pubsub 2mb 0 0 normal 0 0 0", "ended", "open"},
		{"normal 2mb 0 0 pubsub 0 0 0", "open", "ended"},
	} {
		t.Run(row.limit, func(t *testing.T) {
			v := attack(t, map[string]string{"client-output-buffer-limit": row.limit})
			c := v.dial()
			v.want(c, "+OK", "SET", "k", strings.Repeat("x", big/2))
			subscriber := v.deaf("CLIENT", "SETNAME", "subscriber")
			send(t, subscriber, "SUBSCRIBE", "c")
			normal := v.deaf("CLIENT", "SETNAME", "normal")
			eventually(t, 3*time.Second, func() string {
				return missing(v, c, "name=subscriber", "name=normal", "sub=1")
			})
			for range 32 {
				v.do(c, "PUBLISH", "c", strings.Repeat("x", big/2))
				if normal.Send("GET", "k") != nil {
					break
				}
			}
			eventually(t, 3*time.Second, func() string {
				list := string(v.do(c, "CLIENT", "LIST").Str)
				for name, want := range map[string]string{"subscriber": row.subscriber, "normal": row.normal} {
					if open := strings.Contains(list, "name="+name+" "); open != (want == "open") {
						return fmt.Sprintf("the %s is not %s", name, want)
					}
				}
				return ""
			})
			v.alive()
		})
	}
}

// missing returns the words that CLIENT LIST does not show.
func missing(v *victim, c *wire.Conn, words ...string) string {
	list := string(v.do(c, "CLIENT", "LIST").Str)
	for _, word := range words {
		if !strings.Contains(list, word) {
			return "CLIENT LIST has no " + word
		}
	}
	return ""
}

func TestSubscribersThatNeverReadDelayNoOtherClient(t *testing.T) {
	v := attack(t, map[string]string{"client-output-buffer-limit": "pubsub 0 0 0"})
	before := measure()
	lost := make([]*wire.Conn, 50)
	for i := range lost {
		lost[i] = v.deaf("SUBSCRIBE", "c")
	}
	reader, c := v.dial(), v.dial()
	v.want(reader, `["subscribe" "c" :1]`, "SUBSCRIBE", "c")
	eventually(t, 3*time.Second, func() string {
		if r := v.do(c, "PUBSUB", "NUMSUB", "c").String(); r != `["c" :51]` {
			return r
		}
		return ""
	})
	message := strings.Repeat("x", 16<<10)
	delays := make([]time.Duration, 100)
	for i := range delays { // 80 MB, more than the sockets take
		begin := time.Now()
		v.want(c, ":51", "PUBLISH", "c", message)
		if r, err := reader.Receive(); err != nil || len(r.Elems) != 3 ||
			len(r.Elems[2].Str) != len(message) {
			t.Fatalf("%.100s %v", r, err)
		}
		delays[i] = time.Since(begin)
	}
	judgeDelays(t, delays)
	v.want(c, ":51", "CLIENT", "KILL", "TYPE", "pubsub")
	for _, c := range lost {
		c.Close()
	}
	reader.Close()
	c.Close()
	v.recovers(before)
}

func TestReplyMuchLargerThanItsCommandHitsTheOutputLimit(t *testing.T) {
	v := attack(t, map[string]string{"client-output-buffer-limit": "normal 8mb 0 0"})
	c := v.dial()
	v.want(c, "+OK", "SET", "k", strings.Repeat("x", 1<<20))
	before := measure()
	greedy := v.dial()
	names := make([]string, 100_001) // 100 GB if the reply were built as a whole
	for i := range names {
		names[i] = "k"
	}
	names[0] = "MGET"
	send(t, greedy, names...)
	if r, err := greedy.Receive(); !wire.IsClosed(err) {
		t.Errorf("not cut off: %.100s %v", r, err)
	}
	v.stays(c, "another client")
	greedy.Close()
	c.Close()
	v.recovers(before)
}

// Messages of MONITOR and invalidations count against the limit of the class that Redis puts
// their reader in: a client is of the class pubsub if it has subscribed, or else normal.
func TestOutputLimitEndsMonitorsAndTrackingClientsThatDoNotRead(t *testing.T) {
	redistest.SkipWhenQuick(t)
	key := func(i int) string { return fmt.Sprintf("%d:%s", i, strings.Repeat("k", 16<<10)) }
	for _, row := range []struct {
		name, limit string
		ended       bool
		deaf        [][]string // the commands of the client that does not read
	}{
		{"a monitor", "normal 2mb 0 0 pubsub 0 0 0", true, [][]string{{"MONITOR"}}},
		{"a monitor is no subscriber", "normal 0 0 0 pubsub 2mb 0 0", false, [][]string{{"MONITOR"}}},
		{"a tracking client", "normal 2mb 0 0 pubsub 0 0 0", true,
			[][]string{{"HELLO", "3"}, {"CLIENT", "TRACKING", "on", "BCAST"}}},
		{"a tracking client is no subscriber", "normal 0 0 0 pubsub 2mb 0 0", false,
			[][]string{{"HELLO", "3"}, {"CLIENT", "TRACKING", "on", "BCAST"}}},
		{"a client that invalidations are redirected to", "normal 0 0 0 pubsub 2mb 0 0", true,
			[][]string{{"SUBSCRIBE", "__redis__:invalidate"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := attack(t, map[string]string{"client-output-buffer-limit": row.limit})
			c := v.dial()
			before := measure()
			loser := v.deaf("CLIENT", "SETNAME", "loser")
			for _, line := range row.deaf {
				send(t, loser, line...)
			}
			eventually(t, 3*time.Second, func() string {
				if missing(v, c, "name=loser", "flags=O") != "" && missing(v, c, "name=loser", "flags=t") != "" {
					return missing(v, c, "name=loser", "flags=P")
				}
				return ""
			})
			writer := v.dial()
			if row.deaf[0][0] == "SUBSCRIBE" {
				v.do(writer, "CLIENT", "TRACKING", "on", "BCAST", "REDIRECT", v.idOf(c, "loser"))
			}
			delays := make([]time.Duration, 600)
			for i := range delays { // 9 MB of keys, more than the limit and the sockets take
				begin := time.Now()
				v.want(c, "+OK", "SET", key(i), "")
				delays[i] = time.Since(begin)
			}
			judgeDelays(t, delays)
			gone := missing(v, c, "name=loser") != ""
			if gone != row.ended {
				t.Errorf("the client was ended: %v, want %v", gone, row.ended)
			}
			v.do(c, "FLUSHALL")
			loser.Close()
			writer.Close()
			c.Close()
			v.recovers(before)
		})
	}
}

// idOf returns the id of the client with a name.
func (v *victim) idOf(c *wire.Conn, name string) string {
	v.t.Helper()
	for line := range strings.Lines(string(v.do(c, "CLIENT", "LIST").Str)) {
		if strings.Contains(line, " name="+name+" ") {
			id, _, _ := strings.Cut(strings.TrimPrefix(line, "id="), " ")
			return id
		}
	}
	v.t.Fatalf("no client %s", name)
	return ""
}
