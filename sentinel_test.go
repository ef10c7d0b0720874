package lockredis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/testcert"
)

func TestSentinelsInOneProcessFindEachOtherThroughThePrimary(t *testing.T) {
	redistest.SkipWhenQuick(t) // Sentinels greet each other every second or two
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	port, err := redistest.FreePort() // after Close no other server answers there
	if err != nil {
		t.Fatal(err)
	}
	primary := New(Config{Addr: net.JoinHostPort("127.0.0.1", port), Password: "secret"})
	if err := primary.Start(); err != nil {
		t.Fatal(err)
	}
	defer primary.Close()
	s, err := StartSentinels(t.Context(), SentinelConfig{
		Addr: primary.Addr(), MasterPassword: "secret", Password: "sesame",
		DownAfter: time.Minute, // on a busy machine a Sentinel may be silent for seconds
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, addr := range s.Addrs() {
		c := redis.NewSentinelClient(&redis.Options{Addr: addr, Password: "sesame"})
		defer c.Close()
		at, err := c.GetMasterAddrByName(ctx, "mymaster").Result()
		if err != nil || strings.Join(at, ":") != primary.Addr() {
			t.Errorf("the primary is at %v, %v, want %s", at, err, primary.Addr())
		}
		others, err := c.Sentinels(ctx, "mymaster").Result()
		if err != nil || len(others) != 2 {
			t.Errorf("%v, %v: want two other Sentinels", others, err)
		}
		if replicas, err := c.Replicas(ctx, "mymaster").Result(); err != nil || len(replicas) > 0 {
			t.Errorf("replicas %v, %v, want none", replicas, err)
		}
		if ok, err := c.CkQuorum(ctx, "mymaster").Result(); err != nil {
			t.Errorf("CKQUORUM: %v, %v", ok, err)
		}
	}
	failover := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: "mymaster", SentinelAddrs: s.Addrs(), SentinelPassword: "sesame", Password: "secret",
	})
	defer failover.Close()
	if err := failover.Set(ctx, "key", "value", 0).Err(); err != nil {
		t.Error(err)
	}
	c := redis.NewSentinelClient(&redis.Options{Addr: s.Addrs()[0], Password: "sesame"})
	defer c.Close()
	events := c.PSubscribe(ctx, "*")
	defer events.Close()
	if _, err := events.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	for _, addr := range s.Addrs() {
		c := redis.NewSentinelClient(&redis.Options{Addr: addr, Password: "sesame"})
		defer c.Close()
		if err := c.Set(ctx, "mymaster", "down-after-milliseconds", "500").Err(); err != nil {
			t.Fatal(err)
		}
	}
	primary.Close()
	for {
		m, err := events.ReceiveMessage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(m.Channel, m.Payload)
		if m.Channel == "+odown" {
			break
		}
	}
}

// secureNode writes certificates to a directory and returns the directives of a node that
// speaks TLS only, and asks its clients for certificates.
func secureNode(t *testing.T, authority *testcert.Authority) []string {
	t.Helper()
	dir := t.TempDir()
	pair, err := authority.Issue("node")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"ca.crt": authority.PEM, "node.crt": pair.CertPEM, "node.key": pair.KeyPEM,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"--bind", "127.0.0.1", "--port", "0", "--tls-port", "auto",
		"--tls-cert-file", filepath.Join(dir, "node.crt"),
		"--tls-key-file", filepath.Join(dir, "node.key"),
		"--tls-ca-cert-file", filepath.Join(dir, "ca.crt")}
}

