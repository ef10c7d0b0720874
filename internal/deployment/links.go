package deployment

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// Sentinels is the index of all Sentinels in Links.
const Sentinels = -1

// Links are the connections between the nodes of a deployment: from replicas to primaries, and from
// Sentinels to both. Those of clients are not among them. The zero Links have no nodes.
type Links struct {
	mu   sync.Mutex
	ends map[string]end // by the address that the node announces
	cut  map[[2]int]bool
	open map[*link]struct{}
}

// end is a node that can be connected to.
type end struct {
	index int
	dial  func(ctx context.Context) (net.Conn, error) // nil: TCP
}

// link is a connection between two nodes.
type link struct {
	net.Conn
	links *Links
	pair  [2]int
}

// Close closes the connection.
func (l *link) Close() error {
	l.links.mu.Lock()
	delete(l.links.open, l)
	l.links.mu.Unlock()
	return l.Conn.Close()
}

// Add says which node announces an address, and how it is connected to; nil: by TCP.
func (l *Links) Add(index int, addr string, dial func(ctx context.Context) (net.Conn, error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ends == nil {
		l.ends, l.cut, l.open = map[string]end{}, map[[2]int]bool{}, map[*link]struct{}{}
	}
	l.ends[addr] = end{index, dial}
}

// Dialer returns how the node with an index connects to others: lockredis.Config.Dial. An address that
// no node announces is connected to by TCP.
func (l *Links) Dialer(from int) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		l.mu.Lock()
		to, known := l.ends[addr]
		cut := known && l.cut[pairOf(from, to.index)]
		l.mu.Unlock()
		if cut {
			return nil, unreachable(network)
		}
		var nc net.Conn
		var err error
		if to.dial != nil {
			nc, err = to.dial(ctx)
		} else {
			nc, err = new(net.Dialer).DialContext(ctx, network, addr)
		}
		if err != nil || !known {
			return nc, err
		}
		c := &link{nc, l, pairOf(from, to.index)}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.cut[c.pair] {
			nc.Close()
			return nil, unreachable(network)
		}
		l.open[c] = struct{}{}
		return c, nil
	}
}

func unreachable(network string) error {
	return &net.OpError{Op: "dial", Net: network, Err: syscall.EHOSTUNREACH}
}

// pairOf returns the key of two nodes, in either order.
func pairOf(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

// Cut breaks the connections between two nodes, and refuses new ones until Heal.
func (l *Links) Cut(a, b int) {
	l.mu.Lock()
	l.cut[pairOf(a, b)] = true
	var broken []*link
	for c := range l.open {
		if c.pair == pairOf(a, b) {
			broken = append(broken, c)
		}
	}
	l.mu.Unlock()
	for _, c := range broken {
		c.Close()
	}
}

// Heal ends Cut of two nodes.
func (l *Links) Heal(a, b int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.cut, pairOf(a, b))
}

// IsCut reports whether two nodes cannot connect to each other.
func (l *Links) IsCut(a, b int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut[pairOf(a, b)]
}
