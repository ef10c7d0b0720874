package engine

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/redistest"
)

// heapInUse returns the bytes of the heap without garbage.
func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first has found in a finalizer
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// known returns the bytes that are counted, with the scripts' code and Lua's states.
func known(e *Engine) int64 {
	scripts, functions := e.env.Scripts.VMMemory()
	return e.memory.Used() + int64(scripts+functions)
}

// lineOf returns a command line with n names of size bytes, which no other call returns.
func lineOf(before string, call, n, size int, after ...string) []string {
	line := strings.Fields(before)
	for i := range n {
		name := fmt.Sprintf("%d:%d:", call, i)
		line = append(line, name+strings.Repeat("n", size-len(name)))
	}
	return append(line, after...)
}

// What clients and scripts hold is counted as what it takes in the heap.
func TestWhatClientsAndScriptsHoldIsCounted(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	redistest.SkipUnderRaceDetector(t) // the clients send in turn
	redistest.SkipBelow64Bits(t)
	const clients = 200
	repeat := func(before string, size int) func(int) [][]string {
		return func(call int) (lines [][]string) {
			for i := range 50 {
				lines = append(lines, lineOf(before, 50*call+i, 1, size))
			}
			return lines
		}
	}
	script := func(text string) func(int) [][]string {
		return func(call int) (lines [][]string) {
			for i := range 50 {
				lines = append(lines, []string{"SCRIPT", "LOAD", fmt.Sprintf(text, 50*call+i)})
			}
			return lines
		}
	}
	one := func(before string, n, size int, after ...string) func(int) [][]string {
		return func(call int) [][]string { return [][]string{lineOf(before, call, n, size, after...)} }
	}
	for name, lines := range map[string]func(call int) [][]string{
		"short scripts":     script("return %d"),
		"long scripts":      script("return '%d" + strings.Repeat("x", 5000) + "'"),
		"watched":           one("WATCH", 50, 20),
		"watched, long":     one("WATCH", 50, 300),
		"waited for":        one("BLPOP", 50, 20, "0"),
		"waited for, long":  one("BLPOP", 50, 300, "0"),
		"streams":           one("XREAD BLOCK 0 STREAMS", 50, 20, strings.Fields(strings.Repeat("0 ", 50))...),
		"streams, long":     one("XREAD BLOCK 0 STREAMS", 50, 300, strings.Fields(strings.Repeat("0 ", 50))...),
		"channels":          one("SUBSCRIBE", 50, 20),
		"channels, long":    one("SUBSCRIBE", 50, 300),
		"patterns":          one("PSUBSCRIBE", 50, 20),
		"cached names":      repeat("GET", 20),
		"cached long names": repeat("GET", 300),
		"libraries": func(call int) [][]string {
			text := "#!lua name=l%d\nredis.register_function('f%[1]d', function(keys, args) return redis.call('get', keys[1]) end)"
			return [][]string{{"FUNCTION", "LOAD", fmt.Sprintf(text, call)}}
		},
		"queued": func(call int) [][]string {
			return append([][]string{{"MULTI"}}, repeat("SET key", 20)(call)...)
		},
		"queued, long": func(call int) [][]string {
			return append([][]string{{"MULTI"}}, repeat("SET key", 5000)(call)...)
		},
		"prefixes": func(call int) [][]string {
			line := []string{"CLIENT", "TRACKING", "ON", "BCAST"}
			for i := range 50 {
				line = append(line, "PREFIX", fmt.Sprintf("%d:%d:", call, i))
			}
			return [][]string{line}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newTestEngine(expiry.NewManual(epoch))
			t.Cleanup(e.Close)
			sessions := make([]*command.Session, clients)
			for i := range sessions {
				sessions[i], _ = connect(e)
				send(e, sessions[i], "HELLO", "3")
				if strings.HasPrefix(name, "cached") {
					send(e, sessions[i], "CLIENT", "TRACKING", "ON")
				}
			}
			send(e, sessions[0], "EVAL", "return 1", "0")
			send(e, sessions[0], "FUNCTION", "LOAD", "#!lua name=first\nredis.register_function('first', redis.log)")
			heap, before := heapInUse(), known(e)
			for i, s := range sessions {
				for _, line := range lines(i) {
					if got := send(e, s, line...); strings.HasPrefix(got, "-") {
						t.Fatalf("%.100q: %.100q", line, got)
					}
				}
			}
			grown, counted := heapInUse()-heap, known(e)-before
			ratio := float64(counted) / float64(grown)
			t.Logf("%d bytes each, counted as %d (%.2f)", grown/clients/50, counted/clients/50, ratio)
			if ratio < 0.85 || ratio > 1.15 {
				t.Errorf("%d bytes are counted as %d", grown, counted)
			}
			for _, s := range sessions {
				e.Do(&Caller{}, func() { e.Leave(s) })
			}
			if s, _ := connect(e); strings.Contains(name, "scripts") {
				send(e, s, "SCRIPT", "FLUSH")
			} else {
				send(e, s, "FUNCTION", "FLUSH")
			}
			if left := known(e); left > before {
				t.Errorf("%d bytes are counted when the clients have left, %d before", left, before)
			}
			e.Outside(func() {
				if err := e.Check(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// No collection is needed to see it come and go.
func TestWhatIsHeldEvictsKeysAtOnceAndIsForgottenAtOnce(t *testing.T) {
	for name, do := range map[string]struct{ hold, release [][]string }{
		"watched": {[][]string{lineOf("WATCH", 0, 1500, 400)}, [][]string{{"UNWATCH"}}},
		"queued":  {[][]string{{"MULTI"}, lineOf("DEL", 0, 1500, 400)}, [][]string{{"DISCARD"}}},
		"scripts": {
			[][]string{{"SCRIPT", "LOAD", "return '" + strings.Repeat("x", 600<<10) + "'"}},
			[][]string{{"SCRIPT", "FLUSH"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, clock, _, s := limited(t)
			fillKeys(t, e, 5000)
			other, _ := connect(e)
			for _, line := range do.hold {
				send(e, s, line...)
			}
			left := 5000
			for range 100 {
				clock.Advance(time.Millisecond)
				send(e, other, "GET", "none")
				if now := e.env.Space.DB(0).Len(); now == left {
					break
				} else {
					left = now
				}
			}
			if used, limit := e.memory.Used(), e.env.Config.MaxMemory; left == 5000 || left == 0 || used > limit {
				t.Errorf("%d keys are left, %d bytes are in use", left, used)
			}
			send(e, other, "CONFIG", "SET", "maxmemory-policy", "noeviction",
				"maxmemory", fmt.Sprint(command.StartupBytes+500<<10))
			expectReply(t, send(e, other, "SET", "k", "v"), outOfMemory)
			for _, line := range do.release {
				send(e, s, line...)
			}
			expectReply(t, send(e, other, "SET", "k", "v"), "+OK\r\n")
		})
	}
}
