package lockredis_test

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/testcert"
)

// announced returns the addresses that a client finds: in CLUSTER NODES, without the port
// for other nodes, and as host:port in CLUSTER SLOTS.
func announced(t *testing.T, c *wire.Conn) (nodes, slots string) {
	t.Helper()
	v, err := c.Do("CLUSTER", "NODES")
	if err != nil || v.IsError() {
		t.Fatalf("CLUSTER NODES: %s %v", v, err)
	}
	nodes, _, _ = strings.Cut(strings.Fields(string(v.Str))[1], "@")
	if v, err = c.Do("CLUSTER", "SLOTS"); err != nil || v.IsError() {
		t.Fatalf("CLUSTER SLOTS: %s %v", v, err)
	}
	node := v.Elems[0].Elems[2].Elems
	return nodes, string(node[0].Str) + ":" + string(node[1].Str)
}

// newNode starts a cluster node. Directives are names and values.
func newNode(t *testing.T, cfg lockredis.Config, directives ...string) *lockredis.Server {
	t.Helper()
	cfg.Directives = map[string]string{"cluster-enabled": "yes"}
	for i := 0; i < len(directives); i += 2 {
		cfg.Directives[directives[i]] = directives[i+1]
	}
	return start(t, cfg)
}

func portOf(t *testing.T, addr string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestANodeHasTheAddressThatItsClientConnectedTo(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	srv := newNode(t, lockredis.Config{}, "unixsocket", socket)
	port := portOf(t, srv.Addr())
	for addr, want := range map[string]string{srv.Addr(): "127.0.0.1:" + port, socket: ":" + port} {
		c, err := wire.Dial(addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if nodes, slots := announced(t, c); nodes != want || slots != ":"+port {
			t.Errorf("CLUSTER NODES has %s, want %s; CLUSTER SLOTS has %s", nodes, want, slots)
		}
	}
	c := dial(t, srv)
	expect(t, c, "CONFIG SET cluster-announce-ip 10.0.0.1 cluster-announce-port 7000", "+OK\r\n")
	if nodes, slots := announced(t, c); nodes != "10.0.0.1:7000" || slots != nodes {
		t.Errorf("announced: CLUSTER NODES has %s, CLUSTER SLOTS has %s", nodes, slots)
	}
}

func TestAClientWithTLSFindsThePortWithTLS(t *testing.T) {
	authority, err := testcert.New("authority")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue("localhost")
	if err != nil {
		t.Fatal(err)
	}
	cert, key := filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key")
	both := []string{"tls-cluster", "yes", "tls-port", "auto", "tls-auth-clients", "no",
		"tls-cert-file", cert, "tls-key-file", key}
	for path, text := range map[string][]byte{cert: pair.CertPEM, key: pair.KeyPEM} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := &tls.Config{Certificates: []tls.Certificate{pair.TLS}}
	for name, srv := range map[string]*lockredis.Server{
		"TLS only": newNode(t, lockredis.Config{TLS: own}),
		"both":     newNode(t, lockredis.Config{}, both...),
	} {
		trust := &tls.Config{RootCAs: authority.Pool, ServerName: "localhost"}
		nc, err := tls.Dial("tcp", srv.TLSAddr(), trust)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		want := portOf(t, srv.TLSAddr())
		nodes, slots := announced(t, wire.NewConn(nc))
		if nodes != "127.0.0.1:"+want || slots != ":"+want {
			t.Errorf("%s: CLUSTER NODES has %s, CLUSTER SLOTS has %s, want %s", name, nodes, slots, want)
		}
		if got := ask(t, wire.NewConn(nc), "CONFIG", "GET", "tls-port"); got != "tls-port\n"+want {
			t.Errorf("%s: CONFIG GET replies %q, want %s", name, got, want)
		}
		if name == "TLS only" {
			continue
		}
		want = portOf(t, srv.Addr())
		if nodes, slots := announced(t, dial(t, srv)); nodes != "127.0.0.1:"+want || slots != ":"+want {
			t.Errorf("%s, without TLS: CLUSTER NODES has %s, CLUSTER SLOTS has %s, want %s",
				name, nodes, slots, want)
		}
	}
}
