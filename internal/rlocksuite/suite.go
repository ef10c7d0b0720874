package rlocksuite

import (
	"context"
	"reflect"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// Run runs every test of the suite, one after the other. Each test calls connect for
// a client of an empty server. connect must register the close of the client.
func Run(t *testing.T, connect func(testing.TB) redis.UniversalClient) {
	run(t, connect, func(*testing.T) {})
}

// RunParallel is Run with parallel tests: connect starts a server for each client.
func RunParallel(t *testing.T, connect func(testing.TB) redis.UniversalClient) {
	run(t, connect, (*testing.T).Parallel)
}

func run(t *testing.T, connect func(testing.TB) redis.UniversalClient, begin func(*testing.T)) {
	s := reflect.ValueOf(suite{connect, begin})
	for i := range s.NumMethod() {
		t.Run(s.Type().Method(i).Name, func(t *testing.T) {
			begin(t)
			s.Method(i).Interface().(func(*testing.T))(t)
		})
	}
}

// suite has the tests as its exported methods.
type suite struct {
	server func(testing.TB) redis.UniversalClient
	begin  func(*testing.T) // begins a test, and a subtest that waits long
}

// connect returns a client of an empty server without subscribers. It waits for
// that, because servers remove the subscriptions of closed connections a little
// later.
func (on suite) connect(t testing.TB) redis.UniversalClient {
	t.Helper()
	rdb := on.server(t)
	eventually(t, "no subscriptions of earlier tests", func() bool {
		return len(channels(t, rdb)) == 0
	})
	return rdb
}

func newClient(t testing.TB, rdb redis.UniversalClient, o rlock.Options) *rlock.Client {
	t.Helper()
	c := rlock.New(rdb, o)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// Kind is a kind of reentrant lock.
type Kind struct {
	Label string // as in rlock.Event.Kind
	Make  func(c *rlock.Client, name string) *rlock.Lock
	Field string // field of the lock's hash for the owner me:1
}

// Kinds returns every kind of reentrant lock.
func Kinds() []Kind {
	return []Kind{
		{"lock", func(c *rlock.Client, name string) *rlock.Lock { return c.Lock(name) }, "me:1"},
		{"fair", func(c *rlock.Client, name string) *rlock.Lock { return c.FairLock(name) }, "me:1"},
		{"read", func(c *rlock.Client, name string) *rlock.Lock { return c.RWLock(name).Read() }, "me:1"},
		{"write", func(c *rlock.Client, name string) *rlock.Lock { return c.RWLock(name).Write() }, "me:1:write"},
		{"spin", func(c *rlock.Client, name string) *rlock.Lock { return c.SpinLock(name) }, "me:1"},
		{"fenced", func(c *rlock.Client, name string) *rlock.Lock { return c.FencedLock(name).AsLock() }, "me:1"},
	}
}

// eachLock runs f for every kind on an empty server, with locks of the clients "me"
// and "you".
func (on suite) eachLock(t *testing.T,
	f func(t *testing.T, rdb redis.UniversalClient, me, you *rlock.Lock, k Kind)) {
	for _, k := range Kinds() {
		t.Run(k.Label, func(t *testing.T) {
			rdb := on.connect(t)
			me := newClient(t, rdb, rlock.Options{ID: "me"})
			you := newClient(t, rdb, rlock.Options{ID: "you"})
			f(t, rdb, k.Make(me, "l"), k.Make(you, "l"), k)
		})
	}
}

// contended waits until a waiter has subscribed. Waiters of a spin lock do not
// subscribe.
func contended(t testing.TB, rdb redis.UniversalClient, k Kind) {
	t.Helper()
	if k.Label != "spin" {
		eventually(t, "a subscription", func() bool { return len(channels(t, rdb)) > 0 })
	}
}

// The keys of the fair lock l: the queue, and the deadlines of its owners in ms.
const (
	FairQueue    = "redisson_lock_queue:{l}"
	FairTimeouts = "redisson_lock_timeout:{l}"
)

// Queues starts to acquire the fair lock l, and waits until its owner is the last in the
// queue and has subscribed. No other owner may leave the queue or join it meanwhile.
func Queues(t testing.TB, rdb redis.UniversalClient, ctx context.Context,
	l *rlock.Lock, o ...rlock.Option) *Acquiring {
	t.Helper()
	before := len(queued(rdb))
	got := Begin(ctx, l, o...)
	eventually(t, "the owner waits", func() bool {
		queue := queued(rdb)
		return len(queue) == before+1 &&
			subscribers(t, rdb, "redisson_lock__channel:{l}:"+queue[before]) == 1
	})
	return got
}
