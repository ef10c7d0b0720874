package rlock_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis"
)

// eventually waits until f is true.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-tick.C {
		if f() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// proxy forwards between clients and a server, and makes the faults that a test
// requests.
type proxy struct {
	ln     net.Listener
	server string
	wg     sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	conns  map[*link]bool
	open   chan struct{} // closed unless the proxy hangs
	down   bool
	lose   map[string]int // number of replies to lose, by command name
	deaf   bool           // pub/sub messages are dropped
	closed bool
}

// link is a client's connection together with its connection to the server.
type link struct {
	p              *proxy
	client, server net.Conn
	dead           chan struct{} // closed with the connections
	once           sync.Once

	mu     sync.Mutex
	lose   bool // lose the next reply
	pubsub bool
}

// throughProxy returns a proxy in front of a new server, and a client that connects
// to the server directly.
func throughProxy(t testing.TB) (*proxy, *redis.Client) {
	t.Helper()
	srv := lockredis.New(lockredis.Config{})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{ln: ln, server: srv.Addr(), conns: map[*link]bool{}, open: make(chan struct{}),
		lose: map[string]int{}}
	close(p.open)
	p.wg.Go(p.accept)
	direct := redis.NewClient(&redis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { p.close(); direct.Close(); srv.Close() })
	return p, direct
}

// dial returns a go-redis client through the proxy, with default options.
func (p *proxy) dial(t testing.TB) *redis.Client {
	rdb := redis.NewClient(&redis.Options{Addr: p.ln.Addr().String()})
	t.Cleanup(func() { p.heal(); rdb.Close() })
	return rdb
}

func (p *proxy) accept() {
	for {
		c, err := p.ln.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		down := p.down || p.closed
		p.mu.Unlock()
		if down {
			c.Close()
			continue
		}
		s, err := net.Dial("tcp", p.server)
		if err != nil {
			c.Close()
			continue
		}
		l := &link{p: p, client: c, server: s, dead: make(chan struct{})}
		p.mu.Lock()
		p.conns[l] = true
		p.mu.Unlock()
		p.wg.Go(l.requests)
		p.wg.Go(l.replies)
	}
}

func (l *link) close() {
	l.once.Do(func() {
		close(l.dead)
		l.client.Close()
		l.server.Close()
		l.p.mu.Lock()
		delete(l.p.conns, l)
		l.p.mu.Unlock()
	})
}

// pass waits while the proxy hangs. It reports false when the link is closed.
func (l *link) pass() bool {
	l.p.mu.Lock()
	open := l.p.open
	l.p.mu.Unlock()
	select {
	case <-open:
		return true
	case <-l.dead:
		return false
	}
}

// requests forwards whole commands.
func (l *link) requests() {
	defer l.close()
	r := bufio.NewReader(l.client)
	for {
		raw, name, err := readCommand(r)
		if err != nil || !l.pass() {
			return
		}
		l.p.mu.Lock()
		lose := l.p.lose[name] > 0
		if lose {
			l.p.lose[name]--
		}
		l.p.mu.Unlock()
		l.mu.Lock()
		l.lose = l.lose || lose
		l.pubsub = l.pubsub || strings.HasSuffix(name, "subscribe")
		l.mu.Unlock()
		if _, err := l.server.Write(raw); err != nil {
			return
		}
	}
}

// replies forwards the server's output. To lose a reply it closes the connection.
func (l *link) replies() {
	defer l.close()
	buf := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buf)
		if err != nil || !l.pass() {
			return
		}
		l.p.mu.Lock()
		deaf := l.p.deaf
		l.p.mu.Unlock()
		l.mu.Lock()
		lose, message := l.lose, l.pubsub && bytes.Contains(buf[:n], []byte("\r\nmessage\r\n"))
		l.mu.Unlock()
		if lose {
			return
		}
		if message && deaf {
			continue
		}
		if _, err := l.client.Write(buf[:n]); err != nil {
			return
		}
	}
}

// readCommand returns a command's bytes and its name in lower case.
func readCommand(r *bufio.Reader) (raw []byte, name string, err error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, "", err
	}
	if line[0] != '*' {
		return nil, "", errors.New("not an array")
	}
	raw = line
	n, _ := strconv.Atoi(string(bytes.TrimSpace(line[1:])))
	for i := range n {
		head, err := r.ReadBytes('\n')
		if err != nil {
			return nil, "", err
		}
		size, _ := strconv.Atoi(string(bytes.TrimSpace(head[1:])))
		bulk := make([]byte, size+2)
		if _, err := io.ReadFull(r, bulk); err != nil {
			return nil, "", err
		}
		if i == 0 {
			name = strings.ToLower(string(bulk[:size]))
		}
		raw = append(append(raw, head...), bulk...)
	}
	return raw, name, nil
}

// loseReplies loses the replies to the next n commands of the given name. The
// commands reach the server; their connections are closed instead of a reply.
func (p *proxy) loseReplies(name string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose[name] = n
}

// hang stops forwarding in both directions until heal.
func (p *proxy) hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
		p.open = make(chan struct{})
	default: // it hangs already
	}
}

// cut closes all connections, and every new one until heal.
func (p *proxy) cut() {
	p.mu.Lock()
	p.down = true
	p.mu.Unlock()
	p.endLinks()
}

// loseMessages drops pub/sub messages until heal.
func (p *proxy) loseMessages() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = true
}

// heal ends all faults.
func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down, p.deaf = false, false
	clear(p.lose)
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

func (p *proxy) endLinks() {
	p.mu.Lock()
	links := make([]*link, 0, len(p.conns))
	for l := range p.conns {
		links = append(links, l)
	}
	p.mu.Unlock()
	for _, l := range links {
		l.close()
	}
}

// endSubscriptions closes the connections that have subscribed to a channel.
func (p *proxy) endSubscriptions() {
	p.mu.Lock()
	links := make([]*link, 0, len(p.conns))
	for l := range p.conns {
		l.mu.Lock()
		if l.pubsub {
			links = append(links, l)
		}
		l.mu.Unlock()
	}
	p.mu.Unlock()
	for _, l := range links {
		l.close()
	}
}

func (p *proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.ln.Close()
	p.endLinks()
	p.wg.Wait()
}

// calls returns how often the server has run a command.
func calls(t testing.TB, rdb *redis.Client, name string) int {
	t.Helper()
	info, err := rdb.Info(context.Background(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`cmdstat_` + name + `:calls=(\d+)`).FindStringSubmatch(info)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}
