package control_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// acquireScript acquires a lock for the owner ARGV[1] and ARGV[2] ms.
const acquireScript = "redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], ARGV[2])"

// startThree starts three servers, and connects to the door and to the port of each of them.
func startThree(t *testing.T) (doors, clients []*wire.Conn) {
	t.Helper()
	var servers []*lockredis.Server
	for range 3 {
		servers = append(servers, lockredis.New(lockredis.Config{Directives: map[string]string{"control": "yes"}}))
	}
	for i, door := range startServers(t, servers...) {
		doors = append(doors, enter(t, door))
		clients = append(clients, redistest.Dial(t, servers[i].Addr()))
	}
	return doors, clients
}

func acquireAt(t *testing.T, c *wire.Conn, name string, lease int) {
	t.Helper()
	expect(t, c, "$-1", "EVAL", acquireScript, "1", name, "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17", strconv.Itoa(lease))
}

// ended sends a turn of the clock. It returns the names of the locks that ended, from the reply.
func ended(t *testing.T, c *wire.Conn, words ...string) string {
	t.Helper()
	reply, err := c.Do(words...)
	if err != nil || len(reply.Elems) != 6 {
		t.Fatalf("%q: %q, %v", words, reply.Raw, err)
	}
	var names []string
	for _, name := range reply.Elems[3].Elems {
		names = append(names, string(name.Str))
	}
	return strings.Join(names, " ")
}

