package topology

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A cluster's nodes keep a connection to each other's bus port. Here the bus
// port that a node announces is a listener of ours, which passes the connection
// on: so a node can be cut off from the others while clients still reach it.
// Who calls is read from the first message's header, who is called is known by
// the listener; what comes back on a connection are answers to its caller.
type buses struct {
	conns sync.WaitGroup

	mu     sync.Mutex        // guards the fields below
	ids    map[string]string // a node's id by its own bus port
	cut    map[string]bool   // ids
	links  map[*link]bool
	closed bool
}

// link is one connection that is passed on.
type link struct {
	from, to string // ids
	ends     [2]net.Conn
}

// Where a bus message names its sender, in bytes, and how long ids are.
const (
	senderAt = 40
	idLength = 40
)

func newBuses(tb testing.TB) *buses {
	b := &buses{ids: map[string]string{}, cut: map[string]bool{}, links: map[*link]bool{}}
	tb.Cleanup(b.close)
	return b
}

// listen opens a bus port for the node whose own bus port is inner, and returns it.
func (b *buses) listen(tb testing.TB, inner string) string {
	tb.Helper()
	outer := freePort(tb)
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", outer))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { ln.Close() })
	b.conns.Go(func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			b.conns.Go(func() { b.pass(nc, inner) })
		}
	})
	return outer
}

// name tells which node has the bus port.
func (b *buses) name(inner, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids[inner] = id
}

// pass carries one connection until either end closes it or the bus is cut.
func (b *buses) pass(caller net.Conn, inner string) {
	defer caller.Close()
	called, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", inner))
	if err != nil {
		return
	}
	defer called.Close()
	l := &link{ends: [2]net.Conn{caller, called}}
	if !b.add(l, inner) {
		return
	}
	defer b.remove(l)
	head := make([]byte, senderAt+idLength)
	if _, err := io.ReadFull(caller, head); err != nil || !b.identify(l, string(head[senderAt:])) {
		return
	}
	if _, err := called.Write(head); err != nil {
		return
	}
	b.conns.Go(func() {
		io.Copy(caller, called)
		caller.Close()
	})
	io.Copy(called, caller)
}

func (b *buses) add(l *link, inner string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	l.to = b.ids[inner]
	if b.closed || b.cut[l.to] {
		return false
	}
	b.links[l] = true
	return true
}

func (b *buses) identify(l *link, from string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	l.from = from
	return !b.cut[from]
}

func (b *buses) remove(l *link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.links, l)
}

// separate cuts a node off from the others, or joins it to them again.
func (b *buses) separate(id string, cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut[id] = cut
	for l := range b.links {
		if cut && (l.from == id || l.to == id) {
			l.hangUp()
		}
	}
}

func (l *link) hangUp() {
	for _, end := range l.ends {
		end.Close()
	}
}

// close runs when the listeners are closed already: cleanups go backwards.
func (b *buses) close() {
	b.mu.Lock()
	b.closed = true
	for l := range b.links {
		l.hangUp()
	}
	b.mu.Unlock()
	b.conns.Wait()
}
