package engine

import (
	"testing"

	"github.com/lockredis/lockredis/expiry"
)

// execAfter runs commands of another client between a WATCH in database 0 of
// key w and an empty EXEC, and returns EXEC's answer.
func execAfter(t *testing.T, before, between [][]string) string {
	t.Helper()
	e := newTestEngine(expiry.NewManual(epoch))
	t.Cleanup(e.Close)
	watcher, _ := join(e)
	other, _ := join(e)
	for _, line := range before {
		do(e, other, line...)
	}
	do(e, watcher, "WATCH", "w")
	for _, line := range between {
		do(e, other, line...)
	}
	do(e, watcher, "MULTI")
	return do(e, watcher, "EXEC")
}

func TestSwapdbAndFlushSpoilOnlyWhatTheyChange(t *testing.T) {
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

func TestSwapdbServesWhoeverWaitsForWhatItBrings(t *testing.T) {
	e := newTestEngine(expiry.NewManual(epoch))
	t.Cleanup(e.Close)
	first, a := join(e)
	second, b := join(e)
	other, _ := join(e)
	do(e, first, "BLPOP", "q", "0")
	do(e, second, "BZPOPMIN", "z", "0")
	do(e, other, "SELECT", "1")
	do(e, other, "RPUSH", "q", "x", "y")
	do(e, other, "SET", "z", "no sorted set")
	do(e, other, "SWAPDB", "0", "1")
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

func TestAKeyMadeTwiceInAUnitServesItsWaitersOnce(t *testing.T) {
	e := newTestEngine(expiry.NewManual(epoch))
	t.Cleanup(e.Close)
	waiter, out := join(e)
	other, _ := join(e)
	do(e, waiter, "BLPOP", "q", "p", "0")
	do(e, other, "EVAL", "for i=1,3 do redis.call('DEL','q'); redis.call('RPUSH','q',i) end redis.call('RPUSH','p','x')", "0")
	if got, want := out.take(), "*2\r\n$1\r\nq\r\n$1\r\n3\r\n"; got != want {
		t.Errorf("the waiter got %q, want %q", got, want)
	}
	if got := do(e, other, "LLEN", "p"); got != ":1\r\n" {
		t.Errorf("LLEN answered %q", got)
	}
	if err := e.Check(); err != nil {
		t.Error(err)
	}
}