func clockOf(t *testing.T, door *wire.Conn) time.Time {
	t.Helper()
	ms, err := strconv.ParseInt(strings.Trim(ask(door, "CLOCK.NOW"), ":\r\n"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.UnixMilli(ms)
}

func TestAllClocksAreTurnedInTheOrderOfTheirDeadlines(t *testing.T) {
	doors, clients := startThree(t)
	const hour = 3_600_000
	for i, c := range clients {
		acquireAt(t, c, fmt.Sprint("early", i), (i+1)*hour)
		acquireAt(t, c, fmt.Sprint("late", i), (6-i)*hour)
	}
	before := time.Now()
	for _, turn := range []struct {
		hours int
		want  string
	}{
		{3, "early0 early1 early2"}, {0, ""}, {3, "late2 late1 late0"},
	} {
		if got := ended(t, doors[1], "CONTROL", "TURN", "BY", strconv.Itoa(turn.hours*hour)); got != turn.want {
			t.Errorf("%d hours end %q, want %q", turn.hours, got, turn.want)
		}
	}
	for i, door := range doors {
		now := clockOf(t, door)
		early := before.Add(6*time.Hour - 5*time.Millisecond) // a turn loses the part of a millisecond
		if late := time.Now().Add(6 * time.Hour); now.Before(early) || now.After(late) {
			t.Errorf("server %d: it is %v, want %v to %v", i, now, early, late)
		}
	}
}

func TestAllClocksAreSetAndPutBack(t *testing.T) {
	doors, clients := startThree(t)
	past := time.Now().Add(-24 * time.Hour).Truncate(time.Millisecond)
	ask(doors[0], "CLOCK.ADVANCE", "3600000")
	acquireAt(t, clients[2], "lock", 3_600_000)
	if got := ended(t, doors[0], "CONTROL", "TURN", "TO", strconv.FormatInt(past.UnixMilli(), 10)); got != "" {
		t.Errorf("back to yesterday: %q", got)
	}
	for i, door := range doors {
		if now := clockOf(t, door); now.Before(past) || now.After(past.Add(time.Hour)) {
			t.Errorf("server %d: %v, want %v", i, now, past)
		}
	}
	ask(doors[1], "CLOCK.ADVANCE", "864000000")
	if got := ended(t, doors[0], "CONTROL", "TURN", "REAL"); got != "" {
		t.Errorf("the machine's time: %q", got)
	}
	for i, door := range doors {
		if apart := time.Since(clockOf(t, door)).Abs(); apart > time.Hour {
			t.Errorf("server %d is %v apart from the machine's time", i, apart)
		}
	}
	tomorrow := strconv.FormatInt(time.Now().Add(24*time.Hour).UnixMilli(), 10)
	if got := ended(t, doors[0], "CONTROL", "TURN", "TO", tomorrow); got != "lock" {
		t.Errorf("tomorrow: %q", got)
	}
}

func TestATurnBeyondTheEndOfAClockTurnsNone(t *testing.T) {
	doors, _ := startThree(t)
	ask(doors[2], "CLOCK.ADVANCE", "3600000")
	for _, words := range [][]string{
		{"TO", "0"}, {"TO", "-1"}, {"BY", "-1"}, {"BY", "x"}, {"TO", "9214646400000"}, {"BY", "9000000000000"},
		{"BY", "99999999999999999999"},
	} {
		expect(t, doors[0], "-ERR value is out of range", append([]string{"CONTROL", "TURN"}, words...)...)
	}
	for _, words := range [][]string{{}, {"BY"}, {"TO", "1", "2"}, {"REAL", "1"}, {"AGAIN"}} {
		expect(t, doors[0], "-ERR syntax error. Try CONTROL", append([]string{"CONTROL", "TURN"}, words...)...)
	}
	if ahead := clockOf(t, doors[2]).Sub(clockOf(t, doors[0])); (ahead - time.Hour).Abs() > time.Minute {
		t.Errorf("the clocks are %v apart", ahead)
	}
}

func TestAResetPutsTheClockBack(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	for _, by := range []string{"86400000000", "-86400000000"} {
		expect(t, c, "+OK", "SET", "k", "v", "EX", "1000")
		before := time.Now()
		now := before.UnixMilli()
		n, _ := strconv.ParseInt(by, 10, 64)
		expect(t, kit, "*6", "CLOCK.SET", strconv.FormatInt(now+n, 10))
		expect(t, kit, "+OK", "CONTROL", "RESET")
		got, _ := strconv.ParseInt(strings.Trim(ask(kit, "CLOCK.NOW"), ":\r\n"), 10, 64)
		if after := time.Now().UnixMilli(); got < now || got > after {
			t.Errorf("after a turn by %s ms and a reset it is %d, want %d to %d", by, got, now, after)
		}
	}
}

func TestTimesInAScriptsArgumentsFollowTheTurnedClock(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	now := time.Now().UnixMilli()
	const day, year = 24 * 3600 * 1000, 365 * 24 * 3600 * 1000
	args := []string{
		strconv.FormatInt(now, 10), strconv.FormatInt(now+30_000, 10), strconv.FormatInt(now-11*year, 10),
		strconv.FormatInt(now+11*year, 10), "30000", "0" + strconv.FormatInt(now, 10)[1:], "6ba7b810-9dad", "",
	}
	call := append([]string{"EVAL", "return ARGV", "0"}, args...)
	for _, by := range []int64{day, -2 * day} {
		expect(t, kit, "*6", "CLOCK.SET", strconv.FormatInt(now+by, 10))
		reply, err := c.Do(call...)
		if err != nil {
			t.Fatal(err)
		}
		for i, arg := range args {
			want, _ := strconv.ParseInt(arg, 10, 64)
			got, _ := strconv.ParseInt(string(reply.Elems[i].Str), 10, 64)
			switch i {
			case 0, 1: // the clock goes on while it is turned
				if got < want+by-60_000 || got > want+by {
					t.Errorf("%s became %d by a turn of %d ms", arg, got, by)
				}
			default:
				if got := string(reply.Elems[i].Str); got != arg {
					t.Errorf("%q became %q", arg, got)
				}
			}
		}
	}
	expect(t, kit, "+OK", "CONTROL", "RESET")
	if reply, err := c.Do(call...); err != nil || string(reply.Elems[0].Str) != args[0] {
		t.Errorf("after a reset %s became %s %v", args[0], reply.Elems[0].Str, err)
	}
}

// A permit semaphore's script replies a colon and the time at which the first lease ends.
func TestTheTimeInAPermitsReplyIsMovedBack(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	const arg, text = "return ARGV[1]", "return ':' .. ARGV[1]"
	at := time.Now().UnixMilli()
	now := strconv.FormatInt(at, 10)
	eval := func(script, arg string) string {
		t.Helper()
		reply, err := c.Do("EVAL", script, "0", arg)
		if err != nil {
			t.Fatal(err)
		}
		return string(reply.Str)
	}
	for range 2 {
		expect(t, kit, "*6", "CLOCK.ADVANCE", "3600000")
		later, err := strconv.ParseInt(eval(arg, now), 10, 64)
		if ahead := later - at; err != nil || ahead < 3_600_000-1 || ahead > 3_600_000 { // a part of a ms is lost
			t.Errorf("an argument is moved by %d ms, %v", ahead, err)
		}
		if got := eval(text, now); got != ":"+now {
			t.Errorf("the time of a permit is %s, want :%s", got, now)
		}
		for _, other := range []string{"1234", "x", "9999999999999", ""} {
			if got := eval(arg, other) + eval(text, other); got != other+":"+other {
				t.Errorf("%q becomes %q", other, got)
			}
		}
		expect(t, kit, "*6", "CLOCK.RESET")
		if got := eval(arg, now) + eval(text, now); got != now+":"+now {
			t.Errorf("the clock is not turned, and %s becomes %s", now, got)
		}
	}
}
