package engine

import (
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/nohost"
	"github.com/lockredis/lockredis/resp"
)

// discardConn is a connection that counts its output and drops it.
type discardConn struct{ written int }

func (n *discardConn) Write(b []byte) bool          { n.written += len(b); return true }
func (*discardConn) Kill()                          {}
func (*discardConn) Wake()                          {}
func (*discardConn) Sizes(bool) (b command.Buffers) { return b }

func newTestEngine(clock expiry.Clock) *Engine {
	return New(Options{
		Config: config.New(), Clock: clock, Rand: rand.New(rand.NewPCG(1, 2)),
		Log: slog.New(slog.DiscardHandler), Server: nohost.Host{},
	})
}

func newTestSession(e *Engine) (*command.Session, *discardConn) {
	out := &discardConn{}
	s := &command.Session{Conn: out}
	e.Do(&Caller{}, func() { e.Join(s) })
	return s, out
}

func words(list ...string) resp.Args {
	args := make(resp.Args, len(list))
	for i, w := range list {
		args[i] = []byte(w)
	}
	return args
}

const benchOwner = "6b0b5a3e-6f0e-4d4b-9d5c-0a4b7d5e1c2f:1"

func loadLockScript(b *testing.B, e *Engine) string { return loadScript(b, e, "lock") }

func loadScript(b *testing.B, e *Engine, name string) string {
	body, err := os.ReadFile("../../bench/perf/scripts/" + name + ".lua")
	if err != nil {
		b.Fatal(err)
	}
	script, failure, ok := e.env.Scripts.Load(body)
	if !ok {
		b.Fatal(failure.Text())
	}
	return script.SHA()
}

// BenchmarkLockScript runs the re-entrant lock script by EVALSHA inside the engine, with
// all checks and the encoding of the reply. One owner acquires 1,000 locks again and again.
func BenchmarkLockScript(b *testing.B) {
	e := newTestEngine(expiry.System())
	s, out := newTestSession(e)
	sha := loadLockScript(b, e)
	commands := make([]resp.Args, 1000)
	for i := range commands {
		commands[i] = words("EVALSHA", sha, "1", "lock:"+strconv.Itoa(i), "30000", benchOwner)
	}
	var args resp.Args
	unit := func() { e.Execute(s, args) }
	var caller Caller
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		args = commands[i%len(commands)]
		e.Do(&caller, unit)
	}
	if out.written != 5*b.N {
		b.Fatalf("%d bytes of replies", out.written)
	}
}

// BenchmarkLockAndUnlock runs the same script on a free lock, and then DEL.
func BenchmarkLockAndUnlock(b *testing.B) {
	e := newTestEngine(expiry.System())
	s, _ := newTestSession(e)
	sha := loadLockScript(b, e)
	lock := words("EVALSHA", sha, "1", "lock:1", "30000", benchOwner)
	unlock := words("DEL", "lock:1")
	var caller Caller
	b.ReportAllocs()
	for range b.N {
		e.Do(&caller, func() {
			e.Execute(s, lock)
			e.Execute(s, unlock)
		})
	}
}

