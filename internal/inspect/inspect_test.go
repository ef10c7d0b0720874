package inspect_test

import (
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

const (
	alice = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17"
	bob   = "0b9d4c3f-7a52-4d26-8e7b-5f1d2c3b4a59:3"
)

// acquire is a lock script: KEYS[1] is the lock, ARGV the owner, the lease in ms, the mode
// or "".
const acquire = `
if ARGV[3] ~= '' then redis.call('hset', KEYS[1], 'mode', ARGV[3]) end
redis.call('hincrby', KEYS[1], ARGV[1], 1)
if ARGV[2] ~= '0' then redis.call('pexpire', KEYS[1], ARGV[2]) end`

var epoch = time.UnixMilli(1_700_000_000_000)

// server is a lockredis on a manual clock, whose locks are inspected.
type server struct {
	t testing.TB
	backdoor.Inside
	srv   *lockredis.Server
	clock *expiry.Manual
}

func start(t *testing.T) *server {
	t.Helper()
	return startWith(t, map[string]string{"enable-lock-commands": "yes"})
}

func startWith(t testing.TB, directives map[string]string) *server {
	t.Helper()
	return startPrepared(t, directives, func(backdoor.Inside) {})
}

// startPrepared calls prepare before the server starts.
func startPrepared(t testing.TB, directives map[string]string, prepare func(backdoor.Inside)) *server {
	t.Helper()
	clock := expiry.NewManual(epoch)
	srv := lockredis.New(lockredis.Config{NoSocket: true, Clock: clock, Directives: directives})
	inside := backdoor.Open(srv)
	prepare(inside)
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return &server{t, inside, srv, clock}
}

func (s *server) do(db int, args ...string) {
	s.t.Helper()
	words := make(resp.Args, len(args))
	for i, a := range args {
		words[i] = []byte(a)
	}
	s.Call(db, words, func(r resp.Reply) {
		if r.IsError() {
			s.t.Errorf("%s: %s", args, r.Text())
		}
	})
}

// lock acquires a lock. more are further keys that the script declares.
func (s *server) lock(db int, name, owner string, leaseMillis int, mode string, more ...string) {
	s.t.Helper()
	args := append([]string{"EVAL", acquire, strconv.Itoa(1 + len(more)), name}, more...)
	s.do(db, append(args, owner, strconv.Itoa(leaseMillis), mode)...)
}

func TestLocksAreSortedByDatabaseAndName(t *testing.T) {
	s := start(t)
	s.lock(1, "a", alice, 0, "")
	s.lock(0, "c", alice, 3000, "")
	s.lock(0, "b", bob, 0, "read")
	s.lock(0, "b", alice, 0, "read")
	s.do(0, "RPUSH", "redisson_lock_queue:{a}", bob, alice)
	seen := s.Inspector.Look()
	writer := inspect.Origin{Addr: "direct"}
	holder := func(owner string, mode inspect.Kind, lease int64) inspect.Holder {
		h := inspect.Holder{Owner: owner, Mode: mode, Count: 1, By: writer, Since: epoch.UnixMilli()}
		if lease > 0 {
			h.Deadline = epoch.UnixMilli() + lease
		}
		return h
	}
	want := []inspect.Lock{
		{Name: "a", Kind: inspect.Fair, Queue: []inspect.Waiter{{Owner: bob}, {Owner: alice}}},
		{Name: "b", Kind: inspect.Read, Writer: writer, Holders: []inspect.Holder{
			holder(bob, inspect.Read, 0), holder(alice, inspect.Read, 0),
		}},
		{
			Name: "c", Kind: inspect.Plain, Writer: writer, Deadline: epoch.UnixMilli() + 3000,
			Holders: []inspect.Holder{holder(alice, "", 3000)},
		},
		{
			DB: 1, Name: "a", Kind: inspect.Plain, Writer: writer,
			Holders: []inspect.Holder{holder(alice, "", 0)},
		},
	}
	if !reflect.DeepEqual(seen.Locks, want) {
		t.Fatalf("%+v\nwant %+v", seen.Locks, want)
	}
	if seen.Now != epoch.UnixMilli() {
		t.Fatalf("at %d", seen.Now)
	}
}

func TestStepStopsAtEachDeadline(t *testing.T) {
	s := start(t)
	nc, err := s.srv.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	listener := wire.NewConn(nc)
	listener.SetTimeout(20 * time.Second)
	if _, err := listener.Do("PSUBSCRIBE", "redisson*"); err != nil {
		t.Fatal(err)
	}
	s.lock(0, "second", alice, 2000, "")
	s.lock(0, "first", alice, 1000, "")
	s.lock(0, "renewed", alice, 1000, "")
	s.do(0, "PEXPIRE", "renewed", "9000")
	end := epoch.Add(5 * time.Second)
	for i, want := range []struct {
		at   time.Duration
		more bool
	}{{time.Second, true}, {2 * time.Second, true}, {5 * time.Second, false}} {
		_, more := s.Inspector.Step(end, epoch)
		if at := s.clock.Now().Sub(epoch); at != want.at || more != want.more {
			t.Fatalf("step %d: at %v, more %v; want %+v", i, at, more, want)
		}
	}
	for _, name := range []string{"first", "second"} {
		m, err := listener.Receive()
		want := fmt.Sprintf("$%d\r\nredisson_lock__channel:{%s}\r\n$1\r\n0\r\n", 25+len(name), name)
		if got := string(m.Raw); err != nil || len(got) < len(want) || got[len(got)-len(want):] != want {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
	}
	if left := s.Inspector.Look().Locks; len(left) != 1 || left[0].Name != "renewed" {
		t.Fatalf("%+v", left)
	}
}
