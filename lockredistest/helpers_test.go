package lockredistest_test

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "12") // parallel tests wait for time to pass; -parallel overrides it
	goleak.VerifyTestMain(m)
}

// Two owners in Redisson's form.
const (
	alice = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17"
	bob   = "0b9d4c3f-7a52-4d26-8e7b-5f1d2c3b4a59:3"
)

// recorder is a testing.TB that records failures and logs.
type recorder struct {
	testing.TB
	errors, logs []string
	fatal        bool
	failed       bool
	cleanups     []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Failed() bool     { return r.failed || len(r.errors) > 0 }
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Error(args ...any) {
	r.errors = append(r.errors, fmt.Sprint(args...))
}
func (r *recorder) Log(args ...any) { r.logs = append(r.logs, fmt.Sprint(args...)) }
func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	r.fatal = true
	panic(r)
}
func (r *recorder) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }
func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }

// end runs the cleanups, as the end of a test does, and returns all failures.
func (r *recorder) end() string {
	for len(r.cleanups) > 0 {
		last := len(r.cleanups) - 1
		f := r.cleanups[last]
		r.cleanups = r.cleanups[:last]
		f()
	}
	return strings.Join(r.errors, "\n")
}

// stops runs f and fails t unless f ends the recorded test.
func (r *recorder) stops(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if cause := recover(); cause != nil && cause != r {
			panic(cause)
		}
	}()
	f()
	t.Error("the recorded test was not ended")
}

// lock acquires a lock in Redisson's layout. KEYS[1] is the lock; the script does not use
// further keys. ARGV are the lease in ms, the owner, and the mode or "".
var lock = redis.NewScript(`
if ARGV[3] ~= '' then redis.call('hset', KEYS[1], 'mode', ARGV[3]) end
redis.call('hincrby', KEYS[1], ARGV[2], 1)
if ARGV[1] ~= '0' then redis.call('pexpire', KEYS[1], ARGV[1]) end
return nil`)

// takePermits acquires the permits ARGV[2] and following of a permit semaphore until the time
// ARGV[1] in Unix ms. The keys are the counter, the leases and the channel.
var takePermits = redis.NewScript(`
for i = 2, #ARGV do redis.call('zadd', KEYS[2], ARGV[1], ARGV[i]) end
redis.call('set', KEYS[1], 10 - (#ARGV - 1))
return 1`)

// permitKeys returns the keys of takePermits.
func permitKeys(name string) []string {
	return []string{name, "{" + name + "}:timeout", "redisson_sc:{" + name + "}"}
}

// enqueue puts the owner ARGV[1] into the queue of the fair lock KEYS[1], until the time
// ARGV[2] in Unix ms.
var enqueue = redis.NewScript(`
redis.call('rpush', 'redisson_lock_queue:{' .. KEYS[1] .. '}', ARGV[1])
redis.call('zadd', 'redisson_lock_timeout:{' .. KEYS[1] .. '}', ARGV[2], ARGV[1])
return 1`)

func run(t testing.TB, rdb *redis.Client, script *redis.Script, keys []string, args ...any) {
	t.Helper()
	if err := script.Run(t.Context(), rdb, keys, args...).Err(); err != nil && err != redis.Nil {
		t.Fatal(err)
	}
}

// synctestRun runs a subtest in its own synctest bubble.
func synctestRun(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// eventually polls until f is true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !f(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("never: ", what)
		}
	}
}
