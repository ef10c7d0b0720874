package lockredis

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/testcert"
)

// dialSecure returns a client of a node that speaks TLS only, with a certificate of its authority.
func dialSecure(t *testing.T, authority *testcert.Authority, srv *Server) *wire.Conn {
	t.Helper()
	pair, err := authority.Issue("client")
	if err != nil {
		t.Fatal(err)
	}
	nc, err := tls.Dial("tcp", srv.TLSAddr(), &tls.Config{
		RootCAs: authority.Pool, ServerName: "localhost", Certificates: []tls.Certificate{pair.TLS},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return wire.NewConn(nc)
}

// With tls-replication the links of replicas, and those that FAILOVER makes, speak TLS. A replica names its
// port with TLS.
func TestReplicasFollowWithTLS(t *testing.T) {
	authority, err := testcert.New("authority")
	if err != nil {
		t.Fatal(err)
	}
	do := func(c *wire.Conn, words ...string) wire.Value {
		t.Helper()
		v, err := c.Do(words...)
		if err != nil || v.IsError() {
			t.Fatalf("%v: %s %v", words, v, err)
		}
		return v
	}
	info := func(c *wire.Conn) map[string]string {
		return redistest.InfoFields(string(do(c, "INFO", "replication").Str))
	}
	await := func(what string, done func() bool) {
		t.Helper()
		if !redistest.Poll(time.Minute, done) {
			t.Fatalf("%s does not come", what)
		}
	}
	primary := startNode(t, secureNode(t, authority)...)
	host, port, _ := net.SplitHostPort(primary.TLSAddr())
	args := append(secureNode(t, authority), "--tls-replication", "yes", "--replicaof", host+" "+port)
	replica := startNode(t, args...)
	p, r := dialSecure(t, authority, primary), dialSecure(t, authority, replica)
	do(p, "CONFIG", "SET", "tls-replication", "yes")
	await("the link", func() bool { return info(r)["master_link_status"] == "up" })
	do(p, "SET", "k", "v")
	if v := do(p, "WAIT", "1", "0"); v.String() != ":1" {
		t.Errorf("WAIT returns %s", v)
	}
	if v := do(r, "GET", "k"); string(v.Str) != "v" {
		t.Errorf("the replica has %s", v)
	}
	_, secure, _ := net.SplitHostPort(replica.TLSAddr())
	if got := info(p)["slave0"]; !strings.Contains(got, "port="+secure+",") {
		t.Errorf("the primary shows %s, the replica's port is %s", got, secure)
	}
	do(p, "FAILOVER")
	await("the end of the failover", func() bool {
		return info(p)["master_link_status"] == "up" && info(r)["role"] == "master"
	})
	do(r, "SET", "k", "w")
	do(r, "WAIT", "1", "0")
	if v := do(p, "GET", "k"); string(v.Str) != "w" {
		t.Errorf("the old primary has %s", v)
	}

	stranger, err := testcert.New("another authority")
	if err != nil {
		t.Fatal(err)
	}
	args = append(secureNode(t, stranger), "--tls-replication", "yes", "--replicaof", host+" "+port)
	other := dialSecure(t, stranger, startNode(t, args...))
	await("an attempt that failed", func() bool {
		return string(do(other, "ROLE").Elems[3].Str) == "connect"
	})
	if v := do(other, "DBSIZE"); v.String() != ":0" {
		t.Errorf("a replica that trusts another authority has %s keys", v)
	}
}
