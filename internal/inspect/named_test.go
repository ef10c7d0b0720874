package inspect_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/lockredis/lockredis/internal/inspect"
)

func TestNamedReturnsTheRowsOfList(t *testing.T) {
	s := start(t)
	s.lock(0, "plain", alice, 5000, "")
	s.lock(1, "plain", bob, 5000, "")
	s.lock(0, "rw", alice, 5000, "read")
	s.lock(0, "fair", alice, 5000, "", "redisson_lock_queue:{fair}")
	s.do(0, "RPUSH", "redisson_lock_queue:{fair}", bob)
	s.do(2, "RPUSH", "redisson_lock_queue:{queued}", bob)
	s.do(0, "HSET", "data", alice, "1")
	s.do(0, "EVAL", `redis.call('set', KEYS[1], 0)
		redis.call('zadd', KEYS[2], ARGV[1], '0123456789abcdef')`, "3", "sem", "{sem}:timeout",
		"redisson_sc:{sem}", "1700000009000")
	c := s.connect()
	ask(t, c, "SET token 6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11 NX PX 5000")
	for _, channel := range []string{"redisson_lock__channel:{plain}", "redisson_rwlock:{rw}",
		"redisson_rwlock:{free}", "redisson_sc:{sem}", "redisson_lock__channel:{fair}:" + bob} {
		ask(t, s.connect(), "SUBSCRIBE "+channel)
	}
	s.Inspector.Enter(func(v inspect.View) {
		all := v.List()
		for _, l := range all {
			same := func(other inspect.Lock) bool { return other.DB != l.DB || other.Name != l.Name }
			want := slices.DeleteFunc(slices.Clone(all), same)
			if got := v.Named(l.DB, l.Name); !reflect.DeepEqual(got, want) {
				t.Errorf("%q in database %d:\n%+v\nwant\n%+v", l.Name, l.DB, got, want)
			}
		}
		if len(all) != 8 {
			t.Errorf("%d rows: %+v", len(all), all)
		}
		for _, name := range []string{"data", "none", ""} {
			if got := v.Named(0, name); len(got) > 0 {
				t.Errorf("%q: %+v", name, got)
			}
		}
	})
}
