package tlsconf

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/testcert"
)

// settings returns a configuration with these directives.
func settings(t *testing.T, directives ...string) *config.Config {
	t.Helper()
	set := config.New()
	for i := 0; i < len(directives); i += 2 {
		if err := set.Load(directives[i], directives[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

// withKey returns directives with a certificate and a key, and more directives.
func withKey(more ...string) []string {
	return append([]string{
		"tls-cert-file", "testdata/cert.pem", "tls-key-file", "testdata/plain.pem",
		"tls-auth-clients", "no",
	}, more...)
}

func TestEveryKeyFormOfOpenSSLIsRead(t *testing.T) {
	for _, name := range []string{
		"plain", "sec1", "traditional",
		"pbes2-aes256-sha256", "pbes2-aes128-sha1", "pbes2-aes192-sha512",
	} {
		directives := withKey("tls-key-file", "testdata/"+name+".pem", "tls-key-file-pass", "secret")
		if _, err := New(settings(t, directives...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFilesAreRelativeToDir(t *testing.T) {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	set := settings(t, "tls-cert-file", "cert.pem", "tls-key-file", "plain.pem",
		"tls-auth-clients", "no", "dir", dir)
	if _, err := New(set); err != nil {
		t.Error(err)
	}
}

func TestAnErrorIsOneLineThatNamesTheDirective(t *testing.T) {
	for _, c := range []struct {
		directives []string
		want       string
	}{
		{nil, "tls-cert-file is not set"},
		{[]string{"tls-cert-file", "testdata/cert.pem"}, "tls-key-file is not set"},
		{withKey("tls-auth-clients", "yes"), "tls-auth-clients needs tls-ca-cert-file"},
		{withKey("tls-auth-clients", "optional"), "tls-auth-clients needs tls-ca-cert-file"},
		{withKey("tls-cert-file", "nowhere"), "tls-cert-file: open"},
		{withKey("tls-key-file", "nowhere"), "tls-key-file: open"},
		{withKey("tls-cert-file", "testdata/plain.pem"), "failed to find"},
		{withKey("tls-ca-cert-file", "nowhere"), "tls-ca-cert-file: open"},
		{withKey("tls-ca-cert-file", "testdata/plain.pem"), "tls-ca-cert-file: no certificate in"},
		{withKey("tls-ca-cert-dir", "nowhere"), "tls-ca-cert-dir: open"},
		{withKey("tls-key-file", "testdata/traditional.pem"), "the key is encrypted: set tls-key-file-pass"},
		{withKey("tls-key-file", "testdata/pbes2-aes256-sha256.pem"), "the key is encrypted: set tls-key-file-pass"},
		{withKey("tls-key-file", "testdata/traditional.pem", "tls-key-file-pass", "guess"), "cannot be decrypted"},
		{withKey("tls-key-file", "testdata/pbes2-aes256-sha256.pem", "tls-key-file-pass", "guess"), "cannot be decrypted"},
		{withKey("tls-key-file", "testdata/pbes2-des3.pem", "tls-key-file-pass", "secret"), "in a way that is not supported"},
		{withKey("tls-protocols", "SSLv3"), "there are TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3"},
		{withKey("tls-protocols", "TLSv1.1 TLSv1.3"), "cannot be left out"},
		{withKey("tls-ciphers", "NO-SUCH-CIPHER"), "none of these ciphers is supported"},
		{withKey("tls-ciphers", "DHE-RSA-AES128-GCM-SHA256"), "none of these ciphers is supported"},
		{withKey("tls-ciphers", "DEFAULT:!SUITEB128"), "!SUITEB128 is not supported"},
		{withKey("tls-ciphers", "DEFAULT@SECLEVEL=2"), "none of these ciphers is supported"},
		{withKey("tls-ciphers", "DEFAULT:@SECLEVEL=2"), "@SECLEVEL=2 is not supported"},
		{withKey("tls-ciphersuites", "TLS_AES_128_GCM_SHA256"), "TLS_AES_256_GCM_SHA384 cannot be left out"},
	} {
		_, err := New(settings(t, c.directives...))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", c.directives, err)
		}
	}
}

func TestProtocolsSelectTheOldestAndNewestVersion(t *testing.T) {
	for words, want := range map[string][2]uint16{
		"":                    {tls.VersionTLS12, tls.VersionTLS13},
		"TLSv1.3":             {tls.VersionTLS13, tls.VersionTLS13},
		"tlsv1.2":             {tls.VersionTLS12, tls.VersionTLS12},
		"TLSv1.3 TLSv1.2":     {tls.VersionTLS12, tls.VersionTLS13},
		"TLSv1 TLSv1.1":       {tls.VersionTLS10, tls.VersionTLS11},
		"TLSv1.2 TLSv1.2 ":    {tls.VersionTLS12, tls.VersionTLS12},
		"TLSv1.1 TLSv1.2":     {tls.VersionTLS11, tls.VersionTLS12},
		"TLSv1.1\tTLSv1.2 ":   {tls.VersionTLS11, tls.VersionTLS12},
		" TLSv1.2   TLSv1.3 ": {tls.VersionTLS12, tls.VersionTLS13},
	} {
		if low, high, err := versions(words); err != nil || low != want[0] || high != want[1] {
			t.Errorf("%q: %x %x %v", words, low, high, err)
		}
	}
}

func TestCipherListsSelectAsInOpenSSL(t *testing.T) {
	for list, want := range map[string]string{
		"ECDHE-RSA-AES128-GCM-SHA256":                                "ECDHE-RSA-AES128-GCM-SHA256",
		"DHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384":      "ECDHE-RSA-AES256-GCM-SHA384",
		"ECDHE+AESGCM+AES256":                                        "ECDHE-ECDSA-AES256-GCM-SHA384 ECDHE-RSA-AES256-GCM-SHA384",
		"HIGH:!AES:!aNULL:!MD5":                                      "ECDHE-ECDSA-CHACHA20-POLY1305 ECDHE-RSA-CHACHA20-POLY1305",
		"!CHACHA20:CHACHA20:AES256-SHA:@STRENGTH":                    "AES256-SHA",
		"AES256-SHA:-kRSA:AES128-SHA":                                "AES128-SHA",
		"DEFAULT:!MEDIUM:!SHA:!AESGCM:!aECDSA":                       "ECDHE-RSA-CHACHA20-POLY1305",
		"ECDHE-ECDSA-AES128-SHA256, ECDHE-RSA-AES128-SHA256;unknown": "ECDHE-ECDSA-AES128-SHA256 ECDHE-RSA-AES128-SHA256",
	} {
		ids, err := ciphers(list)
		var names []string
		for _, id := range ids {
			for _, s := range suites {
				if s.id == id {
					names = append(names, s.name)
				}
			}
		}
		if got := strings.Join(names, " "); got != want || err != nil {
			t.Errorf("%q: %s %v", list, got, err)
		}
	}
	all := "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"
	if err := cipherSuites(all, tls.VersionTLS13); err != nil {
		t.Error(err)
	}
	if err := cipherSuites("TLS_AES_128_GCM_SHA256", tls.VersionTLS12); err != nil {
		t.Errorf("suites of a version that is not offered: %v", err)
	}
}

func TestTheNamesOfSuitesFitTheirNumbers(t *testing.T) {
	for _, s := range suites {
		goName := tls.CipherSuiteName(s.id)
		for _, part := range strings.Split(s.name, "-") {
			part = strings.NewReplacer("AES128", "AES_128", "AES256", "AES_256").Replace(part)
			if !strings.Contains(goName, part) {
				t.Errorf("%s is %s", s.name, goName)
			}
		}
	}
}

func TestOnlyHashedNamesCountInADirectoryOfAuthorities(t *testing.T) {
	dir := t.TempDir()
	var pems [2][]byte
	for i := range pems {
		a, err := testcert.New("authority")
		if err != nil {
			t.Fatal(err)
		}
		pems[i] = a.PEM
	}
	for name, text := range map[string][]byte{"0a1b2c3d.0": pems[0], "ca.crt": pems[1]} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pool, err := authorities("", dir)
	want := x509.NewCertPool()
	want.AppendCertsFromPEM(pems[0])
	if err != nil || !pool.Equal(want) {
		t.Errorf("pool %v, error %v", pool, err)
	}
}

// resumed reports whether a client's second connection resumes the session of
// the first.
func resumed(t *testing.T, version uint16, directives ...string) bool {
	t.Helper()
	conf, err := New(settings(t, withKey(directives...)...))
	if err != nil {
		t.Fatal(err)
	}
	client := &tls.Config{
		InsecureSkipVerify: true, ServerName: "x", MaxVersion: version,
		ClientSessionCache: tls.NewLRUClientSessionCache(4),
	}
	var second bool
	for range 2 {
		near, far := net.Pipe()
		done := make(chan error, 1)
		go func() {
			server := tls.Server(far, conf)
			_, err := server.Write([]byte("x"))
			done <- err
		}()
		c := tls.Client(near, client)
		// The ticket of TLS 1.3 arrives after the handshake, with the data.
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		second = c.ConnectionState().DidResume
		near.Close()
		far.Close()
	}
	return second
}

func TestSessionsAreResumedUntilTheyAreTooOld(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		if !resumed(t, version) {
			t.Errorf("%x: not resumed", version)
		}
		if resumed(t, version, "tls-session-caching", "no") {
			t.Errorf("%x: resumed with tls-session-caching no", version)
		}
	}
	old := &tls.SessionState{}
	if age(old) < 1<<60 {
		t.Error("a session without a time is not old")
	}
	old.Extra = [][]byte{{0, 0, 0, 0, 0, 0, 0, 1}}
	if age(old) < 1e9 {
		t.Error("a session of 1970 is not old")
	}
}

func TestOnlyHashedNamesOfADirectoryAreRead(t *testing.T) {
	for name, want := range map[string]bool{
		"0123abcf.0":   true,
		"deadbeef.12":  true,
		"deadbeef.":    false,
		"deadbeef":     false,
		"deadbeef.0.0": false,
		"deadbeef.r0":  false, // a list of revoked certificates
		"DEADBEEF.0":   false,
		"deadbee.0":    false,
		"0deadbeef.0":  false,
		"ca-bundle.0":  false,
		".0":           false,
		"":             false,
	} {
		if got := isHashed(name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
}
