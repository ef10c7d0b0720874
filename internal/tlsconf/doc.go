// Package tlsconf turns the directives of TLS into a *tls.Config: certificates,
// keys, who may sign those of clients, versions and ciphers in OpenSSL's
// spelling.
//
// It listens on nothing and logs nothing, and never does less than a directive
// asks for: what Go's TLS cannot do is an error that names the directive. The
// root package calls it at the start and after CONFIG SET.
package tlsconf
