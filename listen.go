package lockredis

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/lockredis/lockredis/internal/server"
	"github.com/lockredis/lockredis/internal/tlsconf"
)

// listen opens the sockets that the directives name. With an error it also returns the
// listeners that it has opened, for the caller to close.
func (s *Server) listen() (listeners []net.Listener, err error) {
	if s.set.Port != 0 || s.set.PortAuto {
		listeners, err = listener(listenTCP).onBind(s.set.Bind, s.set.Port, s.set.PortAuto)
		if err != nil {
			return listeners, err
		}
	}
	if (s.set.TLS.Links || s.set.Cluster.TLS) && !s.set.Sentinel && !s.set.TLS.Enabled() {
		if _, err := tlsconf.New(s.set); err != nil { // as in Redis, although a server has no such links
			return listeners, fmt.Errorf("TLS: %w", err)
		}
	}
	if s.set.TLS.Enabled() {
		secure, err := s.listenTLS()
		listeners = append(listeners, secure...)
		if err != nil {
			return listeners, err
		}
	}
	if s.set.UnixSocket != "" {
		ln, err := s.listenUnix()
		if err != nil {
			return listeners, err
		}
		listeners = append(listeners, ln)
	}
	if len(listeners) == 0 && !s.cfg.NoSocket {
		return nil, errors.New("configured to not listen anywhere")
	}
	return listeners, nil
}

// autoTries is how many free ports of the first address are tried when the port is in use
// on another address.
const autoTries = 20

// listener opens a TCP port; port 0 is any free one. It is listenTCP except in tests.
type listener func(host string, port int) (net.Listener, error)

// onBind opens a port on every address of the directive bind. With auto it takes a free port
// of the first address and opens the same port on the others. If that port is in use on
// another address, it tries again with another free port.
func (listen listener) onBind(
	binds []string, port int, auto bool,
) (listeners []net.Listener, err error) {
	if !auto {
		return listen.onAll(binds, port)
	}
	for range autoTries {
		listeners, err = listen.onAll(binds, 0)
		if err == nil || len(listeners) == 0 {
			break
		}
		for _, ln := range listeners {
			ln.Close()
		}
		listeners = nil
	}
	return listeners, err
}

// onAll opens a port on every address. An address with a leading minus may be missing on this
// machine.
func (listen listener) onAll(binds []string, port int) (listeners []net.Listener, err error) {
	for _, bind := range binds {
		host, optional := strings.CutPrefix(bind, "-")
		ln, err := listen(host, port)
		switch {
		case err == nil:
			listeners = append(listeners, ln)
			port = ln.Addr().(*net.TCPAddr).Port
		case !optional || !unavailable(err):
			return listeners, err
		}
	}
	if len(listeners) == 0 && len(binds) > 0 {
		return listeners, fmt.Errorf("could not listen on any of the addresses %s",
			strings.Join(binds, " "))
	}
	return listeners, nil
}

// listenTLS opens the directive tls-port on every address.
func (s *Server) listenTLS() ([]net.Listener, error) {
	if s.cfg.TLS == nil {
		conf, err := tlsconf.New(s.set)
		if err != nil {
			return nil, fmt.Errorf("TLS: %w", err)
		}
		s.tls.Store(conf)
	}
	listeners, err := listener(listenTCP).onBind(s.set.Bind, s.set.TLS.Port, s.set.TLS.PortAuto)
	for i, ln := range listeners {
		listeners[i] = s.secure(ln)
	}
	return listeners, err
}

// secure returns ln with TLS on its connections. s.mu is held.
func (s *Server) secure(ln net.Listener) net.Listener {
	if s.tlsAddr == "" {
		s.tlsAddr = ln.Addr().String()
	}
	return server.ListenTLS(ln, s.tls.Load)
}

// errTLS is Redis's answer to a CONFIG SET that leaves no working TLS.
//
//lint:ignore ST1005 the text is protocol
var errTLS = errors.New("Unable to update TLS configuration. Check server logs.")

// reloadTLS reads the certificates again after a CONFIG SET, for new connections. While
// nothing uses TLS it checks nothing, as in Redis.
func (s *Server) reloadTLS() error {
	var conf *tls.Config
	err := errors.New("the program gave its own *tls.Config")
	switch {
	case !s.set.TLS.Enabled() && !s.set.TLS.Links && !s.set.Cluster.TLS:
		return nil
	case s.cfg.TLS == nil:
		conf, err = tlsconf.New(s.set)
	}
	if err != nil {
		s.cfg.Logger.Warn("cannot change the TLS configuration, keeping the old one", "error", err)
		return errTLS
	}
	s.tls.Store(conf)
	return nil
}

// unavailable reports whether err says that this machine does not have the address.
func unavailable(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)
}

// listenTCP opens a port on a host as redis.conf writes it: * means all IPv4 addresses, ::*
// all IPv6 addresses.
func listenTCP(host string, port int) (net.Listener, error) {
	network := "tcp"
	switch {
	case host == "*":
		network, host = "tcp4", ""
	case host == "::*":
		network, host = "tcp6", ""
	case strings.Contains(host, ":"):
		network = "tcp6"
	}
	return net.Listen(network, net.JoinHostPort(host, strconv.Itoa(port)))
}

// listenUnix opens the directive unixsocket. It replaces a file that is there already, such
// as the socket of a server that crashed, as Redis does.
func (s *Server) listenUnix() (net.Listener, error) {
	path := s.set.Path(s.set.UnixSocket)
	os.Remove(path)
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	s.files = append(s.files, path)
	if perm := s.set.UnixSocketPerm; perm != 0 {
		if err := os.Chmod(path, perm); err != nil {
			ln.Close()
			return nil, err
		}
	}
	return ln, nil
}

// removeFiles removes the socket files that listenUnix made.
func (s *Server) removeFiles() {
	for _, path := range s.files {
		os.Remove(path)
	}
}
