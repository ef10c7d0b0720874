package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/inspect"
)

// Redisson stays subscribed to a channel when tryLock, tryAcquire or await times out while it subscribes.
func TestASubscriptionToTheChannelOfAFreeLockIsNoLeak(t *testing.T) {
	const channel = "redisson_lock__channel:"
	lock := func(s *server) { s.lock(0, "a", alice, 0, "") }
	queue := func(s *server) { s.do(0, "RPUSH", "redisson_lock_queue:{a}", bob) }
	write := func(s *server) { s.lock(0, "a", alice+":write", 0, "write") }
	permits := func(name, n string) func(*server) {
		return func(s *server) { s.do(0, "SET", name, n) }
	}
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
		{"a semaphore that is deleted", "SUBSCRIBE", "redisson_sc:{a}", nil, false},
		{"a semaphore with a free permit", "SUBSCRIBE", "redisson_sc:{a}", permits("a", "1"), false},
		{"a semaphore without a free permit", "SUBSCRIBE", "redisson_sc:{a}", permits("a", "0"), true},
		{"a semaphore with too many permits taken", "SSUBSCRIBE", "redisson_sc:{a}", permits("a", "-2"), true},
		{"another semaphore is without a free permit", "SUBSCRIBE", "redisson_sc:{b}", permits("a", "0"), false},
		{"an empty semaphore with braces", "SUBSCRIBE", "redisson_sc:{a}", permits("{a}", "0"), true},
		{"an empty semaphore in another database", "SUBSCRIBE", "redisson_sc:{a}",
			func(s *server) { s.do(1, "SET", "a", "0") }, true},
		{"a permit semaphore whose lease has ended", "SUBSCRIBE", "redisson_sc:{a}", func(s *server) {
			permits("a", "0")(s)
			s.do(0, "ZADD", "{a}:timeout", "1", "id")
		}, false},
		{"a permit semaphore whose lease lasts", "SUBSCRIBE", "redisson_sc:{a}", func(s *server) {
			permits("a", "0")(s)
			s.do(0, "ZADD", "{a}:timeout", "9e15", "id")
		}, true},
		{"no semaphore has the name", "SUBSCRIBE", "redisson_sc:{a}",
			func(s *server) { s.do(0, "RPUSH", "a", "0") }, false},
		{"a latch", "SUBSCRIBE", "redisson_countdownlatch__channel__{a}", nil, false},
		{"a latch that is above zero", "SUBSCRIBE", "redisson_countdownlatch__channel__{a}",
			permits("a", "1"), false},
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
			all := seen.AllLeaks()
			at := slices.IndexFunc(all, subscribed)
			if at < 0 {
				t.Fatalf("all leaks %+v, want the subscription", all)
			}
			latch := strings.HasPrefix(c.topic, "redisson_countdownlatch__channel__")
			if l := &all[at]; l.Idle == c.leak || l.MayAcquire() != (l.Idle && !latch) {
				t.Errorf("the subscription is idle: %v, may acquire: %v", l.Idle, l.MayAcquire())
			}
			counts := map[bool]string{true: `"counts", 1`, false: `"counts", 0`}[c.leak]
			reply := ask(t, s.connect(), "LOCK.LEAKS ALL")
			if _, row, _ := strings.Cut(reply, `"subscription"`); !strings.Contains(row, c.topic) ||
				!strings.Contains(row, counts) {
				t.Errorf("LOCK.LEAKS ALL: %s, want the subscription with %s", reply, counts)
			}
		})
	}
}

func TestASubscriptionTellsWhatItsChannelAnnounces(t *testing.T) {
	s := start(t)
	c := s.connect()
	for _, channel := range []struct{ name, want string }{
		{"redisson_lock__channel:{a}", `"waits-for", "a", "kind", "lock"`},
		{"redisson_lock__channel:{a}:" + bob, `"waits-for", "a", "kind", "fair"`},
		{"redisson_lock__channel:x{a}", `"waits-for", "x{a}", "kind", "lock"`},
		{"redisson_rwlock:{a}", `"waits-for", "a", "kind", "read-write"`},
		{"redisson_sc:{a}", `"waits-for", "a", "kind", "semaphore"`},
		{"redisson_countdownlatch__channel__{a}", `"waits-for", "a", "kind", "count-down-latch"`},
		{"news", `"waits-for", "", "kind", ""`},
	} {
		listener := s.connect()
		ask(t, listener, "SUBSCRIBE "+channel.name)
		reply := ask(t, c, "LOCK.LEAKS ALL")
		if _, row, _ := strings.Cut(reply, `"subscription"`); !strings.Contains(row, channel.want) {
			t.Errorf("%s: %s, want %s", channel.name, reply, channel.want)
		}
		ask(t, listener, "RESET")
	}
}
