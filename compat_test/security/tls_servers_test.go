package security

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/testcert"
)

// keys are certificates of one authority, as files and in memory, and one certificate of
// another authority.
type keys struct {
	dir              string
	authority        *testcert.Authority
	client, stranger testcert.Pair
}

func newKeys(t *testing.T) *keys {
	t.Helper()
	k := &keys{dir: t.TempDir()}
	k.authority = newAuthority(t)
	other := newAuthority(t)
	k.client = issue(t, k.authority, "client")
	k.stranger = issue(t, other, "stranger")
	k.write(t, "ca", testcert.Pair{CertPEM: k.authority.PEM})
	k.write(t, "other-ca", testcert.Pair{CertPEM: other.PEM})
	k.write(t, "server", issue(t, k.authority, "server"))
	k.write(t, "client", k.client)
	k.write(t, "stranger", k.stranger)
	return k
}

func newAuthority(t *testing.T) *testcert.Authority {
	t.Helper()
	a, err := testcert.New("authority")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t *testing.T, a *testcert.Authority, name string) testcert.Pair {
	t.Helper()
	pair, err := a.Issue(name)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// write puts a pair into name.crt and name.key.
func (k *keys) write(t *testing.T, name string, pair testcert.Pair) {
	t.Helper()
	for ext, text := range map[string][]byte{".crt": pair.CertPEM, ".key": pair.KeyPEM} {
		if err := os.WriteFile(k.file(name+ext), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (k *keys) file(name string) string { return filepath.Join(k.dir, name) }

// args returns a server's arguments with a TLS port.
func (k *keys) args(port string, more ...string) []string {
	return append([]string{"--tls-port", port, "--tls-cert-file", k.file("server.crt"),
		"--tls-key-file", k.file("server.key"), "--tls-ca-cert-file", k.file("ca.crt")}, more...)
}

// config returns a client's configuration. The client shows the given certificates and
// trusts the authority.
func (k *keys) config(shown ...testcert.Pair) *tls.Config {
	c := &tls.Config{RootCAs: k.authority.Pool, ServerName: "localhost"}
	for _, pair := range shown {
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &pair.TLS, nil
		}
	}
	return c
}

// withTLS is onBoth with a TLS port.
func withTLS(t *testing.T, more []string, body func(t *testing.T, k *keys, plain, secure string)) {
	t.Helper()
	k, port := newKeys(t), freePort(t)
	onBoth(t, k.args(port, more...), func(t *testing.T, addr string) {
		body(t, k, addr, net.JoinHostPort("127.0.0.1", port))
	})
}

// dialTLS opens a connection for the length of the test. With TLS 1.3 the first command,
// not the handshake, reports that the server refused the client's certificate.
func dialTLS(t *testing.T, addr string, conf *tls.Config) (*wire.Conn, error) {
	t.Helper()
	nc, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", addr, conf)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { nc.Close() })
	return wire.NewConn(nc), nil
}

// pings returns nil if a client with that configuration gets an answer to PING.
func pings(t *testing.T, addr string, conf *tls.Config) error {
	t.Helper()
	c, err := dialTLS(t, addr, conf)
	if err == nil {
		_, err = c.Do("PING")
	}
	return err
}

// mustDialTLS connects with the client's certificate.
func mustDialTLS(t *testing.T, k *keys, addr string) *wire.Conn {
	t.Helper()
	c, err := dialTLS(t, addr, k.config(k.client))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
