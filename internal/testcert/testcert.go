package testcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Authority signs certificates.
type Authority struct {
	PEM  []byte         // its own certificate
	Pool *x509.CertPool // the same, for a tls.Config that trusts it

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Pair is a certificate and its key, PKCS #8 in PEM.
type Pair struct {
	CertPEM, KeyPEM []byte
	TLS             tls.Certificate
}

// lifetime is how long a certificate is valid. No test takes longer.
const lifetime = 24 * time.Hour

// New makes an authority with the name as its common name. It fails only when the
// system has no random numbers.
func New(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("test certificate: %w", err)
	}
	template := describe(name)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	a := &Authority{key: key, cert: template, Pool: x509.NewCertPool()}
	if a.PEM, err = a.sign(template, key); err != nil {
		return nil, err
	}
	block, _ := pem.Decode(a.PEM)
	if a.cert, err = x509.ParseCertificate(block.Bytes); err != nil {
		return nil, fmt.Errorf("test certificate: %w", err)
	}
	a.Pool.AddCert(a.cert)
	return a, nil
}

// Issue makes a certificate with the name as its common name. A server on
// 127.0.0.1, ::1 or localhost can use it, and so can a client.
func (a *Authority) Issue(name string) (pair Pair, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair, fmt.Errorf("test certificate: %w", err)
	}
	template := describe(name)
	template.DNSNames = []string{"localhost"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	if pair.CertPEM, err = a.sign(template, key); err != nil {
		return pair, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair, fmt.Errorf("test certificate: %w", err)
	}
	pair.KeyPEM = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	pair.TLS, err = tls.X509KeyPair(pair.CertPEM, pair.KeyPEM)
	return pair, err
}

// describe returns what all certificates have in common.
func describe(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime),
	}
}

// sign returns the certificate for key in PEM.
func (a *Authority) sign(template *x509.Certificate, key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("test certificate: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