// BenchmarkPairs runs the lock and unlock scripts of each kind, and DEL of the latch.
//
// A pair of "lock followed", with a replica, may take 1.3 of a pair of "lock".
//
// A pair of "lock recorded" may cost 1.05 of a pair of "lock", in instructions: times differ more
// than that from run to run. Valgrind counts them, here in the pairs alone and without the garbage
// collector:
//
//	go test -c -o engine.test . && export GOGC=off GOMAXPROCS=1 GODEBUG=asyncpreemptoff=1
//	valgrind --tool=callgrind --toggle-collect='*BenchmarkPairs.func1.2' ./engine.test \
//		-test.run=NONE -test.bench='Pairs/lock_recorded$' -test.benchtime=5000x
//
// The count with 5000x less the count with 1000x is what 4,000 pairs cost.
func BenchmarkPairs(b *testing.B) {
	const owner = benchOwner
	const latch = "redisson_unlock_latch:{lock:1}:8e2a2f4c3b1d4e6f9a0b1c2d3e4f5a6b"
	const queue, timeouts = "redisson_lock_queue:{lock:1}", "redisson_lock_timeout:{lock:1}"
	const clock = "1767225600000"
	holds := "{lock:1}:" + owner + ":rwlock_timeout"
	for _, pair := range []struct {
		name         string
		lock, unlock []string
	}{
		{"lock", []string{"lock", "1", "lock:1", "30000", owner},
			[]string{"unlock_latch", "3", "lock:1", "redisson_lock__channel:{lock:1}", latch,
				"30000", owner, "13500"}},
		{"fair", []string{"fair_lock", "3", "lock:1", queue, timeouts, "30000", owner, "300000", clock},
			[]string{"fair_unlock", "5", "lock:1", queue, timeouts,
				"redisson_lock__channel:{lock:1}", latch, "30000", owner, "13500", clock}},
		{"read", []string{"read_lock", "2", "lock:1", holds, "30000", owner, owner + ":write"},
			[]string{"read_unlock", "5", "lock:1", holds, "redisson_rwlock:{lock:1}", "{lock:1}", latch,
				"30000", owner, "13500"}},
		{"write", []string{"write_lock", "1", "lock:1", "30000", owner + ":write"},
			[]string{"write_unlock", "3", "lock:1", "redisson_rwlock:{lock:1}", latch,
				"30000", owner + ":write", "13500"}},
		{"lock recorded", []string{"lock", "1", "lock:1", "30000", owner},
			[]string{"unlock_latch", "3", "lock:1", "redisson_lock__channel:{lock:1}", latch,
				"30000", owner, "13500"}},
		{"lock followed", []string{"lock", "1", "lock:1", "30000", owner},
			[]string{"unlock_latch", "3", "lock:1", "redisson_lock__channel:{lock:1}", latch,
				"30000", owner, "13500"}},
	} {
		b.Run(pair.name, func(b *testing.B) {
			e := newTestEngine(expiry.System())
			if strings.HasSuffix(pair.name, " recorded") { // as with enable-lock-commands
				e.RecordScriptKeys()
			}
			if strings.HasSuffix(pair.name, " followed") { // by a replica
				replica, _ := newTestSession(e)
				for _, line := range []string{"REPLCONF capa eof", "PSYNC ? -1", "REPLCONF ACK 0"} {
					e.Do(&Caller{}, func() { e.Execute(replica, words(strings.Fields(line)...)) })
				}
				if replica.Replica.State != command.Online {
					b.Fatal("the replica gets no stream")
				}
			}
			s, out := newTestSession(e)
			evalsha := func(script []string) resp.Args {
				return words(append([]string{"EVALSHA", loadScript(b, e, script[0])}, script[1:]...)...)
			}
			lock, unlock, drop := evalsha(pair.lock), evalsha(pair.unlock), words("DEL", latch)
			unit := func() {
				e.Execute(s, lock)
				e.Execute(s, unlock)
				e.Execute(s, drop)
			}
			var caller Caller
			b.ReportAllocs()
			for range b.N {
				e.Do(&caller, unit)
			}
			if out.written != b.N*len("$-1\r\n:1\r\n:1\r\n") {
				b.Fatalf("%d bytes of replies in %d pairs", out.written, b.N)
			}
		})
	}
}

func BenchmarkPing(b *testing.B) {
	e := newTestEngine(expiry.System())
	s, _ := newTestSession(e)
	args := words("PING")
	unit := func() { e.Execute(s, args) }
	var caller Caller
	b.ReportAllocs()
	for range b.N {
		e.Do(&caller, unit)
	}
}

// BenchmarkLockAndUnlockOfARestrictedUser is BenchmarkLockAndUnlock with a user whose rights
// each command is checked against.
func BenchmarkLockAndUnlockOfARestrictedUser(b *testing.B) {
	e := newTestEngine(expiry.System())
	s, _ := newTestSession(e)
	sha := loadLockScript(b, e)
	rules := []string{"on", "nopass", "~lock:*", "&redisson_*", "+@all", "-@dangerous"}
	if _, err := e.env.Users.Set("app", rules); err != nil {
		b.Fatal(err)
	}
	s.User = e.env.Users.Get("app")
	lock := words("EVALSHA", sha, "1", "lock:1", "30000", benchOwner)
	unlock := words("DEL", "lock:1")
	var caller Caller
	b.ReportAllocs()
	for range b.N {
		e.Do(&caller, func() {
			e.Execute(s, lock)
			e.Execute(s, unlock)
		})
	}
}
