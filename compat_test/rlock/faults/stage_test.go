package faults

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockredis/lockredis/compat_test/rlock/tcpproxy"
	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/internal/stall"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})       // go-redis logs every connection that fails
	flag.Set("test.parallel", "12") // the tests wait for time to pass; -parallel overrides it
	goleak.VerifyTestMain(m)
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// stage is a server with clients behind networks of their own.
type stage struct {
	t      *testing.T
	tp     *topology.Topology
	clock  *stall.Meter
	direct redis.UniversalClient // without a proxy
}

// single returns a stage with one server: redis-server when LOCKREDIS_RLOCK asks for
// it, or lockredis.
func single(t *testing.T) *stage {
	t.Helper()
	kind := topology.Lockredis
	if topology.Asked(t, string(topology.Single)) {
		kind = topology.Single
	}
	return stageOn(t, topology.Start(t, kind))
}

// stageOf returns a stage on a topology that needs foreign programs. It skips the test
// unless LOCKREDIS_RLOCK asks for the kind.
func stageOf(t *testing.T, kind topology.Kind) *stage {
	t.Helper()
	if !topology.Asked(t, string(kind)) {
		t.Skipf("not asked for: %s; set %s", kind, topology.Variable)
	}
	return stageOn(t, topology.Start(t, kind))
}

func stageOn(t *testing.T, tp *topology.Topology) *stage {
	return &stage{t: t, tp: tp, clock: stall.Watch(t), direct: tp.Client(t)}
}

// process is a client process: rlock, its go-redis client and its way to the servers.
type process struct {
	client
	rdb redis.UniversalClient
	net *tcpproxy.Network
}

// process returns a new process. It is closed at the end of the test, after its network
// is healed.
func (s *stage) process(o clientOptions, changes ...func(*redis.UniversalOptions)) *process {
	s.t.Helper()
	p := &process{net: tcpproxy.New(s.t)}
	changes = append(changes, func(o *redis.UniversalOptions) { o.Dialer = p.net.Dial })
	p.rdb = s.tp.Client(s.t, changes...)
	p.client = newClient(p.rdb, o)
	s.t.Cleanup(func() {
		p.net.Heal()
		limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		p.close(limited)
	})
	return p
}

// must ends the test on an error.
func must[T any](t *testing.T, what string) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return value
	}
}

// acquire acquires and ends the test when that fails.
func (s *stage) acquire(l interface {
	acquire(context.Context, how) (hold, error)
}) hold {
	s.t.Helper()
	h, err := l.acquire(s.t.Context(), patient)
	if err != nil {
		s.t.Fatalf("acquire: %v", err)
	}
	return h
}

func (s *stage) release(h hold) {
	s.t.Helper()
	if err := h.release(s.t.Context()); err != nil {
		s.t.Fatalf("release: %v", err)
	}
}

// acquireWithin acquires and fails the test when that takes longer than limit. It
// returns how long it took, at most most.
func (s *stage) acquireWithin(l locker, limit, most time.Duration) time.Duration {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), most)
	defer cancel()
	start := s.clock.Running()
	h, err := l.acquire(ctx, patient)
	took := s.clock.Running() - start
	if err == nil {
		h.release(s.t.Context())
	}
	if err != nil || took > limit {
		s.t.Errorf("the next owner waited %s (%v)", took.Round(time.Millisecond), err)
	}
	return took
}

// await waits until f is true, at most limit, and ten times as long on a busy machine.
func await(t *testing.T, limit time.Duration, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * limit); time.Now().Before(end); <-tick.C {
		if f() {
			return
		}
	}
	t.Fatalf("not within %s: %s", 10*limit, what)
}

// within reports whether the channel is closed before this process has run for limit.
func within(done <-chan struct{}, limit time.Duration) bool {
	select {
	case <-done:
		return true
	default:
	}
	clock := stall.Start()
	defer clock.Stop()
	for left := limit; left > 0; left = limit - clock.Running() {
		timer := time.NewTimer(left)
		select {
		case <-done:
			timer.Stop()
			return true
		case <-timer.C:
		}
	}
	return false
}

// firstOf returns a rule that makes the fault for the first script call with the key.
// The function that it also returns reports whether the rule has made the fault.
func firstOf(key string, fault tcpproxy.Fault) (tcpproxy.Rule, func() bool) {
	var used atomic.Bool
	return func(c tcpproxy.Command) tcpproxy.Fault {
		if strings.HasPrefix(c.Name(), "eval") && c.Has(key) && used.CompareAndSwap(false, true) {
			return fault
		}
		return tcpproxy.Fault{}
	}, used.Load
}

// holdUp holds the client's next script call that names the key up for d. sent reports
// whether the client has sent that call. arrived waits until the server has run it.
func (s *stage) holdUp(p *process, key string, d time.Duration) (sent func() bool, arrived func()) {
	answered := make(chan struct{})
	rule, sent := firstOf(key, tcpproxy.Fault{
		Kind: tcpproxy.HoldRequest, For: d, Answered: answered})
	p.net.Apply(rule)
	return sent, func() {
		s.t.Helper()
		if !within(answered, time.Minute) {
			s.t.Fatalf("the server answers no call that names %s and was delayed", key)
		}
	}
}

// warmUp uses the client, so that rlock knows a short latency and the scripts are
// loaded.
func (s *stage) warmUp(p *process, l locker) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	for range 5 {
		h, err := l.acquire(ctx, patient)
		if err != nil {
			s.t.Fatal(err)
		}
		if err := h.release(ctx); err != nil {
			s.t.Fatal(err)
		}
	}
}

func names(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("orders:%d", i))
	}
	return names
}
