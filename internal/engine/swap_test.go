package engine

import (
	"testing"

	"github.com/lockredis/lockredis/expiry"
)

// execAfter watches key w of database 0, runs the commands of another client, and returns
// the reply to an empty EXEC. The commands in before run before WATCH.
func execAfter(t *testing.T, before, between [][]string) string {
	t.Helper()
	e := newTestEngine(expiry.NewManual(epoch))
	t.Cleanup(e.Close)
	watcher, _ := connect(e)
	other, _ := connect(e)
	for _, line := range before {
		send(e, other, line...)
	}
	send(e, watcher, "WATCH", "w")
	for _, line := range between {
		send(e, other, line...)
	}
	send(e, watcher, "MULTI")
	return send(e, watcher, "EXEC")
}

func TestSwapdbAndFlushMakeEXECFailOnlyForKeysThatTheyChange(t *testing.T) {
	in1, swap, flush := []string{"SELECT", "1"}, []string{"SWAPDB", "1", "0"}, []string{"FLUSHDB"}
	set := []string{"SET", "w", "x"}
	const done, spoiled = "*0\r\n", "*-1\r\n"
	for name, c := range map[string]struct {
		before, between [][]string
		want            string
	}{
		"nothing is there":            {nil, [][]string{swap}, done},
		"another key is there":        {[][]string{{"SET", "other", "x"}}, [][]string{swap}, done},
		"the key was there":           {[][]string{set}, [][]string{swap}, spoiled},
		"the key is there now":        {[][]string{in1, set}, [][]string{swap}, spoiled},
		"the key is on both sides":    {[][]string{set, in1, set}, [][]string{swap}, spoiled},
		"other databases are swapped": {[][]string{set}, [][]string{{"SWAPDB", "1", "2"}}, done},
		"there and back":              {[][]string{set}, [][]string{swap, swap}, spoiled},
		"FLUSHDB of the key":          {[][]string{set}, [][]string{flush}, spoiled},
		"FLUSHDB without it":          {[][]string{{"SET", "other", "x"}}, [][]string{flush}, done},
		"FLUSHDB elsewhere":           {[][]string{set}, [][]string{in1, flush}, done},
		"FLUSHALL of the key":         {[][]string{set}, [][]string{in1, {"FLUSHALL"}}, spoiled},
	} {
		t.Run(name, func(t *testing.T) {
			if got := execAfter(t, c.before, c.between); got != c.want {
				t.Errorf("EXEC answered %q, want %q", got, c.want)
			}
		})
	}
}

func TestSwapdbServesClientsThatWaitForItsKeys(t *testing.T) {
	e := newTestEngine(expiry.NewManual(epoch))
	t.Cleanup(e.Close)
	first, a := connect(e)
	second, b := connect(e)
	other, _ := connect(e)
	send(e, first, "BLPOP", "q", "0")
	send(e, second, "BZPOPMIN", "z", "0")
	send(e, other, "SELECT", "1")
	send(e, other, "RPUSH", "q", "x", "y")
	send(e, other, "SET", "z", "no sorted set")
	send(e, other, "SWAPDB", "0", "1")
	if got, want := a.take(), "*2\r\n$1\r\nq\r\n$1\r\nx\r\n"; got != want {
		t.Errorf("the first got %q, want %q", got, want)
	}
	if got := b.take(); got != "" {
		t.Errorf("the second got %q", got)
	}
	if err := e.Check(); err != nil {
		t.Error(err)
	}
}

func TestAKeyCreatedTwiceInAUnitServesAWaiterOnce(t *testing.T) {
	e := newTestEngine(expiry.NewManual(epoch))
	t.Cleanup(e.Close)
	waiter, out := connect(e)
	other, _ := connect(e)
	send(e, waiter, "BLPOP", "q", "p", "0")
	const script = "for i=1,3 do redis.call('DEL','q'); redis.call('RPUSH','q',i) end " +
		"redis.call('RPUSH','p','x')"
	send(e, other, "EVAL", script, "0")
	if got, want := out.take(), "*2\r\n$1\r\nq\r\n$1\r\n3\r\n"; got != want {
		t.Errorf("the waiter got %q, want %q", got, want)
	}
	if got := send(e, other, "LLEN", "p"); got != ":1\r\n" {
		t.Errorf("LLEN answered %q", got)
	}
	if err := e.Check(); err != nil {
		t.Error(err)
	}
}
