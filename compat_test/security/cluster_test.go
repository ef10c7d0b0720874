package security

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// announced returns the ports that a client finds in CLUSTER NODES, CLUSTER SLOTS and
// CLUSTER SHARDS. The server's own two ports are "plain" and "tls".
func announced(t *testing.T, c *wire.Conn, plain, secure string) string {
	t.Helper()
	do := func(args ...string) wire.Value {
		v, err := c.Do(args...)
		if err != nil || v.IsError() {
			t.Fatalf("%v: %s %v", args, v, err)
		}
		return v
	}
	nodes, _, _ := strings.Cut(strings.Fields(string(do("CLUSTER", "NODES").Str))[1], "@")
	slots := string(do("CLUSTER", "SLOTS").Elems[0].Elems[2].Elems[1].Str)
	found := fmt.Sprintf("nodes %s slots %s shards", strings.TrimPrefix(nodes, "127.0.0.1:"), slots)
	fields := do("CLUSTER", "SHARDS").Elems[0].Elems[3].Elems[0].Elems
	for i := 0; i < len(fields); i += 2 {
		if name := string(fields[i].Str); strings.HasSuffix(name, "port") {
			found += " " + name + " " + string(fields[i+1].Str)
		}
	}
	return strings.NewReplacer(portOf(plain), "plain", portOf(secure), "tls").Replace(found)
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

func TestANodeAnnouncesThePortForTheClientThatAsks(t *testing.T) {
	for _, test := range []struct{ tlsCluster, settings, plain, secure string }{
		{"yes", "", "nodes plain slots plain shards port plain tls-port tls",
			"nodes tls slots tls shards port plain tls-port tls"},
		{"yes", "cluster-announce-port 7000 cluster-announce-tls-port 7001",
			"nodes 7000 slots 7000 shards port 7000 tls-port 7001",
			"nodes 7001 slots 7001 shards port 7000 tls-port 7001"},
		{"yes", "cluster-announce-tls-port 7001",
			"nodes 7001 slots 7001 shards tls-port 7001", "nodes 7001 slots 7001 shards tls-port 7001"},
		{"yes", "cluster-announce-port 7000",
			"nodes plain slots plain shards port plain tls-port 7000",
			"nodes 7000 slots 7000 shards port plain tls-port 7000"},
		{"no", "",
			"nodes plain slots plain shards port plain", "nodes plain slots plain shards port plain"},
		{"no", "cluster-announce-port 7000 cluster-announce-tls-port 7001",
			"nodes 7000 slots 7000 shards port 7000", "nodes 7000 slots 7000 shards port 7000"},
	} {
		t.Run(test.tlsCluster+" "+test.settings, func(t *testing.T) {
			args := []string{"--cluster-enabled", "yes", "--tls-cluster", test.tlsCluster,
				"--cluster-port", freePort(t), "--cluster-announce-ip", "127.0.0.1"}
			withTLS(t, args, func(t *testing.T, k *keys, plain, secure string) {
				c := redistest.Dial(t, plain)
				ask(t, c, "CLUSTER ADDSLOTS 0") // redis-server owns no slot before
				if test.settings != "" {
					if got := ask(t, c, "CONFIG SET "+test.settings); got != "+OK\r\n" {
						t.Fatal(got)
					}
				}
				if got := announced(t, c, plain, secure); got != test.plain {
					t.Errorf("without TLS: %s, want %s", got, test.plain)
				}
				if got := announced(t, mustDialTLS(t, k, secure), plain, secure); got != test.secure {
					t.Errorf("with TLS: %s, want %s", got, test.secure)
				}
			})
		})
	}
}
