package tcpproxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// link is a client's connection together with the proxy's connection to the server.
type link struct {
	proxy  *proxy
	id     int
	client *net.TCPConn

	// chances decide about commands and about the server's bytes. Each is used by one
	// goroutine and made at its first use.
	commandChance, messageChance *rand.Rand

	requests, replies *queue

	dead chan struct{} // closed with the connections
	once sync.Once

	mu       sync.Mutex // guards the fields below
	server   *net.TCPConn
	after    Fault // of the next reply
	pubsub   bool
	vanished Kind          // Vanish, VanishReply, or None
	answered chan struct{} // Fault.Answered of the last request that was delivered, or nil
}

// connect sets the server's end. It reports false when the link has ended.
func (l *link) connect(server *net.TCPConn) bool {
	l.mu.Lock()
	l.server = server
	l.mu.Unlock()
	select {
	case <-l.dead:
		server.Close()
		return false
	default:
		return true
	}
}

// readRequests passes the client's commands on until the client ends its side. The
// queue delivers its content after that too.
func (l *link) readRequests() {
	r := bufio.NewReader(l.client)
	for {
		raw, args, err := readCommand(r)
		if err != nil {
			l.requests.add(chunk{end: true})
			return
		}
		fault := l.proxy.n.decide(l, Command{l.proxy.addr, l.id, args})
		l.mu.Lock()
		if strings.HasSuffix(strings.ToLower(args[0]), "subscribe") {
			l.pubsub = true
		}
		switch fault.Kind {
		case HoldReply, LoseReply, ResetReply, VanishReply:
			l.after = fault
		}
		l.mu.Unlock()
		c := chunk{data: raw}
		switch fault.Kind {
		case HoldRequest:
			c.due, c.answered = time.Now().Add(fault.For), fault.Answered
		case Vanish:
			l.vanish(Vanish)
		case Reset:
			l.reset()
			return
		}
		l.requests.add(c)
	}
}

// readReplies passes the server's bytes on until the server ends its side.
func (l *link) readReplies() {
	buf := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buf)
		l.answer()
		if err != nil {
			l.replies.add(chunk{end: true})
			return
		}
		c := chunk{data: bytes.Clone(buf[:n])}
		l.mu.Lock()
		fault, pubsub := l.after, l.pubsub
		l.after = Fault{}
		l.mu.Unlock()
		if pubsub && fault.Kind == None {
			fault = l.proxy.n.decideMessage(l)
		}
		switch fault.Kind {
		case HoldReply:
			c.due = time.Now().Add(fault.For)
		case LoseReply:
			l.replies.add(chunk{end: true})
			l.drain(buf)
			return
		case ResetReply, Reset:
			l.reset()
			return
		case VanishReply, Vanish:
			l.vanish(fault.Kind)
		}
		l.replies.add(c)
	}
}

// answer closes Fault.Answered of the request that the server has answered.
func (l *link) answer() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.answered != nil {
		close(l.answered)
		l.answered = nil
	}
}

// drain reads and drops the server's bytes, so that the server never blocks.
func (l *link) drain(buf []byte) {
	for {
		if _, err := l.server.Read(buf); err != nil {
			return
		}
	}
}

// vanish stops delivery. VanishReply stops the replies only, so that requests that are
// on their way arrive.
func (l *link) vanish(k Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.vanished != Vanish {
		l.vanished = k
	}
}

// silent reports whether no bytes of the queue are delivered any more.
func (l *link) silent(q *queue) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.vanished == Vanish || l.vanished == VanishReply && q == l.replies
}

// reset ends both connections with RST. Bytes that wait are lost.
func (l *link) reset() {
	l.client.SetLinger(0)
	l.mu.Lock()
	if l.server != nil {
		l.server.SetLinger(0)
	}
	l.mu.Unlock()
	l.end()
}

func (l *link) end() {
	l.once.Do(func() {
		close(l.dead)
		l.client.Close()
		l.mu.Lock()
		if l.server != nil {
			l.server.Close()
		}
		l.mu.Unlock()
		n := l.proxy.n
		n.mu.Lock()
		delete(n.links, l)
		n.mu.Unlock()
	})
}

func reset(c *net.TCPConn) {
	c.SetLinger(0)
	c.Close()
}

// readCommand returns a command's bytes and its arguments.
func readCommand(r *bufio.Reader) (raw []byte, args []string, err error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, nil, err
	}
	if line[0] != '*' {
		return nil, nil, errors.New("tcpproxy: the client sent no array")
	}
	raw = line
	count, err := strconv.Atoi(string(bytes.TrimSpace(line[1:])))
	if err != nil || count < 1 {
		return nil, nil, errors.New("tcpproxy: the client sent a wrong array")
	}
	for range count {
		head, err := r.ReadBytes('\n')
		if err != nil {
			return nil, nil, err
		}
		size, err := strconv.Atoi(string(bytes.TrimSpace(head[1:])))
		if err != nil {
			return nil, nil, err
		}
		bulk := make([]byte, size+2)
		if _, err := io.ReadFull(r, bulk); err != nil {
			return nil, nil, err
		}
		args = append(args, string(bulk[:size]))
		raw = append(append(raw, head...), bulk...)
	}
	return raw, args, nil
}