// startNode starts a node with redis-server's arguments.
func startNode(t *testing.T, args ...string) *Server {
	t.Helper()
	settings, err := ParseSettings(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	srv := New(Config{Settings: settings})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return srv
}

func TestSentinelsSpeakTLSWithThePrimaryAndEachOther(t *testing.T) {
	authority, err := testcert.New("authority")
	if err != nil {
		t.Fatal(err)
	}
	primary := startNode(t, secureNode(t, authority)...)
	host, port, _ := net.SplitHostPort(primary.TLSAddr())
	watch := func(authority *testcert.Authority, name string) *Server {
		return startNode(t, append([]string{"--sentinel", "--tls-replication", "yes",
			"--sentinel", "monitor", name, host, port, "2"}, secureNode(t, authority)...)...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, s := range []*Server{watch(authority, "main"), watch(authority, "main")} {
		if err := within(s).mon.AwaitPeers(ctx, "main", 1, 0); err != nil {
			t.Error(err)
		}
	}
	stranger, err := testcert.New("another authority")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := within(watch(stranger, "main")).mon.AwaitPeers(ctx, "main", 0, 0); err == nil {
		t.Error("a Sentinel trusts a primary of another authority")
	}
}

func TestStartSentinelsSaysWhatIsWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		primary := New(Config{NoSocket: true, Password: "secret"})
		if err := primary.Start(); err != nil {
			t.Fatal(err)
		}
		defer primary.Close()
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return primary.Dial(ctx) }
		for want, cfg := range map[string]SentinelConfig{
			"does not let them in": {
				Addr: "127.0.0.1:1", MasterPassword: "guess", Dial: dial, NoSocket: true,
			},
			"127.0.0.1:2 does not let them": {Addr: "127.0.0.1:2", NoSocket: true, Dial: refused},
			"missing port in address":       {Addr: "127.0.0.1"},
			"Addrs is empty":                {Addr: "127.0.0.1:1", Addrs: []string{}},
			"DownAfter is -1ms":             {Addr: "127.0.0.1:1", DownAfter: -time.Millisecond},
			"Quorum is 4, there are 3":      {Addr: "127.0.0.1:1", Quorum: 4},
			"127.0.0.1:3 does not let them": {Addr: "127.0.0.1:3", NoSocket: true, Dial: nothing},
			"Quorum must be 1 or greater":   {Addr: "127.0.0.1:1", Quorum: -1},
			`address "nowhere"`:             {Addr: "127.0.0.1:1", Addrs: []string{"nowhere"}},
		} {
			s, err := StartSentinels(t.Context(), cfg)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	})
}

func TestStartSentinelsRefusesAnAnnounceIPThatIsNoAddress(t *testing.T) {
	s, err := StartSentinels(t.Context(), SentinelConfig{Addr: "127.0.0.1:1", AnnounceIP: "a b"})
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), `AnnounceIP "a b": lookup a b`) {
		t.Error(err)
	}
}

func nothing(context.Context, string, string) (net.Conn, error) { return nil, nil }

func refused(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("connection refused")
}

func TestSentinelsResolveTheNameOfThePrimary(t *testing.T) {
	primary := New(Config{})
	if err := primary.Start(); err != nil {
		t.Fatal(err)
	}
	defer primary.Close()
	_, port, _ := net.SplitHostPort(primary.Addr())
	s, err := StartSentinels(t.Context(), SentinelConfig{Addr: "localhost:" + port, Addrs: []string{""}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := redis.NewSentinelClient(&redis.Options{Addr: s.Addrs()[0]})
	defer c.Close()
	at, err := c.GetMasterAddrByName(t.Context(), "mymaster").Result()
	if err != nil || net.ParseIP(at[0]) == nil || at[1] != port {
		t.Errorf("the primary is at %v, %v, want an IP address and port %s", at, err, port)
	}
}

func TestTenSentinelsInOneProcessFindEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		primary := New(Config{NoSocket: true})
		if err := primary.Start(); err != nil {
			t.Fatal(err)
		}
		defer primary.Close()
		var addrs []string
		for i := range 10 {
			addrs = append(addrs, fmt.Sprintf("127.0.0.1:%d", 1000+i))
		}
		s, err := StartSentinels(t.Context(), SentinelConfig{
			Addr: "127.0.0.1:1", Addrs: addrs, NoSocket: true,
			Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return primary.Dial(ctx) },
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	})
}
