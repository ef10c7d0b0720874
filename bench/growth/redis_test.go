package growth

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
)

// redisServer is a redis-server of this test, on a Unix socket.
type redisServer struct {
	t     testing.TB
	addr  string
	conns map[int]*redisConn
}

// startRedis starts a redis-server for the length of the test.
func startRedis(t testing.TB) *redisServer {
	return &redisServer{t: t, addr: redistest.StartSocket(t).Addr, conns: map[int]*redisConn{}}
}

// close closes the connections.
func (r *redisServer) close() {
	for _, c := range r.conns {
		_ = c.conn.Close()
	}
}

func (r *redisServer) conn(i int) *redisConn {
	if c := r.conns[i]; c != nil {
		return c
	}
	conn, err := net.Dial("unix", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	c := &redisConn{t: r.t, conn: conn, in: bufio.NewReaderSize(conn, 1<<16),
		out: bufio.NewWriterSize(conn, 1<<16)}
	r.conns[i] = c
	return c
}

// inFlight is the number of lines after which their replies are read. A transaction is sent
// whole: its PING would be queued.
const inFlight = 256

func (r *redisServer) run(lines []line) {
	main := r.conn(0)
	unread, inMulti := 0, false
	for _, l := range lines {
		switch c := r.conn(l.conn); {
		case l.conn == 0:
			c.send(l.words)
			switch l.command() {
			case "multi":
				inMulti = true
			case "exec", "discard":
				inMulti = false
			}
			if unread++; unread >= inFlight && !inMulti {
				c.sync()
				unread = 0
			}
		case blocks(l):
			main.sync()
			before := r.countBlocked()
			c.send(l.words)
			c.flush()
			r.awaitBlocked(before + 1)
		default:
			main.sync()
			c.send(l.words)
			c.sync()
		}
	}
	main.sync()
}

func blocks(l line) bool {
	name := l.command()
	return strings.HasPrefix(name, "b") && (strings.Contains(name, "pop") ||
		strings.Contains(name, "move"))
}

var blockedClients = regexp.MustCompile(`\nblocked_clients:(\d+)`)

func (r *redisServer) countBlocked() int {
	found := blockedClients.FindStringSubmatch(r.conn(0).ask("INFO", "clients"))
	n, _ := strconv.Atoi(found[1])
	return n
}

func (r *redisServer) awaitBlocked(n int) {
	for deadline := time.Now().Add(10 * time.Second); r.countBlocked() < n; {
		if time.Now().After(deadline) {
			r.t.Fatalf("%d clients wait, want %d", r.countBlocked(), n)
		}
	}
}

func (r *redisServer) time(commands []string, lines []line) (took time.Duration, calls int) {
	r.conn(0).ask("CONFIG", "RESETSTAT")
	r.run(lines)
	for _, stat := range commandStats.FindAllStringSubmatch(r.conn(0).ask("INFO", "commandstats"),
		-1) {
		micros, _ := strconv.Atoi(stat[3])
		at := indexOf(commands, stat[1])
		if at >= 0 {
			took += time.Duration(micros) * time.Microsecond
		}
		if at == 0 {
			calls, _ = strconv.Atoi(stat[2])
		}
	}
	return took, calls
}

var commandStats = regexp.MustCompile(`\ncmdstat_([^:]+):calls=(\d+),usec=(\d+)`)

// redisConn is a connection that does not parse replies. A mark after them shows their
// end.
type redisConn struct {
	t     testing.TB
	conn  net.Conn
	in    *bufio.Reader
	out   *bufio.Writer
	marks int
}

func (c *redisConn) send(words [][]byte) {
	fmt.Fprintf(c.out, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(c.out, "$%d\r\n", len(w))
		c.out.Write(w)
		c.out.WriteString("\r\n")
	}
}

func (c *redisConn) flush() {
	if err := c.out.Flush(); err != nil {
		c.t.Fatal(err)
	}
}

// sync waits until the server has answered all commands.
func (c *redisConn) sync() { c.readToMark(func([]byte) {}) }

// ask returns the bytes of a command's reply.
func (c *redisConn) ask(words ...string) string {
	c.sync()
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	c.send(args)
	var reply bytes.Buffer
	c.readToMark(func(part []byte) { reply.Write(part) })
	return reply.String()
}

// errorReply matches an error's line. A line of DUMP's bytes may begin like the shorter ones.
var errorReply = regexp.MustCompile(`^-[A-Z]{3,} `)

// readToMark reads all replies. A PING with the mark, which subscribers may send too,
// marks their end.
func (c *redisConn) readToMark(got func([]byte)) {
	c.marks++
	mark := fmt.Sprintf("mark-%d", c.marks)
	c.send([][]byte{[]byte("PING"), []byte(mark)})
	c.flush()
	for {
		part, err := c.in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			c.t.Fatal(err)
		}
		if errorReply.Match(part) {
			c.t.Fatalf("redis-server answered %s", part)
		}
		if string(bytes.TrimRight(part, "\r\n")) == mark {
			return
		}
		got(part)
	}
}
