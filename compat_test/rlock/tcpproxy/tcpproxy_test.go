package tcpproxy_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/rlock/tcpproxy"
	"github.com/lockredis/lockredis/internal/redistest"
)

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "12") // the tests wait for time to pass; -parallel overrides it
	goleak.VerifyTestMain(m)
}

// patience is how long a client waits for a reply, on a busy machine too.
const patience = time.Second

// setup returns a network in front of a new server, a client through it, and one that
// connects directly.
func setup(t *testing.T) (n *tcpproxy.Network, through, direct *redis.Client) {
	t.Helper()
	srv := lockredis.New(lockredis.Config{})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	n = tcpproxy.New(t)
	through = redis.NewClient(&redis.Options{Addr: srv.Addr(), Dialer: n.Dial, MaxRetries: -1,
		ReadTimeout: patience})
	direct = redis.NewClient(&redis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { through.Close(); direct.Close() })
	return n, through, direct
}

// once makes the fault for the first command of the name.
func once(n *tcpproxy.Network, name string, fault tcpproxy.Fault) {
	used := make(chan struct{}, 1)
	n.Apply(func(c tcpproxy.Command) tcpproxy.Fault {
		if c.Name() == name {
			select {
			case used <- struct{}{}:
				return fault
			default:
			}
		}
		return tcpproxy.Fault{}
	})
}

// eventually waits until the key has the value.
func eventually(t *testing.T, rdb *redis.Client, key, value string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if rdb.Get(t.Context(), key).Val() == value {
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Fatalf("%s never had the value %q", key, value)
}

func TestHeldRequestArrivesAfterItsClientClosed(t *testing.T) {
	redistest.SkipWhenQuick(t) // the request is held for seconds
	t.Parallel()
	n, through, direct := setup(t)
	answered := make(chan struct{})
	once(n, "set", tcpproxy.Fault{
		Kind: tcpproxy.HoldRequest, For: 3 * patience, Answered: answered})
	if err := through.Set(t.Context(), "k", "late", 0).Err(); err == nil {
		t.Fatal("the held request was answered")
	}
	through.Close()
	if direct.Exists(t.Context(), "k").Val() != 0 {
		t.Fatal("the request arrived too early")
	}
	<-answered
	if v := direct.Get(t.Context(), "k").Val(); v != "late" {
		t.Errorf("the key has the value %q", v)
	}
}

func TestOtherConnectionsOvertakeAHeldRequest(t *testing.T) {
	redistest.SkipWhenQuick(t) // the request is held for seconds
	t.Parallel()
	n, through, direct := setup(t)
	once(n, "set", tcpproxy.Fault{Kind: tcpproxy.HoldRequest, For: 3 * patience})
	first := through.Set(t.Context(), "k", "first", 0).Err()
	second := through.Set(t.Context(), "k", "second", 0).Err()
	if first == nil || second != nil {
		t.Fatalf("errors %v and %v", first, second)
	}
	eventually(t, direct, "k", "first")
}

func TestRequestsOfAConnectionKeepTheirOrder(t *testing.T) {
	t.Parallel()
	n, through, direct := setup(t)
	once(n, "append", tcpproxy.Fault{Kind: tcpproxy.HoldRequest, For: 30 * time.Millisecond})
	pipe := through.Pipeline()
	for _, s := range []string{"a", "b", "c", "d"} {
		pipe.Append(t.Context(), "k", s)
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := direct.Get(t.Context(), "k").Val(); got != "abcd" {
		t.Errorf("the server got %q", got)
	}
}

func TestReplyIsLostAndItsRequestRuns(t *testing.T) {
	t.Parallel()
	timeout := func(err error) bool {
		var e net.Error
		return errors.As(err, &e) && e.Timeout()
	}
	for kind, want := range map[tcpproxy.Kind]func(error) bool{
		tcpproxy.LoseReply:   func(err error) bool { return errors.Is(err, io.EOF) },
		tcpproxy.ResetReply:  func(err error) bool { return err != nil && !timeout(err) },
		tcpproxy.VanishReply: timeout,
		tcpproxy.HoldReply:   timeout,
	} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			n, through, direct := setup(t)
			once(n, "set", tcpproxy.Fault{Kind: kind, For: time.Minute})
			if err := through.Set(t.Context(), "k", "v", 0).Err(); !want(err) {
				t.Errorf("error %v", err)
			}
			eventually(t, direct, "k", "v")
			if err := through.Set(t.Context(), "k", "w", 0).Err(); err != nil {
				t.Errorf("the next connection: %v", err)
			}
		})
	}
}

func TestRequestIsLost(t *testing.T) {
	t.Parallel()
	for _, kind := range []tcpproxy.Kind{tcpproxy.Reset, tcpproxy.Vanish} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			n, through, direct := setup(t)
			once(n, "set", tcpproxy.Fault{Kind: kind})
			if err := through.Set(t.Context(), "k", "v", 0).Err(); err == nil {
				t.Error("the lost request was answered")
			}
			through.Set(t.Context(), "other", "v", 0)
			if direct.Exists(t.Context(), "k").Val() != 0 {
				t.Error("the lost request arrived")
			}
		})
	}
}

func TestStalledRequestsArriveAfterTheStall(t *testing.T) {
	t.Parallel()
	n, through, direct := setup(t)
	through.Ping(t.Context())
	n.Stall()
	if err := through.Set(t.Context(), "k", "v", 0).Err(); err == nil {
		t.Fatal("a stalled request was answered")
	}
	if direct.Exists(t.Context(), "k").Val() != 0 {
		t.Fatal("a stalled request arrived")
	}
	n.Resume()
	eventually(t, direct, "k", "v")
}

func TestCutNetworkRefusesConnectionsUntilHealed(t *testing.T) {
	t.Parallel()
	n, through, _ := setup(t)
	through.Ping(t.Context())
	n.Cut()
	if err := through.Ping(t.Context()).Err(); err == nil {
		t.Error("a cut network answered")
	}
	n.Heal()
	if err := through.Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}

func TestSameSeedGivesTheSameFaults(t *testing.T) {
	t.Parallel()
	plan := &tcpproxy.Plan{Seed: 7, Phases: []tcpproxy.Phase{{For: time.Hour,
		Commands: []tcpproxy.Chance{{Of: 0.3, Kind: tcpproxy.HoldReply}}}}}
	run := func() (faults []int) {
		n, through, _ := setup(t)
		conn := through.Conn()
		defer conn.Close()
		conn.Ping(context.Background())
		n.Follow(plan)
		for range 50 {
			conn.Ping(context.Background())
			faults = append(faults, n.Faults())
		}
		return faults
	}
	first, second := run(), run()
	if !slices.Equal(first, second) || first[49] == 0 || first[49] == 50 {
		t.Errorf("%v\n%v", first, second)
	}
}
