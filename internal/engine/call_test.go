package engine

import (
	"strconv"
	"strings"
	"testing"
)

// commandStats returns the line of a command in INFO commandstats, without times.
func commandStats(e *Engine, name string) string {
	for line := range strings.Lines(runKit(e, 0, "INFO", "commandstats")) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_"+name+":"); ok {
			calls, _, _ := strings.Cut(rest, ",usec")
			_, counts, _ := strings.Cut(rest, "usec_per_call=")
			_, counts, _ = strings.Cut(counts, ",")
			return strings.TrimSpace(calls + "," + counts)
		}
	}
	return ""
}

// The counts are redis-server 7.0.15's.
func TestACommandThatFailsAfterItsWaitIsCountedOnceAsACallAndAsAFailure(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	mover, _ := connect(e)
	popper, _ := connect(e)
	send(e, s, "SET", "string", "v")
	send(e, mover, "BLMOVE", "source", "string", "LEFT", "LEFT", "0")
	send(e, s, "RPUSH", "source", "x")
	send(e, popper, "BLPOP", "none", "0")
	send(e, s, "CLIENT", "UNBLOCK", strconv.FormatInt(popper.ID, 10), "ERROR")
	for name, want := range map[string]string{
		"blmove":         "calls=1,rejected_calls=0,failed_calls=1",
		"rpush":          "calls=1,rejected_calls=0,failed_calls=0",
		"blpop":          "calls=1,rejected_calls=0,failed_calls=1",
		"client|unblock": "calls=1,rejected_calls=0,failed_calls=1",
	} {
		if got := commandStats(e, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for class, want := range map[string]int64{"WRONGTYPE": 1, "UNBLOCKED": 1} {
		if got := e.env.Stats.Errors[class]; got != want {
			t.Errorf("%d errors of class %s, want %d", got, class, want)
		}
	}
}

func TestConfigResetstatCountsItselfAfterwards(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	send(e, s, "SET", "k", "v")
	send(e, s, "CONFIG", "RESETSTAT")
	if got := commandStats(e, "set"); got != "" {
		t.Errorf("set: %s", got)
	}
	const want = "calls=1,rejected_calls=0,failed_calls=0"
	if got := commandStats(e, "config|resetstat"); got != want {
		t.Errorf("config|resetstat: %s, want %s", got, want)
	}
}
