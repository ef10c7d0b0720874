package topology

import (
	"io"
	"net"
	"sync"
	"testing"
)

// buses passes on the connections between the nodes of a cluster. Every node connects
// to the bus ports of the other nodes. Here the announced bus port of a node is a
// listener in the test's process. So buses can cut a node off from the other nodes while
// clients still reach it. The header of a connection's first message has the id of the
// node that connects. The listener belongs to the node that is called. Bytes in the other
// direction are replies.
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
	from, to string // node ids
	ends     [2]net.Conn
}

// The position of the sender's id in a bus message, and its length, in bytes.
const (
	senderAt = 40
	idLength = 40
)

func newBuses(tb testing.TB) *buses {
	b := &buses{ids: map[string]string{}, cut: map[string]bool{}, links: map[*link]bool{}}
	tb.Cleanup(b.close)
	return b
}

// listen opens a bus port for the node with the bus port inner, and returns it.
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

// name sets the id of the node with the given bus port.
func (b *buses) name(inner, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids[inner] = id
}

// pass forwards one connection until either end closes it or the bus is cut.
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

// separate cuts a node off from the other nodes, or connects it again.
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

// close runs after the listeners are closed: cleanups run in reverse order.
func (b *buses) close() {
	b.mu.Lock()
	b.closed = true
	for l := range b.links {
		l.hangUp()
	}
	b.mu.Unlock()
	b.conns.Wait()
}
