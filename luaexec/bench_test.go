package luaexec

import (
	"testing"

	"github.com/lockredis/lockredis/resp"
)

// lockScript acquires a reentrant lock with the commands that Redisson uses.
const lockScript = `
local free = redis.call('exists', KEYS[1]) == 0
if free or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
return redis.call('pttl', KEYS[1])`

// cannedCaller replies without a store, so that a benchmark measures luaexec only.
type cannedCaller struct{ free bool }

func (c *cannedCaller) Command(args resp.Args) resp.Reply {
	switch string(args[0]) {
	case "exists":
		return resp.Flag(!c.free)
	case "pttl":
		return resp.Int(29_871)
	case "hexists":
		return resp.Int(0)
	case "get":
		return resp.BulkString("6b0b5a3e-6f0e-4d4b-9d5c-0a4b7d5e1c2f:1")
	case "set":
		return resp.OK
	}
	return resp.Int(1)
}

func (c *cannedCaller) SetProtocol(int)                {}
func (c *cannedCaller) SetTold(bool)                   {}
func (c *cannedCaller) Allowed(resp.Args) (bool, bool) { return true, true }
func (c *cannedCaller) Log(int, string)                {}
func (c *cannedCaller) Tick() bool                     { return false }

func benchmarkRun(b *testing.B, script string, h Host) {
	r := New(Options{})
	s, failure, ok := r.Load([]byte(script))
	if !ok {
		b.Fatal(failure.Text())
	}
	keys := [][]byte{[]byte("anyLock")}
	args := [][]byte{[]byte("30000"), []byte("285475da-9152-4c83-822a-67ee2f116a79:52")}
	b.ReportAllocs()
	for b.Loop() {
		if reply := r.Run(s, keys, args, h); reply.IsError() {
			b.Fatal(reply.Text())
		}
	}
}

func BenchmarkLockTaken(b *testing.B) { benchmarkRun(b, lockScript, &cannedCaller{free: true}) }
func BenchmarkLockHeld(b *testing.B)  { benchmarkRun(b, lockScript, &cannedCaller{}) }

// BenchmarkStringReplies is a script that keeps four string replies.
func BenchmarkStringReplies(b *testing.B) {
	benchmarkRun(b, `local a, b = redis.call('get', KEYS[1]), redis.call('get', KEYS[1])
local c, d = redis.call('get', KEYS[1]), redis.call('get', KEYS[1])
return a == b and c == d`, &cannedCaller{})
}

// BenchmarkNumberReplies is a script that keeps four number replies.
func BenchmarkNumberReplies(b *testing.B) {
	benchmarkRun(b, `local a, b = redis.call('pttl', KEYS[1]), redis.call('pttl', KEYS[1])
local c, d = redis.call('pttl', KEYS[1]), redis.call('pttl', KEYS[1])
return a == b and c == d`, &cannedCaller{})
}

// BenchmarkDiscardedReply is a script that ignores a status reply, as unlock
// scripts do when they set the unlock latch.
func BenchmarkDiscardedReply(b *testing.B) {
	benchmarkRun(b, "redis.call('set', KEYS[1], 1, 'px', ARGV[1]) return 1", &cannedCaller{})
}

func BenchmarkReturnConstant(b *testing.B) { benchmarkRun(b, "return 1", &cannedCaller{}) }

func BenchmarkLoop(b *testing.B) {
	benchmarkRun(b, "local n = 0 for i = 1, 100 do n = n + i end return n", &cannedCaller{})
}

func BenchmarkConcat(b *testing.B) {
	script := "return redis.call('get', KEYS[1] .. ':' .. ARGV[2] .. ':' .. 1)"
	benchmarkRun(b, script, &cannedCaller{})
}

func BenchmarkEvalOfCachedBody(b *testing.B) {
	r := New(Options{})
	body := []byte(lockScript)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, ok := r.Load(body); !ok {
			b.Fatal("does not load")
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	r := New(Options{})
	s, _, _ := r.Load([]byte(lockScript))
	sha := []byte(s.SHA())
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := r.Lookup(sha); !ok {
			b.Fatal("not found")
		}
	}
}
