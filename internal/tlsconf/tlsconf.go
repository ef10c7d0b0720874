package tlsconf

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockredis/lockredis/internal/config"
)

// New returns the configuration that the directives ask for. It reads the files
// each time. The error is one line that names the directive.
func New(set *config.Config) (*tls.Config, error) {
	d := &set.TLS
	if err := complete(d); err != nil {
		return nil, err
	}
	conf := &tls.Config{ClientAuth: clientAuth(d.Clients)}
	var err error
	if conf.MinVersion, conf.MaxVersion, err = versions(d.Protocols); err != nil {
		return nil, err
	}
	if conf.CipherSuites, err = ciphers(d.Ciphers); err != nil {
		return nil, err
	}
	if err := cipherSuites(d.CipherSuites, conf.MaxVersion); err != nil {
		return nil, err
	}
	pair, err := keyPair(set.Path(d.CertFile), set.Path(d.KeyFile), d.KeyPass)
	if err != nil {
		return nil, err
	}
	conf.Certificates = []tls.Certificate{pair}
	if conf.ClientCAs, err = authorities(set.Path(d.CAFile), set.Path(d.CADir)); err != nil {
		return nil, err
	}
	resumption(conf, d.Tickets, d.TicketLifetime)
	return conf, nil
}

// NewClient returns the configuration of a connection to another node. As in Redis, the node's
// certificate must be signed by an authority of tls-ca-cert-file or tls-ca-cert-dir, and may
// be for any name: Sentinels know each other by IP addresses.
func NewClient(set *config.Config) (*tls.Config, error) {
	server, err := New(set)
	if err != nil {
		return nil, err
	}
	d := &set.TLS
	if server.ClientCAs == nil {
		return nil, errors.New("tls-replication needs tls-ca-cert-file or tls-ca-cert-dir")
	}
	conf := &tls.Config{
		MinVersion: server.MinVersion, MaxVersion: server.MaxVersion,
		CipherSuites: server.CipherSuites, Certificates: server.Certificates,
		RootCAs: server.ClientCAs, InsecureSkipVerify: true, VerifyConnection: signed(server.ClientCAs),
	}
	if d.ClientCertFile != "" {
		pair, err := keyPair(set.Path(d.ClientCertFile), set.Path(d.ClientKeyFile), d.ClientKeyPass)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	return conf, nil
}

// signed returns a check of the other node's certificate, without its name.
func signed(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		chain := state.PeerCertificates
		between := x509.NewCertPool()
		for _, cert := range chain[1:] {
			between.AddCert(cert)
		}
		_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
		return err
	}
}

// complete returns an error when a directive is missing that TLS needs.
func complete(d *config.TLS) error {
	switch {
	case d.CertFile == "":
		return errors.New("tls-cert-file is not set")
	case d.KeyFile == "":
		return errors.New("tls-key-file is not set")
	case d.Clients != config.ClientAuthNo && d.CAFile == "" && d.CADir == "":
		return errors.New("tls-auth-clients needs tls-ca-cert-file or tls-ca-cert-dir; " +
			"without certificates of clients use 'tls-auth-clients no'")
	}
	return nil
}

func clientAuth(directive config.ClientAuth) tls.ClientAuthType {
	switch directive {
	case config.ClientAuthNo:
		return tls.NoClientCert
	case config.ClientAuthOptional:
		return tls.VerifyClientCertIfGiven
	}
	return tls.RequireAndVerifyClientCert
}

// protocols are the words of tls-protocols, oldest first.
var protocols = [...]struct {
	name    string
	version uint16
}{
	{"TLSv1", tls.VersionTLS10}, {"TLSv1.1", tls.VersionTLS11},
	{"TLSv1.2", tls.VersionTLS12}, {"TLSv1.3", tls.VersionTLS13},
}

// versions returns the oldest and the newest version of tls-protocols. Empty words
// mean TLSv1.2 and TLSv1.3, as in Redis.
func versions(words string) (low, high uint16, err error) {
	asked := strings.Fields(words)
	if len(asked) == 0 {
		return tls.VersionTLS12, tls.VersionTLS13, nil
	}
	known := map[string]bool{}
	for _, word := range asked {
		known[strings.ToLower(word)] = true
	}
	found, gap := 0, false
	for _, p := range protocols {
		if !known[strings.ToLower(p.name)] {
			continue
		}
		if found == 0 {
			low = p.version
		}
		gap = gap || found > 0 && p.version != high+1
		high = p.version
		found++
	}
	switch {
	case found < len(known):
		return 0, 0, fmt.Errorf("tls-protocols %q: there are TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3", words)
	case gap:
		return 0, 0, fmt.Errorf("tls-protocols %q: versions between the oldest and the newest "+
			"cannot be left out", words)
	}
	return low, high, nil
}

// keyPair reads the server's certificate chain and its key.
func keyPair(certFile, keyFile, pass string) (pair tls.Certificate, err error) {
	certPEM, err := os.ReadFile(certFile)
	if err != nil {
		return pair, fmt.Errorf("tls-cert-file: %w", err)
	}
	keyPEM, err := os.ReadFile(keyFile)
	if err == nil {
		keyPEM, err = decrypted(keyPEM, pass)
	}
	if err != nil {
		return pair, fmt.Errorf("tls-key-file: %w", err)
	}
	if pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		return pair, fmt.Errorf("tls-cert-file %s, tls-key-file %s: %w", certFile, keyFile, err)
	}
	return pair, nil
}

// isHashed reports whether name is a name by which OpenSSL finds certificates in a directory:
// eight hexadecimal digits, a dot and a number.
func isHashed(name string) bool {
	hash, number, _ := strings.Cut(name, ".")
	return len(hash) == 8 && strings.Trim(hash, "0123456789abcdef") == "" &&
		number != "" && strings.Trim(number, "0123456789") == ""
}

// authorities reads the certificates that client certificates are checked against.
// In a directory it reads only files with hashed names, as openssl rehash makes
// them. Nil means that neither a file nor a directory is given.
func authorities(file, dir string) (*x509.CertPool, error) {
	if file == "" && dir == "" {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("tls-ca-cert-file: %w", err)
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("tls-ca-cert-file: no certificate in %s", file)
		}
	}
	if dir == "" {
		return pool, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("tls-ca-cert-dir: %w", err)
	}
	for _, e := range entries {
		if !isHashed(e.Name()) {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
			pool.AppendCertsFromPEM(text)
		}
	}
	return pool, nil
}
