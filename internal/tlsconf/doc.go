// Package tlsconf makes a *tls.Config from the directives of TLS: certificates,
// keys, authorities for client certificates, versions, and ciphers in OpenSSL's
// spelling.
//
// It never does less than a directive asks for. What Go's TLS cannot do is an error
// that names the directive.
//
// The root package calls it at the start and after CONFIG SET. The package opens no
// socket and writes no log.
package tlsconf
