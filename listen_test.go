package lockredis

import (
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// fakeListener has an address and counts how many of its kind are open.
type fakeListener struct {
	net.TCPAddr
	open *int
}

func (l *fakeListener) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (l *fakeListener) Addr() net.Addr            { return &l.TCPAddr }
func (l *fakeListener) Close() error {
	*l.open--
	return nil
}

// taken returns a listener for a machine on which the first free ports of the IPv4 loopback
// address are in use on the IPv6 loopback address, and the number of open listeners.
func taken(ports int) (listen listener, open *int) {
	next := 5000
	open = new(int)
	return func(host string, port int) (net.Listener, error) {
		if host == "::1" && port < 5000+ports {
			return nil, &net.OpError{Op: "listen", Err: syscall.EADDRINUSE}
		}
		if port == 0 {
			port = next
			next++
		}
		*open++
		return &fakeListener{net.TCPAddr{Port: port}, open}, nil
	}, open
}

func TestAnAutomaticPortIsFreeOnEveryAddress(t *testing.T) {
	listen, open := taken(3)
	listeners, err := listen.onBind([]string{"127.0.0.1", "-::1"}, 0, true)
	var ports []int
	for _, ln := range listeners {
		ports = append(ports, ln.Addr().(*net.TCPAddr).Port)
	}
	if err != nil || !slices.Equal(ports, []int{5003, 5003}) || *open != 2 {
		t.Errorf("ports %v, %d open: %v", ports, *open, err)
	}
}

func TestTheSearchForAFreePortEnds(t *testing.T) {
	listen, open := taken(1 << 20)
	listeners, err := listen.onBind([]string{"127.0.0.1", "-::1"}, 0, true)
	if !errors.Is(err, syscall.EADDRINUSE) || len(listeners) != 0 || *open != 0 {
		t.Errorf("%v, %d open: %v", listeners, *open, err)
	}
	listen, open = taken(1)
	_, err = listen.onBind([]string{"127.0.0.1", "::1"}, 5000, false)
	if !errors.Is(err, syscall.EADDRINUSE) || *open != 1 {
		t.Errorf("a given port, %d open: %v", *open, err)
	}
}

func TestTLSOfAClusterNeedsACertificate(t *testing.T) {
	for _, name := range []string{"tls-cluster", "tls-replication"} {
		s := New(Config{Addr: "127.0.0.1:0", Directives: map[string]string{name: "yes"}})
		err := s.Start()
		_ = s.Close() // after a failed Start it does nothing
		if err == nil || !strings.Contains(err.Error(), "tls-cert-file") {
			t.Errorf("%s: Start returned %v", name, err)
		}
	}
}
