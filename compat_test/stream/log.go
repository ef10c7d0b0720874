package stream

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/resp"
)

// patience is how long Await waits on a busy machine.
const patience = time.Minute

// Log has the lines that a server tells, as "3 SET k v": the database, and the command line with
// its name in upper case. Times in milliseconds are T.
type Log struct {
	mu    sync.Mutex
	lines []string
	more  chan struct{} // has room for one
}

// NewLog returns an empty log.
func NewLog() *Log { return &Log{more: make(chan struct{}, 1)} }

// times are times in Unix ms, and ids of streams that have one. The servers differ by some
// milliseconds.
var times = regexp.MustCompile(`\b1[678]\d{11}(-\d+)?\b`)

// Add adds a line about a database.
func (l *Log) Add(db int, line resp.Args) {
	words := []string{strconv.Itoa(db)}
	for i, word := range line {
		if i == 0 || isEnd(word) {
			word = bytes.ToUpper(word)
		}
		words = append(words, quoted(word))
	}
	l.mu.Lock()
	l.lines = append(l.lines, times.ReplaceAllString(strings.Join(words, " "), "T"))
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// isEnd reports whether word is an end of a list. Redis writes it in lower case when it serves a
// client that has waited.
func isEnd(word []byte) bool {
	return bytes.EqualFold(word, []byte("left")) || bytes.EqualFold(word, []byte("right"))
}

func quoted(word []byte) string {
	if len(word) > 0 && !bytes.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return string(word)
	}
	return wire.Quote(word)
}

// Await waits for a line that ends with mark. It returns the lines before, and forgets them.
func (l *Log) Await(mark string) (lines []string, err error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		l.mu.Lock()
		i := slices.IndexFunc(l.lines, func(line string) bool { return strings.HasSuffix(line, mark) })
		if i >= 0 {
			lines = l.lines[:i:i]
			l.lines = slices.Clone(l.lines[i+1:])
		}
		l.mu.Unlock()
		if i >= 0 {
			return lines, nil
		}
		select {
		case <-l.more:
		case <-late.C:
			return nil, fmt.Errorf("%s is not told within %v", mark, patience)
		}
	}
}

// Directives make a redis-server send its file to Replica at once, and no PING.
var Directives = []string{
	"--repl-diskless-sync", "no", "--repl-ping-replica-period", "3600", "--repl-timeout", "7200",
}

// Replica follows a redis-server as a replica of its own does. stop ends that.
func Replica(addr string) (l *Log, stop func(), err error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	r := bufio.NewReader(nc)
	if err := skipFile(nc, r); err != nil {
		nc.Close()
		return nil, nil, err
	}
	l = NewLog()
	c := wire.NewConn(buffered{nc, r})
	c.SetTimeout(0)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for db := 0; ; {
			v, err := c.Receive()
			if err != nil {
				return
			}
			line := make(resp.Args, len(v.Elems))
			for i, word := range v.Elems {
				line[i] = word.Str
			}
			switch strings.ToLower(string(line[0])) {
			case "select":
				db, _ = strconv.Atoi(string(line[1]))
			case "ping":
			default:
				l.Add(db, line)
			}
		}
	}()
	return l, func() { c.Close(); <-ended }, nil
}

// skipFile asks for the stream, and reads the RDB file before it.
func skipFile(nc net.Conn, r *bufio.Reader) error {
	if _, err := io.WriteString(nc, "SYNC\r\n"); err != nil {
		return err
	}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		if size, ok := strings.CutPrefix(strings.TrimSpace(line), "$"); ok {
			n, err := strconv.Atoi(size)
			if err == nil {
				_, err = r.Discard(n)
			}
			return err
		}
	}
}

// buffered is a connection of which a part was read into r.
type buffered struct {
	net.Conn
	r *bufio.Reader
}

func (b buffered) Read(p []byte) (int, error) { return b.r.Read(p) }
