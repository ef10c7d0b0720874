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

const acquireScript = "redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], ARGV[2])"

// three starts three servers, and connects to the door and to the port of each of them.
func three(t *testing.T) (doors, clients []*wire.Conn) {
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

// ended returns the names that a turn's reply has.
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
	doors, clients := three(t)
	const hour = 3_600_000
	for i, c := range clients {
		acquireAt(t, c, fmt.Sprint("early", i), (i+1)*hour)
		acquireAt(t, c, fmt.Sprint("late", i), (6-i)*hour)
	}
	before := time.Now()
	for _, turn := range []struct{ hours, want string }{
		{"3", "early0 early1 early2"}, {"0", ""}, {"3", "late2 late1 late0"},
	} {
		by, _ := strconv.Atoi(turn.hours)
		if got := ended(t, doors[1], "CONTROL", "TURN", "BY", strconv.Itoa(by*hour)); got != turn.want {
			t.Errorf("%s hours end %q, want %q", turn.hours, got, turn.want)
		}
	}
	for i, door := range doors {
		now := clockOf(t, door)
		if early, late := before.Add(6*time.Hour-5*time.Millisecond), time.Now().Add(6*time.Hour); now.Before(early) || now.After(late) {
			t.Errorf("server %d: it is %v, want %v to %v", i, now, early, late)
		}
	}
}

func TestAllClocksAreSetAndPutBack(t *testing.T) {
	doors, clients := three(t)
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

func TestATurnOfAllClocksThatNoneCanMake(t *testing.T) {
	doors, _ := three(t)
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
