package engine

import (
	"strconv"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
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

// The counts are redis-server 7.0.15's.
func TestAClientThatIsUnblockedCountsAsAFailure(t *testing.T) {
	for _, line := range []string{
		"BLPOP k 0", "BRPOP k 0", "BLMOVE k d LEFT LEFT 0", "BRPOPLPUSH k d 0", "BLMPOP 0 1 k LEFT",
		"BZPOPMIN k 0", "BZPOPMAX k 0", "BZMPOP 0 1 k MIN", "WAIT 1 0",
		"XREAD BLOCK 0 STREAMS s $", "XREADGROUP GROUP g c BLOCK 0 STREAMS s >",
	} {
		for reason, unblock := range map[string]string{"TIMEOUT": "0", "ERROR": "1"} {
			e, _ := newClocked(t)
			s, _ := connect(e)
			waiter, _ := connect(e)
			send(e, s, "XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
			args := strings.Fields(line)
			send(e, waiter, args...)
			send(e, s, "CLIENT", "UNBLOCK", strconv.FormatInt(waiter.ID, 10), reason)
			for name, failed := range map[string]string{
				strings.ToLower(args[0]): "1", "client|unblock": unblock,
			} {
				want := "calls=1,rejected_calls=0,failed_calls=" + failed
				if got := commandStats(e, name); got != want {
					t.Errorf("%s, %s: %s: %s, want %s", line, reason, name, got, want)
				}
			}
		}
	}
}

// The counts are redis-server 7.0.15's.
func TestAScriptFailsOnceForItsOwnErrorsAndOnceForEachErrorOfACommand(t *testing.T) {
	for script, want := range map[string]string{
		"return 1":                                                         "0",
		"return {err='x'}":                                                 "1",
		"return {1,{err='x'}}":                                             "1",
		"return {{err='x'},{{{err='y'}}}}":                                 "1",
		"redis.setresp(3) return {map={a={err='x'}}}":                      "1",
		"return redis.pcall('get','list')":                                 "1",
		"return {redis.pcall('get','list')}":                               "1",
		"return {redis.pcall('nope'),redis.pcall('get','list')}":           "2",
		"local e=redis.pcall('get','list') return {e,{e},e}":               "3",
		"local e=redis.pcall('get','list') return {e,{err='x'},{err='y'}}": "2",
		"redis.pcall('get','list') return {1}":                             "0",
		"redis.pcall('get','list') return {err='x'}":                       "1",
		"redis.call('get','list')":                                         "1",
		"error('x')":                                                       "1",
	} {
		e, _ := newClocked(t)
		s, _ := connect(e)
		send(e, s, "RPUSH", "list", "x")
		send(e, s, "FUNCTION", "LOAD",
			"#!lua name=l\nredis.register_function('f', function() "+script+" end)")
		send(e, s, "EVAL", script, "0")
		send(e, s, "FCALL", "f", "0")
		send(e, s, "MULTI")
		send(e, s, "EVAL_RO", script, "0")
		send(e, s, "EXEC")
		for name, failed := range map[string]string{
			"eval": want, "fcall": want, "eval_ro": want, "exec": "0",
		} {
			counts := "calls=1,rejected_calls=0,failed_calls=" + failed
			if got := commandStats(e, name); got != counts {
				t.Errorf("%s: %s: %s, want %s", script, name, got, counts)
			}
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

// MIGRATE, MEMORY PURGE and SAVE wait so. In Redis all clients wait for them, and none is blocked.
func TestUnblockDoesNotEndAWaitThatHasNoReplyForIt(t *testing.T) {
	for _, reason := range []string{"TIMEOUT", "ERROR"} {
		e, _ := newClocked(t)
		s, _ := connect(e)
		waiter, _ := connect(e)
		e.Outside(func() { e.parking.Park(&command.Parked{Session: waiter}) })
		got := send(e, s, "CLIENT", "UNBLOCK", strconv.FormatInt(waiter.ID, 10), reason)
		if got != ":0\r\n" || waiter.Parked == nil {
			t.Errorf("%s: the reply is %q, the client waits: %v", reason, got, waiter.Parked != nil)
		}
		e.Outside(func() { e.parking.Unpark(waiter, resp.OK) })
	}
}
