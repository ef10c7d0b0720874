package lockredistest

import (
	"crypto/tls"

	"github.com/lockredis/lockredis/internal/testcert"
)

// TLSConfig returns the configuration that a client of a server with the option TLS needs.
// It trusts the server's certificate and no other. The caller may change it. Without that
// option TLSConfig returns nil.
func (s *Server) TLSConfig() *tls.Config { return s.trust.Clone() }

// certify makes a certificate for the server.
func (s *Server) certify() error {
	authority, err := testcert.New("lockredistest")
	if err != nil {
		return err
	}
	pair, err := authority.Issue("localhost")
	if err != nil {
		return err
	}
	s.opts.cfg.TLS = &tls.Config{Certificates: []tls.Certificate{pair.TLS}}
	s.trust = &tls.Config{RootCAs: authority.Pool}
	return nil
}
