package replication_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/internal/nohost"
	"github.com/lockredis/lockredis/resp"
)

// node is an engine whose time of replication the test counts.
type node struct {
	nohost.Host
	t *testing.T
	*engine.Engine
	dial  func(context.Context, string) (net.Conn, error) // nil: there are no primaries
	sleep func()                                          // nil: nothing

	mu      sync.Mutex
	planned []planned
	waited  time.Duration // that pieces of files were planned with
}

type planned struct {
	beat bool
	do   func()
}

// After plans a beat, or the next piece of a file.
func (n *node) After(d time.Duration, do func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	beat := d >= time.Second
	if !beat {
		n.waited += d
	}
	n.planned = append(n.planned, planned{beat, do})
}

func newNode(t *testing.T, directives ...string) *node {
	t.Helper()
	cfg := config.New()
	for i := 0; i < len(directives); i += 2 {
		if err := cfg.Load(directives[i], directives[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	n := &node{t: t}
	n.Engine = engine.New(engine.Options{
		Config: cfg, Clock: expiry.NewManual(time.UnixMilli(1_700_000_000_000)),
		Rand: rand.New(rand.NewPCG(1, 2)), Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Server: n,
	})
	t.Cleanup(n.Close)
	return n
}

// run runs what is planned: beats, or pieces of files. It returns how much that was.
func (n *node) run(beats bool) (ran int) {
	n.mu.Lock()
	var now []planned
	rest := n.planned[:0:0]
	for _, p := range n.planned {
		if p.beat == beats {
			now = append(now, p)
		} else {
			rest = append(rest, p)
		}
	}
	n.planned = rest
	n.mu.Unlock()
	for _, p := range now {
		p.do()
	}
	return len(now)
}

func (n *node) beat() { n.run(true) }

// pieces sends files until they are sent, or wait for a reader.
func (n *node) pieces() {
	for range 1000 {
		if n.run(false) == 0 {
			return
		}
	}
}

// client is a connection.
type client struct {
	n    *node
	s    *command.Session
	out  bytes.Buffer
	left int // bytes that are unread
	dead bool
}

func (c *client) Write(b []byte) bool { c.out.Write(b); return !c.dead }
func (c *client) Kill()               { c.dead = true }
func (c *client) Wake()               {}
func (c *client) Sizes(bool) command.Buffers {
	return command.Buffers{LargeBytes: c.left}
}

func (n *node) connect() *client {
	c := &client{n: n}
	c.s = &command.Session{Conn: c, Addr: "127.0.0.1:1"}
	n.Do(&engine.Caller{}, func() { n.Join(c.s) })
	return c
}

// send runs a command and returns what was written since the last one.
func (c *client) send(words ...string) string {
	args := make(resp.Args, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	c.n.Do(&engine.Caller{}, func() { c.n.Execute(c.s, args) })
	return c.take()
}

func (c *client) take() string {
	defer c.out.Reset()
	return c.out.String()
}

func (c *client) info(field string) string {
	for line := range strings.Lines(c.send("INFO", "everything")) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && name == field {
			return value
		}
	}
	return ""
}

// follower returns a replica that gets the stream, the stream's id, and its offset.
func (n *node) follower() (r *client, id string, offset int64) {
	n.t.Helper()
	r = n.connect()
	r.send("REPLCONF", "listening-port", "7", "capa", "eof", "capa", "psync2")
	out := r.send("PSYNC", "?", "-1")
	if _, err := fmt.Sscanf(out, "+FULLRESYNC %s %d\r\n$EOF:", &id, &offset); err != nil {
		n.t.Fatalf("%q: %v", out, err)
	}
	n.pieces()
	r.send("REPLCONF", "ACK", fmt.Sprint(offset))
	return r, id, offset
}

func TestPsyncContinuesWhatTheBacklogHas(t *testing.T) {
	n := newNode(t, "repl-backlog-size", "16384")
	_, id, start := n.follower()
	user := n.connect()
	user.send("SET", "k", strings.Repeat("x", 100))
	const line = "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100\r\n"
	end := start + int64(len(line)) + 102
	for _, row := range []struct {
		id     string
		offset int64
		rest   int64 // bytes that follow +CONTINUE; -1: all data come
	}{
		{id, start + 1, end - start}, {strings.ToUpper(id), start + 1, end - start},
		{id, end, 1}, {id, end + 1, 0}, {id, end + 2, -1}, {id, start, -1}, {id, -1, -1},
		{"?", -1, -1}, {"?", start + 1, -1}, {"", start + 1, -1},
		{strings.Repeat("0", 40), start + 1, -1}, {strings.Repeat("0", 40), end + 1, -1},
	} {
		r := n.connect()
		r.send("REPLCONF", "capa", "eof", "capa", "psync2")
		out := r.send("PSYNC", row.id, fmt.Sprint(row.offset))
		header, rest, _ := strings.Cut(out, "\r\n")
		switch {
		case row.rest < 0 && header != fmt.Sprintf("+FULLRESYNC %s %d", id, end):
			t.Errorf("PSYNC %s %d: %q", row.id, row.offset, header)
		case row.rest >= 0 && (header != "+CONTINUE "+id || int64(len(rest)) != row.rest):
			t.Errorf("PSYNC %s %d: %q and %d bytes, want %d", row.id, row.offset, header, len(rest), row.rest)
		}
		n.Do(&engine.Caller{}, func() { n.Leave(r.s) })
	}
	old := n.connect()
	if out := old.send("PSYNC", id, fmt.Sprint(end+1)); out != "+CONTINUE\r\n" {
		t.Errorf("without capa psync2: %q", out)
	}
	got := user.info("sync_full") + user.info("sync_partial_ok") + user.info("sync_partial_err")
	if got != "956" {
		t.Errorf("the counters of synchronizations are %s", got)
	}
}

func TestPsyncContinuesWhatWaitsForAnotherReplica(t *testing.T) {
	n := newNode(t, "repl-backlog-size", "16384")
	_, id, start := n.follower()
	user, waits := n.connect(), n.connect()
	waits.send("PSYNC", "?", "-1") // its file is not sent: the stream waits for it
	for i := range 10 {
		user.send("SET", fmt.Sprint("k", i), strings.Repeat("v", 10000))
	}
	var end, kept, first int64
	fmt.Sscan(user.info("master_repl_offset")+" "+user.info("repl_backlog_histlen")+" "+
		user.info("repl_backlog_first_byte_offset"), &end, &kept, &first)
	if kept != end-start || first != start+1 || kept < 100000 {
		t.Errorf("from %d to %d INFO has %d bytes from %d", start, end, kept, first)
	}
	ask := func(offset int64) (header string, rest int64) {
		r := n.connect()
		out := r.send("PSYNC", id, fmt.Sprint(offset))
		n.Do(&engine.Caller{}, func() { n.Leave(r.s) })
		header, after, _ := strings.Cut(out, "\r\n")
		return header, int64(len(after))
	}
	for _, offset := range []int64{start + 1, start + 5000, end, end + 1} {
		if header, rest := ask(offset); header != "+CONTINUE" || rest != end+1-offset {
			t.Errorf("from %d: %q, %d bytes", offset, header, rest)
		}
	}
	if header, _ := ask(start); !strings.HasPrefix(header, "+FULLRESYNC") {
		t.Errorf("before what is kept: %q", header)
	}
	n.Do(&engine.Caller{}, func() { n.Leave(waits.s) })
	if header, _ := ask(start + 1); !strings.HasPrefix(header, "+FULLRESYNC") {
		t.Errorf("when the replica has left: %q", header)
	}
	if got := user.info("repl_backlog_histlen"); got != "16384" {
		t.Errorf("when the replica has left %s bytes are kept", got)
	}
}

func TestAFileOfKnownLengthIsSentInPieces(t *testing.T) {
	n := newNode(t)
	user := n.connect()
	for i := range 3000 {
		user.send("SET", fmt.Sprint("k", i), strings.Repeat("v", 100))
	}
	r := n.connect()
	out := r.send("SYNC")
	n.beat()
	if out += r.take(); out != "\n" {
		t.Errorf("before the file the replica gets %q", out[:min(100, len(out))])
	}
	n.pieces()
	user.send("SET", "later", "v")
	var size int
	out = r.take()
	if _, err := fmt.Sscanf(out, "$%d\r\n", &size); err != nil {
		t.Fatalf("%q", out[:100])
	}
	file := out[strings.Index(out, "\n")+1:]
	if len(file) < size || !strings.HasPrefix(file, "REDIS") {
		t.Fatalf("%d bytes of %d: %q", len(file), size, file[:10])
	}
	stream := file[size:]
	if !strings.HasPrefix(stream, "*2\r\n$6\r\nSELECT") || !strings.Contains(stream, "later") {
		t.Errorf("behind the file: %q", stream)
	}
}

func TestRdbKeySaveDelaySlowsTheFileOfAReplica(t *testing.T) {
	const keys = 300
	for _, row := range []struct {
		delay string
		want  time.Duration
	}{{"1000", keys * time.Millisecond}, {"-100", 3 * time.Microsecond}, {"0", 0}} {
		for _, capa := range []string{"eof", "psync2"} { // a file with a mark, and one of known length
			n := newNode(t, "rdb-key-save-delay", row.delay)
			user := n.connect()
			for i := range keys {
				user.send("SET", fmt.Sprint("k", i), "v")
			}
			r := n.connect()
			r.send("REPLCONF", "capa", capa)
			r.send("PSYNC", "?", "-1")
			during := user.info("rdb_bgsave_in_progress") + user.info("slave0")
			for i := range keys {
				user.send("DEL", fmt.Sprint("k", i)) // the file has it nevertheless
			}
			n.pieces()
			sent := user.info("slave0")
			r.send("REPLCONF", "ACK", "0")
			if n.waited != row.want {
				t.Errorf("with delay %s, capa %s the file waits %v, want %v",
					row.delay, capa, n.waited, row.want)
			}
			if !strings.HasPrefix(during, "1") || !strings.Contains(during, "state=wait_bgsave") {
				t.Errorf("while the file is made INFO has %q", during)
			}
			if capa == "eof" && !strings.Contains(sent, "state=wait_bgsave") {
				t.Errorf("when the file is sent INFO has %q", sent)
			}
			has := user.info("slave0")
			if user.info("rdb_bgsave_in_progress") != "0" || !strings.Contains(has, "state=online") {
				t.Errorf("when the replica has the file INFO has %q", has)
			}
		}
	}
}

func TestInfoCountsTheMemoryOfReplication(t *testing.T) {
	n := newNode(t, "repl-backlog-size", "16384")
	user := n.connect()
	figures := func() (all [4]int) {
		for i, name := range []string{"mem_replication_backlog", "mem_total_replication_buffers",
			"mem_not_counted_for_evict", "mem_clients_slaves"} {
			fmt.Sscan(user.info(name), &all[i])
		}
		return all
	}
	if got := figures(); got != [4]int{} {
		t.Errorf("without replicas: %v", got)
	}
	user.send("SET", "k", strings.Repeat("v", 30000))
	slow, _, _ := n.follower()
	waits := n.connect()
	waits.send("PSYNC", "?", "-1")
	user.send("SET", "k", strings.Repeat("v", 20000))
	slow.left = 5000
	got := figures()
	backlog, buffers := got[0], got[1]
	if backlog < 16384 || backlog > 2*16384 {
		t.Errorf("the backlog has %d bytes", backlog)
	}
	if more := buffers - backlog; more < 25000 || more > 26000 {
		t.Errorf("replicas have %d bytes to read", more)
	}
	if got[2] != buffers || got[3] != buffers-backlog {
		t.Errorf("the figures are %v", got)
	}
}

func TestAReplicaThatReadsNothingDoesNotFillTheMemory(t *testing.T) {
	for _, soft := range []bool{false, true} {
		limit := "replica 100000 0 0"
		if soft {
			limit = "replica 0 50000 3"
		}
		n := newNode(t, "repl-backlog-size", "16384", "client-output-buffer-limit", limit)
		user := n.connect()
		for i := range 3000 {
			user.send("SET", fmt.Sprint("k", i), strings.Repeat("v", 1000))
		}
		r := n.connect()
		r.left = 2 << 20 // the socket takes nothing
		r.send("REPLCONF", "capa", "eof")
		r.send("PSYNC", "?", "-1")
		for range 50 {
			n.run(false)
		}
		if got := len(r.take()); got > 1000 {
			t.Errorf("%d bytes are queued for a replica that reads nothing", got)
		}
		for range 60 {
			user.send("SET", "k", strings.Repeat("v", 1000))
		}
		for i := range 5 {
			if soft && r.dead != (i > 3) {
				t.Errorf("over the soft limit: cut %v after %d seconds", r.dead, i)
			}
			n.beat()
		}
		for range 60 {
			user.send("SET", "k", strings.Repeat("v", 1000))
		}
		if !r.dead {
			t.Errorf("%s: the replica stays", limit)
		}
		n.pieces()
		n.Do(&engine.Caller{}, func() { n.Leave(r.s) })
		if err := n.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestAReplicaThatStallsIsDropped(t *testing.T) {
	n := newNode(t, "repl-timeout", "3")
	user := n.connect()
	for i := range 3000 {
		user.send("SET", fmt.Sprint("k", i), strings.Repeat("v", 1000))
	}
	count := func(r *client) (beats int) {
		for !r.dead && beats < 50 {
			n.beat()
			beats++
		}
		return beats
	}
	during := n.connect()
	during.left = 2 << 20
	during.send("REPLCONF", "capa", "eof")
	during.send("PSYNC", "?", "-1")
	for range 10 { // it reads a little
		during.left--
		n.beat()
	}
	if got := count(during); got != 4 {
		t.Errorf("a replica that stalls during its file is dropped after %d seconds", got)
	}
	loading := n.connect()
	loading.send("REPLCONF", "capa", "eof")
	loading.send("PSYNC", "?", "-1")
	n.pieces()
	for range 10 {
		loading.send() // a newline
		n.beat()
	}
	if got := count(loading); got < 3 || got > 4 {
		t.Errorf("a replica that is silent behind its file is dropped after %d seconds", got)
	}
	online, _, offset := n.follower()
	for range 10 {
		online.send("REPLCONF", "ACK", fmt.Sprint(offset))
		n.beat()
	}
	if got := count(online); got < 3 || got > 4 {
		t.Errorf("a replica that acknowledges no more is dropped after %d seconds", got)
	}
	if got := user.info("connected_slaves"); got != "0" {
		t.Errorf("%s replicas are left", got)
	}
}

func TestTheServerMayEndAtEveryMomentOfASynchronization(t *testing.T) {
	for _, capa := range []string{"eof", "none"} {
		for steps := range 20 {
			n := newNode(t)
			user := n.connect()
			for i := range 1000 {
				user.send("SET", fmt.Sprint("k", i), strings.Repeat("v", 100))
			}
			r := n.connect()
			r.send("REPLCONF", "capa", capa)
			r.send("PSYNC", "?", "-1")
			for range steps {
				n.run(false)
				n.beat()
			}
			if steps%2 == 0 {
				n.Do(&engine.Caller{}, func() { n.Leave(r.s) })
				if err := n.Check(); err != nil {
					t.Error(err)
				}
			}
			n.Close()
			n.pieces()
			n.beat()
		}
	}
}

func TestTheStreamEndsWithoutReplicas(t *testing.T) {
	n := newNode(t, "repl-backlog-ttl", "5")
	r, _, _ := n.follower()
	user := n.connect()
	n.Do(&engine.Caller{}, func() { n.Leave(r.s) })
	id := user.info("master_replid")
	for range 5 {
		n.beat()
	}
	user.send("SET", "a", "1")
	before := user.info("master_repl_offset")
	if got := user.info("repl_backlog_active"); got != "1" {
		t.Error("the backlog has ended too early")
	}
	n.beat()
	user.send("SET", "a", "1")
	active, after := user.info("repl_backlog_active"), user.info("master_repl_offset")
	if active != "0" || after != before {
		t.Errorf("the backlog is active: %s, the offset is %s, was %s", active, after, before)
	}
	if user.info("master_replid") == id {
		t.Error("the stream that ended keeps its id")
	}
}

func TestWaitsAreAnsweredByAcknowledgements(t *testing.T) {
	n := newNode(t)
	a, _, _ := n.follower()
	b, _, _ := n.follower()
	one, two, all := n.connect(), n.connect(), n.connect()
	one.send("SET", "k", "1")
	first := one.info("master_repl_offset")
	a.take()
	if out := one.send("WAIT", "1", "0") + two.send("WAIT", "1", "0"); out != ":2\r\n" {
		t.Errorf("a client that has written waits, another does not: %q", out)
	}
	if got := strings.Count(a.take(), "GETACK"); got != 1 {
		t.Errorf("two waits ask %d times", got)
	}
	two.send("SET", "k", "2")
	two.send("WAIT", "2", "0")
	last := all.info("master_repl_offset")
	if out := all.send("WAIT", "2", "0"); out != "" {
		t.Errorf("a client that has only read does not wait: %q", out)
	}
	a.send("REPLCONF", "ACK", first)
	if got := [...]string{one.take(), two.take(), all.take()}; got != [...]string{":1\r\n", "", ""} {
		t.Errorf("after the first acknowledgement: %q", got)
	}
	a.send("REPLCONF", "ACK", last)
	b.send("REPLCONF", "ACK", first)
	if got := [...]string{two.take(), all.take()}; got != [...]string{"", ""} {
		t.Errorf("with one replica: %q", got)
	}
	b.send("REPLCONF", "ACK", last)
	if got := [...]string{two.take(), all.take()}; got != [...]string{":2\r\n", ":2\r\n"} {
		t.Errorf("with both replicas: %q", got)
	}
}
