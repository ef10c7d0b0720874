package inspect_test

import (
	"fmt"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/inspect"
)

// BenchmarkLockList lists 10,000 locks with 10,000 waiters: one client for each lock, or all
// owners in one fair lock's queue.
func BenchmarkLockList(b *testing.B) {
	const locks, step = 10_000, 500
	const fill = `for i = ARGV[1], ARGV[1] + 499 do
		redis.call('hincrby', KEYS[1] .. i, ARGV[2], 1)
		redis.call('pexpire', KEYS[1] .. i, 3000000)
	end`
	const queue = `for i = ARGV[1], ARGV[1] + 499 do
		redis.call('rpush', KEYS[1], ARGV[2] .. i)
		redis.call('zadd', KEYS[2], 9e14, ARGV[2] .. i)
	end`
	for _, c := range []struct {
		name    string
		clients int
	}{{"clients", locks}, {"queue", 0}} {
		b.Run(c.name, func(b *testing.B) {
			s := startWith(b, map[string]string{"enable-lock-commands": "yes", "maxclients": "20000"})
			for i := 0; i < locks; i += step {
				s.do(i/step%16, "EVAL", fill, "1", "lock:", fmt.Sprint(i), alice)
				if c.clients == 0 {
					s.do(0, "EVAL", queue, "2", "redisson_lock_queue:{lock:0}",
						"redisson_lock_timeout:{lock:0}", fmt.Sprint(i), bob)
				}
			}
			for i := range c.clients {
				channel := fmt.Sprintf("redisson_lock__channel:{lock:%d}", i)
				if err := s.connect().Send("SUBSCRIBE", channel); err != nil {
					b.Fatal(err)
				}
			}
			conn := s.connect()
			var list wire.Value
			for waiters := 0; waiters < locks; {
				waiters = 0
				s.Inspector.Enter(func(v inspect.View) {
					for _, l := range v.List() {
						waiters += len(l.Queue) + len(l.Listeners)
					}
				})
			}
			b.Run("reply", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					var err error
					list, err = conn.Do("LOCK.LIST")
					if err != nil || len(list.Elems) != locks {
						b.Fatal(len(list.Elems), err)
					}
				}
				b.ReportMetric(float64(len(list.Raw)), "reply-bytes")
			})
			b.Run("inside", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.Inspector.Enter(func(v inspect.View) { v.List() })
				}
			})
		})
	}
}
