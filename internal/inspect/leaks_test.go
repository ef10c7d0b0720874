package inspect_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockredis/lockredis/internal/inspect"
)

// Redisson stays subscribed to a lock's channel when tryLock times out while it subscribes.
func TestASubscriptionToTheChannelOfAFreeLockIsNoLeak(t *testing.T) {
	const channel = "redisson_lock__channel:"
	lock := func(s *server) { s.lock(0, "a", alice, 0, "") }
	queue := func(s *server) { s.do(0, "RPUSH", "redisson_lock_queue:{a}", bob) }
	write := func(s *server) { s.lock(0, "a", alice+":write", 0, "write") }
	for _, c := range []struct {
		name, command, topic string
		setUp                func(*server)
		leak                 bool
	}{
		{"a lock that is free", "SUBSCRIBE", channel + "{a}", nil, false},
		{"a lock that is held", "SUBSCRIBE", channel + "{a}", lock, true},
		{"a lock that is held in another database", "SUBSCRIBE", channel + "{a}",
			func(s *server) { s.lock(1, "a", alice, 0, "") }, true},
		{"another lock is held", "SUBSCRIBE", channel + "{b}", lock, false},
		{"a name with braces", "SUBSCRIBE", channel + "{a}:1",
			func(s *server) { s.lock(0, "{a}:1", alice, 0, "") }, true},
		{"shards", "SSUBSCRIBE", channel + "{a}", lock, true},
		{"shards and a free lock", "SSUBSCRIBE", channel + "{a}", nil, false},
		{"a fair lock that is free", "SUBSCRIBE", channel + "{a}:" + bob, nil, false},
		{"a fair lock that is held", "SUBSCRIBE", channel + "{a}:" + bob, lock, true},
		{"a fair lock with a queue", "SUBSCRIBE", channel + "{a}:" + bob, queue, true},
		{"a read-write lock that is free", "SUBSCRIBE", "redisson_rwlock:{a}", lock, false},
		{"a read-write lock that is held", "SUBSCRIBE", "redisson_rwlock:{a}", write, true},
		{"a semaphore", "SUBSCRIBE", "redisson_sc:{a}", nil, true},
		{"a latch", "SUBSCRIBE", "redisson_countdownlatch__channel__{a}", nil, true},
		{"a pattern", "PSUBSCRIBE", channel + "{a}", nil, true},
		{"a channel of the user's", "SUBSCRIBE", "news", nil, true},
		{"a channel whose name is nearly a lock's", "SUBSCRIBE", "redisson_lock__channels:{a}", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t)
			if c.setUp != nil {
				c.setUp(s)
			}
			ask(t, s.connect(), fmt.Sprint(c.command, " ", c.topic))
			seen := s.Inspector.Look()
			subscribed := func(l inspect.Leak) bool {
				return l.Type == inspect.SubscriptionLeak && l.Name == c.topic
			}
			if leaks := seen.Leaks(); slices.ContainsFunc(leaks, subscribed) != c.leak {
				t.Errorf("leaks %+v, want the subscription %v", leaks, c.leak)
			}
		})
	}
}
