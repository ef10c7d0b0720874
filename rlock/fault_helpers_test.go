package rlock_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
)

// eventually waits until f is true.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-tick.C {
		if f() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// within waits for c for 10 s.
func within(t testing.TB, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatalf("not within 10 s: %s", what)
	}
}

// virtually runs f in a synctest bubble (virtual time). At its end go-redis has the time to
// end the dials that are under way, which its Close does not wait for.
func virtually(t *testing.T, f func(*testing.T)) {
	dropTimers()
	defer dropTimers()
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) })
		f(t)
	})
}

// dropTimers makes go-redis forget the timers that it keeps for waits for a connection: a
// timer of another bubble would end the process. Two collections empty a sync.Pool.
func dropTimers() {
	runtime.GC()
	runtime.GC()
}

// holding starts a server for a test that does not release all its holds.
func holding(t testing.TB) *lockredistest.Server {
	return lockredistest.RunT(t, lockredistest.AllowLeaks())
}

// clientNamed returns a client of srv that faults can select by its name.
func clientNamed(t testing.TB, srv *lockredistest.Server, name string) *redis.Client {
	o := srv.Options()
	o.ClientName = name
	rdb := redis.NewClient(o)
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

// scripts returns how many scripts the server's clients have called by their SHA1.
func scripts(srv *lockredistest.Server) int { return srv.CommandCounts()["evalsha"] }

// loseReplies makes srv lose the replies to the next n scripts after the first skip.
func loseReplies(srv *lockredistest.Server, skip, n int) *lockredistest.Fault {
	return srv.LoseReply(lockredistest.Match{Command: "evalsha", Nth: skip + 1, Times: n})
}

// cutOff closes the connections of the clients with the name, "" of all, and every
// connection that such a client uses until the fault is cleared.
func cutOff(srv *lockredistest.Server, name string) *lockredistest.Fault {
	f := srv.LoseRequest(lockredistest.Match{Client: name, Times: lockredistest.Always})
	srv.Cut(lockredistest.Connections{Client: name})
	return f
}

// outage is a way in which a server becomes unreachable. end makes it reachable again.
type outage struct {
	name  string
	begin func(testing.TB, *lockredistest.Server) (end func())
}

// eachOutage runs f with each outage in a bubble of its own.
func eachOutage(t *testing.T, f func(t *testing.T, o outage)) {
	for _, o := range outages() {
		t.Run(o.name, func(t *testing.T) {
			virtually(t, func(t *testing.T) { f(t, o) })
		})
	}
}

func outages() []outage {
	return []outage{
		{"refuses connections", func(t testing.TB, srv *lockredistest.Server) func() {
			srv.Stop()
			return func() { must(t, srv.Restart()) }
		}},
		{"hangs", func(_ testing.TB, srv *lockredistest.Server) func() { return srv.Hang().Clear }},
	}
}
