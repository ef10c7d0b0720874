package history

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/rlock"
)

// kinds are all kinds of rlock.
func kinds() []kind {
	return []kind{
		lockKind("lock", func(c *rlock.Client, name string) locker { return locker{c.Lock(name), nil} }),
		lockKind("spin", func(c *rlock.Client, name string) locker { return locker{c.SpinLock(name), nil} }),
		fencedKind(),
		fairKind(),
		rwKind(),
		multiKind(),
		semaphoreKind(),
		permitKind(),
		rateKind(),
		latchKind(),
	}
}

func fencedKind() kind {
	k := lockKind("fenced", func(c *rlock.Client, name string) locker {
		f := c.FencedLock(name)
		return locker{f.AsLock(), f}
	})
	k.sabotages["counts anew"] = func(ctx context.Context, rdb *redis.Client, name string) {
		rdb.Set(ctx, "redisson_lock_token:{"+name+"}", 0, 0)
	}
	return k
}

// runs returns the number of programs of each kind without LOCKREDIS_HISTORY.
func runs() int {
	switch {
	case redistest.Whole():
		return 100
	case redistest.Quick():
		return 8
	}
	return 25
}

func TestEveryHistoryHasAnOrderThatTheModelAllows(t *testing.T) {
	s := setting{addr: os.Getenv("LOCKREDIS_HISTORY_ADDR")}
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			generator := programs(k.weights)
			var c counts
			next := seeds(t)
			for alive := true; alive; {
				var batch []int
				for len(batch) < s.together() && alive {
					var seed int
					if seed, alive = next(); alive {
						batch = append(batch, seed)
					}
				}
				var all sync.WaitGroup
				for _, seed := range batch {
					all.Go(func() { c.try(t, s, k, seed, generator.Example(seed)) })
				}
				all.Wait()
				alive = alive && !t.Failed()
			}
			if c.undecided*4 > c.runs {
				t.Errorf("%d of %d histories are too long to judge", c.undecided, c.runs)
			}
			t.Logf("%d histories, %d undecided", c.runs, c.undecided)
		})
	}
}

// together is how many programs run at the same time. With real time they mostly wait.
func (s setting) together() int {
	if s.addr != "" {
		return 8
	}
	return 1
}

type counts struct {
	mu              sync.Mutex // guards the fields below
	runs, undecided int
}

// try runs a program and reports a history that the model does not allow.
func (c *counts) try(t *testing.T, s setting, k kind, seed int, p program) {
	result, why := verdict(t, s, k, p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs++; result == porcupine.Unknown {
		c.undecided++
	}
	if result == porcupine.Illegal {
		t.Errorf("%s, seed %d: %s\nprogram:\n%v%s\n"+
			"replay (a history depends on the scheduler: it may take some runs):\n"+
			"  LOCKREDIS_HISTORY_SEED=%d go test ./compat_test/history -run '%s$' -count=20",
			k.name, seed, result, p, why, seed, t.Name())
	}
}

// seeds returns the seeds of the programs to run, one after the other.
func seeds(t *testing.T) func() (seed int, ok bool) {
	n := 0
	first, more := 0, func() bool { return n < runs() }
	if text := os.Getenv("LOCKREDIS_HISTORY_SEED"); text != "" {
		seed, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		first, more = seed, func() bool { return n < 1 }
	} else if text := os.Getenv("LOCKREDIS_HISTORY"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		end := time.Now().Add(d / time.Duration(len(kinds())))
		first, more = int(time.Now().Unix()), func() bool { return time.Now().Before(end) }
		t.Logf("from seed %d on", first)
	}
	return func() (int, bool) {
		if !more() {
			return 0, false
		}
		n++
		return first + n - 1, true
	}
}

// silent drops go-redis's log lines about cut connections.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	goleak.VerifyTestMain(m)
}
