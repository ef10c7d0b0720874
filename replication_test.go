package lockredis_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/redistest"
)

// member is a server among primaries and replicas, and a client of it.
type member struct {
	*wire.Conn
	t   *testing.T
	srv *lockredis.Server
	log *logLines
}

// logLines is a log that a test reads.
type logLines struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// count returns how often part is in the log.
func (l *logLines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), part)
}

// newMember starts a server with some directives, and logs in with its password if it has one.
func newMember(t *testing.T, directives map[string]string) *member {
	t.Helper()
	return memberOf(t, lockredis.Config{Directives: directives})
}

func memberOf(t *testing.T, cfg lockredis.Config) *member {
	t.Helper()
	m := &member{t: t, log: &logLines{}}
	all := map[string]string{"enable-debug-command": "yes"}
	maps.Copy(all, cfg.Directives)
	cfg.Directives = all
	cfg.Logger = slog.New(slog.NewTextHandler(m.log, nil))
	m.srv = start(t, cfg)
	m.Conn = dial(t, m.srv)
	if password := cfg.Directives["requirepass"]; password != "" {
		m.do("AUTH " + password)
	}
	return m
}

// do runs a command that must succeed, and returns its reply.
func (m *member) do(line string) wire.Value {
	m.t.Helper()
	words, err := wire.Split(line)
	if err != nil {
		m.t.Fatal(err)
	}
	v, err := m.Do(words...)
	if err != nil || v.IsError() {
		m.t.Fatalf("%s: %s %v", line, v, err)
	}
	return v
}

// all runs commands that must succeed.
func (m *member) all(lines ...string) {
	m.t.Helper()
	for _, line := range lines {
		m.do(line)
	}
}

// want runs a command, and compares the bytes of the reply.
func (m *member) want(line, raw string) {
	m.t.Helper()
	expect(m.t, m.Conn, line, raw)
}

// refuses runs a command whose reply must be an error that begins with a text.
func (m *member) refuses(line, text string) {
	m.t.Helper()
	words, _ := wire.Split(line)
	v, err := m.Do(words...)
	if err != nil || !v.IsError() || !strings.HasPrefix(string(v.Str), text) {
		m.t.Fatalf("%s: %s %v, want the error %s", line, v, err, text)
	}
}

// info returns a field of INFO replication.
func (m *member) info(field string) string {
	m.t.Helper()
	return redistest.InfoFields(string(m.do("INFO replication").Str))[field]
}

// infoStat returns a field of INFO stats.
func (m *member) infoStat(field string) string {
	m.t.Helper()
	return redistest.InfoFields(string(m.do("INFO stats").Str))[field]
}

// place returns the words with which a replica follows m: "host port".
func (m *member) place() string {
	host, port, _ := net.SplitHostPort(m.srv.Addr())
	return host + " " + port
}

// follow has m follow another server, and waits until the link is up.
func (m *member) follow(p *member) {
	m.t.Helper()
	m.do("REPLICAOF " + p.place())
	m.awaitUp()
}

func (m *member) awaitUp() {
	m.t.Helper()
	eventually(m.t, "the link is up", func() bool { return m.info("master_link_status") == "up" })
}

// awaitDBSize waits until m has so many keys in its database.
func (m *member) awaitDBSize(n int) {
	m.t.Helper()
	eventually(m.t, fmt.Sprint("DBSIZE is ", n), func() bool {
		return string(m.do("DBSIZE").Raw) == fmt.Sprintf(":%d\r\n", n)
	})
}

// awaitSame waits until m has all that p has told, and compares the data.
func (m *member) awaitSame(p *member) {
	m.t.Helper()
	m.awaitOffset(p)
	want, got := string(p.do("DEBUG DIGEST").Str), string(m.do("DEBUG DIGEST").Str)
	if want != got {
		m.t.Fatalf("the data differ: %s at the primary, %s at the replica", want, got)
	}
}

// awaitOffset waits until m has the whole stream of p.
func (m *member) awaitOffset(p *member) {
	m.t.Helper()
	eventually(m.t, "the replica has the whole stream", func() bool {
		return m.info("master_link_status") == "up" &&
			m.info("slave_repl_offset") == p.info("master_repl_offset") &&
			m.info("master_replid") == p.info("master_replid")
	})
}

// pair starts a primary and its replica, with directives of both.
func pair(t *testing.T, directives map[string]string) (p, r *member) {
	t.Helper()
	p, r = newMember(t, directives), newMember(t, directives)
	r.follow(p)
	return p, r
}

// pairByHand starts a primary and its replica, with directives of the replica. The test turns their clocks,
// so no key ends by itself.
func pairByHand(t *testing.T, directives map[string]string) (p, r *member, early, late *expiry.Manual) {
	t.Helper()
	at := time.UnixMilli(1_700_000_000_000)
	early, late = expiry.NewManual(at), expiry.NewManual(at)
	p = memberOf(t, lockredis.Config{Clock: early})
	r = memberOf(t, lockredis.Config{Clock: late, Directives: directives})
	r.follow(p)
	return p, r, early, late
}

// another returns one more client of m's server.
func (m *member) another() *member {
	m.t.Helper()
	return &member{Conn: dial(m.t, m.srv), t: m.t, srv: m.srv, log: m.log}
}

// typed are commands that make keys of all types.
var typed = []string{
	"SET string v", "SET number 12", "SETBIT bits 7 1", "APPEND long " + strings.Repeat("x", 70000),
	"RPUSH list a b c", "SADD ints 1 2 3", "SADD words a b c", "ZADD scores 1 a 2.5 b -inf c",
	"HSET hash f v g w", "XADD stream 1-1 f v", "XADD stream 2-1 f v", "XGROUP CREATE stream g 0",
	"XREADGROUP GROUP g c COUNT 1 STREAMS stream >", "PFADD hll a b c", "GEOADD places 13.36 38.11 Palermo",
	"SET lease v PX 3600000", "HSET late f v", "PEXPIREAT late 99999999999999",
}

func TestAReplicaGetsAllData(t *testing.T) {
	leavesNothing(t)
	p, r := newMember(t, nil), newMember(t, nil)
	r.all("SET own 1", "SELECT 5", "SET own 1", "SELECT 0",
		"FUNCTION LOAD '#!lua name=mine\nredis.register_function(\"mine\", function() return 1 end)'")
	for _, db := range []string{"0", "3", "15"} {
		p.do("SELECT " + db)
		p.all(typed...)
	}
	p.do("FUNCTION LOAD '#!lua name=lib\nredis.register_function{" +
		"function_name=\"one\", callback=function() return 1 end, flags={\"no-writes\"}}'")
	r.follow(p)
	r.awaitSame(p)
	r.want("FCALL one 0", ":1\r\n")
	r.refuses("FCALL mine 0", "ERR Function not found")
	r.want("EXISTS own", ":0\r\n")
	r.do("SELECT 3")
	r.want("PEXPIRETIME late", ":99999999999999\r\n")
	p.do("SELECT 3")
	r.want("DBSIZE", string(p.do("DBSIZE").Raw))
	r.Close()
	p.Close()
	r.srv.Close()
	p.srv.Close()
}

func TestAReplicaAppliesTheStream(t *testing.T) {
	p, r := pair(t, nil)
	sub := r.another()
	sub.all("SUBSCRIBE news", "PSUBSCRIBE n*")
	for _, db := range []string{"0", "3", "15"} {
		p.do("SELECT " + db)
		p.all(typed...)
	}
	p.all("EVAL 'redis.call(\"SET\", KEYS[1], 1) redis.call(\"INCR\", KEYS[1])' 1 scripted",
		"MULTI", "SELECT 2", "SET in-two 1", "SELECT 4", "SET in-four 1", "EXEC", "SWAPDB 2 3",
		"PUBLISH news hello", "FUNCTION LOAD '#!lua name=lib\nredis.register_function("+
			"\"put\", function(k) return redis.call(\"SET\", k[1], 1) end)'",
		"FCALL put 1 put", "MOVE put 7", "COPY in-four copied DB 9")
	receive(t, sub.Conn, "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n")
	receive(t, sub.Conn, "*4\r\n$8\r\npmessage\r\n$2\r\nn*\r\n$4\r\nnews\r\n$5\r\nhello\r\n")
	r.awaitSame(p)
	p.all("FLUSHALL", "FUNCTION FLUSH", "SET after 1")
	r.awaitSame(p)
	if n := string(r.do("FUNCTION LIST").Raw); n != "*0\r\n" {
		t.Errorf("the replica has functions: %s", n)
	}
	if r.log.count("CRITICAL") > 0 {
		t.Error("the replica could not run a command of the stream")
	}
}

func TestAReplicaShowsATransactionAndAScriptAtOnce(t *testing.T) {
	p, r := pair(t, nil)
	var writing sync.WaitGroup
	c := p.another()
	const rounds = 200
	writing.Go(func() {
		for range rounds {
			c.SendAll([]string{"MULTI"}, []string{"INCR", "a"}, []string{"INCR", "b"}, []string{"EXEC"},
				[]string{"EVAL", "redis.call('INCR', 'c') redis.call('INCR', 'd')", "0"})
			for range 5 {
				if _, err := c.Receive(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for last := ""; last != fmt.Sprint(rounds); {
		v := r.do("MGET a b c d").Elems
		if string(v[0].Str) != string(v[1].Str) || string(v[2].Str) != string(v[3].Str) {
			t.Fatalf("the replica shows %s", v)
		}
		last = string(v[3].Str)
	}
	writing.Wait()
}

func TestAReplicaRefusesWritesOfClients(t *testing.T) {
	const readOnly = "READONLY You can't write against a read only replica."
	p, r := pair(t, nil)
	p.do("SET k v")
	r.awaitOffset(p)
	r.refuses("SET k w", readOnly)
	r.refuses("EVAL 'return redis.call(\"SET\", \"k\", 1)' 0", readOnly)
	r.refuses("BLPOP q 0", readOnly)
	r.do("MULTI")
	r.refuses("SET k w", readOnly)
	r.refuses("EXEC", "EXECABORT")
	// EXEC of what was queued by a primary.
	c := p.another()
	c.all("MULTI", "SET k x")
	p.do("REPLICAOF " + r.place())
	c.refuses("EXEC", "EXECABORT Transaction discarded because of: READONLY")
	p.do("REPLICAOF NO ONE")
	r.awaitUp()
	r.want("GET k", "$1\r\nv\r\n")
	r.want("PUBLISH c m", ":0\r\n")
	r.do("CONFIG SET replica-read-only no")
	r.all("SET own 1", "EVAL 'return redis.call(\"SET\", \"own2\", 1)' 0")
	r.want("DBSIZE", ":3\r\n")
	p.want("DBSIZE", ":1\r\n")
	if a, b := r.info("slave_repl_offset"), r.info("master_repl_offset"); a != b {
		t.Errorf("a write of a client moved the stream from %s to %s", a, b)
	}
}

func TestAReplicaWithoutALinkMayRefuseToShowItsData(t *testing.T) {
	const down = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
	p, r := pair(t, nil)
	p.do("SET k v")
	r.awaitOffset(p)
	r.do("CONFIG SET replica-serve-stale-data no")
	r.want("GET k", "$1\r\nv\r\n")
	p.srv.Close()
	eventually(t, "the link is down", func() bool { return r.info("master_link_status") == "down" })
	r.refuses("GET k", down)
	r.refuses("EVAL 'return 1' 0", down)
	r.refuses("EVAL '#!lua flags=no-writes\nreturn 1' 0", down)
	r.refuses("EVAL '#!lua flags=allow-stale,no-writes\nreturn redis.call(\"GET\", \"k\")' 0",
		"ERR Can not execute the command on a stale replica")
	r.all("EVAL '#!lua flags=allow-stale,no-writes\nreturn redis.call(\"ECHO\", \"k\")' 0")
	r.all("INFO", "ROLE", "CONFIG GET port", "SUBSCRIBE c", "UNSUBSCRIBE c", "REPLICAOF no one")
	r.want("GET k", "$1\r\nv\r\n")
	r.do("SET k w")
}

func TestAKeyThatIsOverIsHiddenUntilThePrimaryDeletesIt(t *testing.T) {
	p, r, early, late := pairByHand(t, map[string]string{"notify-keyspace-events": "KEA"})
	sub := r.another()
	p.all("SET k v PX 1000", "SET n 1 PX 1000", "HSET h f v", "PEXPIRE h 1000", "SET kept v PX 1000",
		"RPUSH l a", "PEXPIRE l 1000")
	r.awaitSame(p)
	late.Advance(time.Hour)
	r.want("GET k", "$-1\r\n")
	r.want("EXISTS k n h kept", ":0\r\n")
	r.want("TTL k", ":-2\r\n")
	r.want("KEYS *", "*0\r\n")
	r.want("RANDOMKEY", "$-1\r\n")
	r.want("SCAN 0", "*2\r\n$1\r\n0\r\n*0\r\n")
	r.want("DBSIZE", ":5\r\n")
	// The primary's time is that of its commands.
	p.all("PERSIST kept", "INCR n", "HSET h g w", "RPUSH l b", "APPEND k x")
	r.awaitOffset(p)
	r.want("GET kept", "$1\r\nv\r\n")
	r.want("DBSIZE", ":5\r\n")
	late.SetBack(early.Now())
	r.awaitSame(p)
	r.want("GET n", "$1\r\n2\r\n")
	r.want("HLEN h", ":2\r\n")
	late.Advance(time.Hour)
	sub.do("PSUBSCRIBE __keyevent*")
	early.Advance(2 * time.Second)
	p.awaitDBSize(1)
	r.awaitSame(p)
	r.want("DBSIZE", ":1\r\n")
	for range 4 {
		v, err := sub.Receive()
		if err != nil || string(v.Elems[2].Str) != "__keyevent@0__:del" {
			t.Fatalf("heard %s, %v", v, err)
		}
	}
	if n := r.infoStat("expired_keys"); n != "0" {
		t.Errorf("the replica has expired %s keys itself", n)
	}
}

func TestAWritableReplicaDeletesTheKeysOfItsOwnClients(t *testing.T) {
	p, r, _, late := pairByHand(t, map[string]string{"replica-read-only": "no"})
	p.all("SET of-primary v PX 1000", "SET both v")
	r.awaitSame(p)
	r.all("SET own v PX 1000", "SET later v", "PEXPIRE later 2000", "PEXPIRE both 1000",
		"SET kept v PX 1000", "SET taken v PX 1000",
		"EVAL \"redis.call('SET', KEYS[1], 'v', 'PX', 1000)\" 1 scripted")
	p.all("SET kept w", "SET taken w PX 1000")
	r.awaitOffset(p)
	late.Advance(1500 * time.Millisecond)
	r.awaitDBSize(4) // of-primary, kept, taken, later
	r.want("GET kept", "$1\r\nw\r\n")
	r.do("CONFIG SET replica-read-only yes")
	late.Advance(time.Second)
	r.awaitDBSize(3)
	if n := r.infoStat("expired_keys"); n != "4" {
		t.Errorf("the replica has expired %s keys, want 4", n)
	}
	p.want("DBSIZE", ":4\r\n")
}

func TestAKeyThatIsOverEndsWhenTheReplicaLeads(t *testing.T) {
	p, r, _, late := pairByHand(t, nil)
	p.do("SET k v PX 1000")
	r.awaitSame(p)
	late.Advance(time.Hour)
	r.want("DBSIZE", ":1\r\n")
	r.do("REPLICAOF NO ONE")
	r.awaitDBSize(0)
}

func TestAnEvalOfThePrimaryThatReadsAKeyThatIsOverAtTheReplicaHasTheSameEffect(t *testing.T) {
	p, r, _, late := pairByHand(t, nil)
	p.do("SET lock owner PX 1000")
	r.awaitSame(p)
	late.Advance(time.Hour)
	p.all("EVAL 'if redis.call(\"GET\", \"lock\") == \"owner\" then "+
		"redis.call(\"PEXPIRE\", \"lock\", 7200000) end' 0",
		"SET lock other KEEPTTL", "GETEX lock PX 7300000", "SETRANGE lock 0 O", "EXPIRE lock 7500 GT",
		"RENAME lock moved")
	r.awaitSame(p)
	r.want("GET moved", "$5\r\nOther\r\n")
}

func TestWatchAndTrackingAndEventsFollowTheStream(t *testing.T) {
	p := newMember(t, nil)
	r := newMember(t, map[string]string{"notify-keyspace-events": "KEA"})
	r.follow(p)
	p.do("SET k v")
	r.awaitOffset(p)
	sub, caching, watching := r.another(), r.another(), r.another()
	sub.do("SUBSCRIBE __keyspace@0__:k")
	caching.all("HELLO 3", "CLIENT TRACKING ON")
	caching.do("GET k")
	watching.all("WATCH k", "MULTI", "GET k")
	p.do("SET k w")
	receive(t, sub.Conn, "*3\r\n$7\r\nmessage\r\n$16\r\n__keyspace@0__:k\r\n$3\r\nset\r\n")
	receive(t, caching.Conn, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n")
	watching.want("EXEC", "*-1\r\n")
	// All data come anew.
	caching.do("GET k")
	watching.all("WATCH k", "MULTI", "GET k")
	p.do("DEBUG CHANGE-REPL-ID")
	before := r.info("master_replid")
	p.do("CLIENT KILL TYPE replica")
	eventually(t, "another stream", func() bool { return r.info("master_replid") != before })
	receive(t, caching.Conn, ">2\r\n$10\r\ninvalidate\r\n_\r\n")
	watching.want("EXEC", "*-1\r\n")
}

func TestAReaderWaitsAtAReplica(t *testing.T) {
	p, r := pair(t, nil)
	for _, c := range []*member{r.another(), r.another()} {
		if err := c.Send("XREAD", "BLOCK", "0", "STREAMS", "s", "$"); err != nil {
			t.Fatal(err)
		}
		defer receive(t, c.Conn,
			"*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n")
	}
	awaitBlocked(t, r.Conn, 2)
	p.do("XADD s 1-1 f v")
}

// A waiter for an element would take what the primary tells.
func TestWaitersEndWhenTheirServerBecomesAReplica(t *testing.T) {
	p, r := newMember(t, nil), newMember(t, nil)
	var waiters []*member
	for _, line := range []string{
		"BLPOP q 0", "XREAD BLOCK 0 STREAMS s $", "BLMOVE q other LEFT LEFT 0", "WAIT 1 0",
	} {
		c := r.another()
		c.Send(strings.Fields(line)...)
		waiters = append(waiters, c)
	}
	awaitBlocked(t, r.Conn, len(waiters))
	r.do("REPLICAOF " + p.place())
	for _, c := range waiters {
		receive(t, c.Conn, "-UNBLOCKED force unblock from blocking operation, "+
			"instance state changed (master -> replica?)\r\n")
		expectClosed(t, c.Conn)
	}
	p.do("RPUSH q a")
	r.awaitUp()
	r.awaitSame(p)
}

func TestAReplicaDoesNotWaitForReplicas(t *testing.T) {
	_, r := pair(t, nil)
	r.refuses("WAIT 0 0", "ERR WAIT cannot be used with replica instances. "+
		"Please also note that since Redis 4.0 if a replica is configured to be writable "+
		"(which is not the default) writes to replicas are just local and are not propagated.")
	r.refuses("WAIT x y", "ERR WAIT cannot be used with replica instances.")
}

func TestAReplicaContinuesTheStreamAfterItsLinkWasCut(t *testing.T) {
	p, r := pair(t, nil)
	p.all("SELECT 3", "SET k 1")
	r.awaitSame(p)
	for i, cut := range []*member{p, r, p, r} {
		kind := "replica"
		if cut == r {
			kind = "master"
		}
		cut.want("CLIENT KILL TYPE "+kind, ":1\r\n")
		p.do("INCR k")
		r.awaitSame(p)
		eventually(t, "a partial synchronization", func() bool {
			return p.infoStat("sync_partial_ok") == fmt.Sprint(i+1)
		})
	}
	if n := p.infoStat("sync_full"); n != "1" {
		t.Errorf("%s full synchronizations", n)
	}
}

func TestAReplicaLeadsAndFollowsAgain(t *testing.T) {
	p, r := pair(t, nil)
	p.all("SELECT 3", "SET k 1")
	r.awaitSame(p)
	id, offset := p.info("master_replid"), r.info("master_repl_offset")
	r.do("REPLICAOF NO ONE")
	if r.info("role") != "master" || r.info("master_replid2") != id ||
		r.info("master_repl_offset") != offset || r.info("master_replid") == id {
		t.Errorf("the stream after the lead: %s", r.do("INFO replication").Str)
	}
	r.do("REPLICAOF NO ONE")
	if r.info("master_replid2") != id {
		t.Error("NO ONE for a primary changed its stream")
	}
	// The other one follows: its stream is the first part of this one's.
	r.do("SET new 1")
	p.follow(r)
	p.awaitSame(r)
	if a, b := r.infoStat("sync_full"), r.infoStat("sync_partial_ok"); a != "0" || b != "1" {
		t.Errorf("%s full and %s partial synchronizations", a, b)
	}
	// And back, after a write of its own: all data come.
	p.do("REPLICAOF NO ONE")
	p.do("SET own 1")
	p.follow(r)
	p.awaitSame(r)
	p.want("EXISTS own", ":0\r\n")
	if a := r.infoStat("sync_full"); a != "1" {
		t.Errorf("%s full synchronizations", a)
	}
}

func TestReplicasFollowInAChain(t *testing.T) {
	top, middle := pair(t, nil)
	end := newMember(t, nil)
	end.follow(middle)
	top.all("SET k 1", "SELECT 2", "MULTI", "INCR a", "INCR a", "EXEC")
	end.awaitSame(top)
	// The middle continues: so does the end.
	top.do("CLIENT KILL TYPE replica")
	top.do("SET k 2")
	end.awaitSame(top)
	if n := middle.infoStat("sync_full"); n != "1" {
		t.Errorf("the end got all data %s times", n)
	}
	// The middle gets all data: the end, too.
	top.do("DEBUG CHANGE-REPL-ID")
	top.do("CLIENT KILL TYPE replica")
	top.do("SET k 3")
	middle.awaitSame(top)
	end.awaitSame(top)
	if n := middle.infoStat("sync_full"); n != "2" {
		t.Errorf("the end got all data %s times", n)
	}
	// The middle leads: the end continues, with another id.
	middle.do("REPLICAOF NO ONE")
	middle.all("SELECT 7", "SET mine 1")
	end.awaitSame(middle)
	if a, b := middle.infoStat("sync_full"), middle.infoStat("sync_partial_ok"); a != "2" || b == "0" {
		t.Errorf("%s full and %s partial synchronizations", a, b)
	}
	// The end follows the top, past the middle.
	end.follow(top)
	end.awaitSame(top)
}

func TestARestartWithTheFileContinuesTheStream(t *testing.T) {
	for name, save := range map[string]string{"SHUTDOWN": "SHUTDOWN SAVE", "SAVE": "SAVE"} {
		t.Run(name, func(t *testing.T) {
			p := newMember(t, nil)
			dir := t.TempDir()
			r := newMember(t, map[string]string{"dir": dir})
			r.follow(p)
			p.all("SELECT 3", "SET k 1", "SET lease 1 PX 3600000")
			r.awaitSame(p)
			r.Send(strings.Fields(save)...)
			r.Receive()
			r.srv.Close()
			p.do("INCR k")
			again := newMember(t, map[string]string{"dir": dir, "replicaof": p.place()})
			again.awaitUp()
			again.awaitSame(p)
			if a, b := p.infoStat("sync_full"), p.infoStat("sync_partial_ok"); a != "1" || b != "1" {
				t.Errorf("%s full and %s partial synchronizations", a, b)
			}
		})
	}
}

func TestAReplicaLogsInAtItsPrimary(t *testing.T) {
	p := newMember(t, map[string]string{"requirepass": "secret"})
	p.all("ACL SETUSER repl on >other +psync +replconf +ping", "SET k v")
	r := newMember(t, nil)
	r.do("REPLICAOF " + p.place())
	eventually(t, "a refusal in the log", func() bool { return r.log.count("NOAUTH") > 0 })
	r.do("CONFIG SET masterauth wrong")
	eventually(t, "a wrong password in the log", func() bool {
		return r.log.count("unable to AUTH: -WRONGPASS") > 0
	})
	r.want("GET k", "$-1\r\n")
	r.do("CONFIG SET masterauth secret")
	r.awaitUp()
	r.awaitSame(p)
	r.all("CONFIG SET masteruser repl", "CONFIG SET masterauth other")
	p.do("CLIENT KILL TYPE replica")
	p.do("SET k w")
	eventually(t, "the replica is another user", func() bool {
		return strings.Contains(string(p.do("CLIENT LIST TYPE replica").Str), "user=repl ")
	})
	r.awaitSame(p)
}

func TestFailoverHandsTheLeadOver(t *testing.T) {
	p, r := pair(t, nil)
	p.all("SELECT 3", "SET k 1")
	writer := p.another()
	p.do("FAILOVER")
	// A write waits, and is refused then.
	writer.refuses("SET k 2", "READONLY")
	r.awaitRole("master")
	p.awaitRole("slave")
	p.awaitUp()
	r.all("SELECT 3", "INCR k")
	p.awaitSame(r)
	if a, b := r.infoStat("sync_full"), r.infoStat("sync_partial_ok"); a != "0" || b != "1" {
		t.Errorf("%s full and %s partial synchronizations", a, b)
	}
	if p.info("master_failover_state") != "no-failover" {
		t.Error("the failover has not ended")
	}
	// And back, to a named one.
	r.do("FAILOVER TO " + p.place() + " TIMEOUT 60000")
	p.awaitRole("master")
	r.awaitUp()
	p.do("SET k 3")
	r.awaitSame(p)
	r.refuses("FAILOVER", "ERR FAILOVER is not valid when server is a replica.")
}

// No server needs a file: neither the two, with or without a stream, nor the old primary's other replica.
// The other replica's link is up until the old primary has another stream, so it is never refused.
func TestAFailoverCostsNoFile(t *testing.T) {
	for _, setup := range []string{"PING", "SET k v"} {
		p, r := pair(t, nil)
		other := newMember(t, nil)
		other.follow(p)
		p.do(setup)
		r.awaitOffset(p)
		other.awaitOffset(p)
		for _, m := range []*member{p, r, other} {
			m.do("CONFIG RESETSTAT")
		}
		p.do("FAILOVER TO " + r.place())
		r.awaitRole("master")
		p.awaitUp()
		r.do("SET l v")
		other.awaitOffset(r)
		other.awaitSame(r)
		for _, m := range []*member{p, r} {
			if a, b := m.infoStat("sync_full"), m.infoStat("sync_partial_ok"); a != "0" || b != "1" {
				t.Errorf("after %s: %s full and %s partial synchronizations", setup, a, b)
			}
		}
		if other.log.count("NOMASTERLINK") != 0 {
			t.Errorf("after %s: the other replica was refused", setup)
		}
	}
}

func (m *member) awaitRole(role string) {
	m.t.Helper()
	eventually(m.t, "the role is "+role, func() bool { return m.info("role") == role })
}

func TestFailoverEndsWithoutAReplicaThatHasTheStream(t *testing.T) {
	p := newMember(t, nil)
	p.refuses("FAILOVER", "ERR FAILOVER requires connected replicas.")
	p.refuses("FAILOVER ABORT", "ERR No failover in progress.")
	mute := followMutely(t, p)
	p.do("SET k 1")
	p.do("FAILOVER")
	if s := p.info("master_failover_state"); s != "waiting-for-sync" {
		t.Errorf("the state is %s", s)
	}
	p.refuses("FAILOVER", "ERR FAILOVER already in progress.")
	p.refuses("REPLICAOF 127.0.0.1 1", "ERR REPLICAOF not allowed while failing over.")
	p.refuses("REPLICAOF NO ONE", "ERR REPLICAOF not allowed while failing over.")
	writer := p.another()
	writer.Send("SET", "k", "2")
	awaitBlocked(t, p.Conn, 1)
	p.do("FAILOVER ABORT")
	receive(t, writer.Conn, "+OK\r\n")
	p.do("FAILOVER TIMEOUT 1")
	eventually(t, "the timeout ends the failover", func() bool {
		return p.info("master_failover_state") == "no-failover"
	})
	p.refuses("FAILOVER TO 127.0.0.1 1", "ERR FAILOVER target HOST and PORT is not a replica.")
	// A target that is not there: this server leads again.
	p.do(fmt.Sprintf("FAILOVER TO 127.0.0.1 %d TIMEOUT 1 FORCE", mute))
	eventually(t, "the failover has ended", func() bool {
		return p.info("master_failover_state") == "no-failover" && p.info("role") == "master"
	})
	p.do("SET k 4")
}

// While the target does not reply the old primary follows it already. What redis-server 7.0.15 replies then.
func TestAFailoverUnderWayIsAbortedOnly(t *testing.T) {
	p := newMember(t, map[string]string{"enable-lock-commands": "yes"})
	p.do("HSET data 6f1c7a0e-8f0b-4f57-9d2f-0d5a1c8a1c11:1 1") // what a lock has, but of no script
	ln := listenLocal(t)                                       // the test accepts no connection
	port := ln.Addr().(*net.TCPAddr).Port
	c := p.followedFrom(port)
	target := fmt.Sprintf("127.0.0.1 %d", port)
	p.do("FAILOVER TO " + target)
	c.Send("REPLCONF", "ACK", p.info("master_repl_offset"))
	p.awaitRole("slave")
	for _, line := range []string{
		"REPLICAOF " + target, "REPLICAOF 127.0.0.1 1", "REPLICAOF 127.0.0.1 x", "REPLICAOF NO ONE",
	} {
		p.refuses(line, "ERR REPLICAOF not allowed while failing over.")
	}
	p.refuses("SET k 1", "READONLY")
	p.refuses("FAILOVER", "ERR FAILOVER already in progress.")
	p.do("FAILOVER ABORT")
	p.all("SET k 1")
	if role, n := p.info("role"), p.info("connected_slaves"); role != "master" || n != "0" {
		t.Errorf("after it the server is a %s with %s replicas", role, n)
	}
	p.want("LOCK.LIST", "*0\r\n")
}

// A replica gets no scripts, but what they have written.
func TestAReplicaThatLeadsListsTheLocksThatItHas(t *testing.T) {
	const owner = "6f1c7a0e-8f0b-4f57-9d2f-0d5a1c8a1c11:1"
	p, r := pair(t, map[string]string{"enable-lock-commands": "yes"})
	p.do("EVAL 'redis.call(\"HINCRBY\", KEYS[1], ARGV[1], 1) redis.call(\"PEXPIRE\", KEYS[1], 3600000)' 1 order:42 " + owner)
	r.awaitOffset(p)
	r.do("REPLICAOF NO ONE")
	if list := r.do("LOCK.LIST"); len(list.Elems) != 1 || !strings.Contains(string(list.Raw), owner) {
		t.Errorf("LOCK.LIST has %s", list)
	}
}

// followMutely has a connection follow p that acknowledges nothing. It returns the port that it names:
// no server listens there.
func followMutely(t *testing.T, p *member) (port int) {
	t.Helper()
	ln := listenLocal(t)
	port = ln.Addr().(*net.TCPAddr).Port
	ln.Close()
	p.followedFrom(port)
	return port
}

// followedFrom returns a connection that follows m, and names a port. The test speaks for the replica.
func (m *member) followedFrom(port int) *member {
	m.t.Helper()
	c := m.another()
	c.do(fmt.Sprintf("REPLCONF listening-port %d", port))
	if err := c.Send("PSYNC", "?", "-1"); err != nil {
		m.t.Fatal(err)
	}
	eventually(m.t, "the connection is a replica", func() bool {
		return strings.Contains(m.info("slave0"), "state=online")
	})
	return c
}

func TestWhatAReplicaHasNotReadEvictsNoKey(t *testing.T) {
	p := newMember(t, map[string]string{"maxmemory": "16mb", "maxmemory-policy": "allkeys-lru",
		"client-output-buffer-limit": "replica 0 0 0"})
	followMutely(t, p)
	value := strings.Repeat("v", 1<<20)
	for range 64 {
		if v, err := p.Do("SET", "k", value); err != nil || v.IsError() {
			t.Fatal(v, err)
		}
	}
	if n := p.infoStat("evicted_keys"); n != "0" {
		t.Errorf("%s keys were evicted", n)
	}
}

func TestAServerDoesNotFollowItself(t *testing.T) {
	p, r := pair(t, nil)
	p.do("SET k v")
	r.awaitSame(p)
	p.do("REPLICAOF " + r.place())
	p.awaitUp() // as in Redis a ring goes on with what it has
	p.do("REPLICAOF NO ONE")
	p.do("SET k w")
	r.awaitSame(p)
	p.do("REPLICAOF " + p.place())
	eventually(t, "it refuses itself", func() bool { return p.log.count("NOMASTERLINK") > 0 })
	p.want("GET k", "$1\r\nw\r\n")
	p.do("REPLICAOF NO ONE")
}

func TestAPrimaryThatIsNotThereIsTriedAgain(t *testing.T) {
	r := newMember(t, nil)
	r.do("SET k v")
	for _, place := range []string{
		"no.such.host.invalid 6379", "127.0.0.1 0", "256.1.1.1 1", "::1 1", "'' 1",
	} {
		before := r.log.count("The link with the MASTER has ended")
		r.do("REPLICAOF " + place)
		eventually(t, "two tries of "+place, func() bool {
			return r.log.count("The link with the MASTER has ended") >= before+2
		})
		if r.info("master_link_status") != "down" || r.info("role") != "slave" {
			t.Errorf("%s: %s", place, r.do("INFO replication").Str)
		}
		r.want("GET k", "$1\r\nv\r\n")
		r.do("REPLICAOF NO ONE")
	}
	r.refuses("REPLICAOF h -1", "ERR Invalid master port")
	r.refuses("REPLICAOF h 65536", "ERR Invalid master port")
	r.refuses("REPLICAOF h x", "ERR ")
}

func TestTheDirectiveReplicaofFollows(t *testing.T) {
	p := newMember(t, nil)
	p.do("SET k v")
	r := newMember(t, map[string]string{"replicaof": p.place()})
	r.awaitUp()
	r.awaitSame(p)
	want := func(value string) {
		t.Helper()
		if v := r.do("CONFIG GET replicaof"); string(v.Elems[1].Str) != value {
			t.Errorf("replicaof is %q, want %q", v.Elems[1].Str, value)
		}
	}
	want(p.place())
	r.want("REPLICAOF "+p.place(), "+OK Already connected to specified master\r\n")
	r.do("REPLICAOF NO ONE")
	want("")
	r.do("SLAVEOF 127.0.0.1 1")
	want("127.0.0.1 1")
	r.refuses("CONFIG SET replicaof '127.0.0.1 1'", "ERR ")
}

func TestRoleAndInfoShowThePhase(t *testing.T) {
	p, r := newMember(t, nil), newMember(t, nil)
	p.do("SET k v")
	role := func() string { return string(r.do("ROLE").Elems[3].Str) }
	offset := func() string { return r.do("ROLE").Elems[4].String() }
	r.do("REPLICAOF 127.0.0.1 0")
	eventually(t, "the phase is connect", func() bool { return role() == "connect" })
	if offset() != ":-1" || r.info("master_link_down_since_seconds") != "-1" ||
		r.info("master_last_io_seconds_ago") != "-1" {
		t.Errorf("offset %s, %s", offset(), r.do("INFO replication").Str)
	}
	r.follow(p)
	r.awaitSame(p)
	if role() != "connected" || offset() != ":"+p.info("master_repl_offset") ||
		r.info("master_sync_in_progress") != "0" || r.info("slave_read_only") != "1" ||
		r.info("master_link_down_since_seconds") != "" || r.info("slave_priority") != "100" ||
		r.info("replica_announced") != "1" {
		t.Errorf("offset %s, %s", offset(), r.do("INFO replication").Str)
	}
	have := r.info("slave_repl_offset")
	p.srv.Close()
	eventually(t, "the link is down", func() bool { return r.info("master_link_status") == "down" })
	eventually(t, "the link is down for a second", func() bool {
		return r.info("master_link_down_since_seconds") >= "1"
	})
	if offset() != ":-1" || r.info("slave_repl_offset") != have {
		t.Errorf("offset %s, %s", offset(), r.do("INFO replication").Str)
	}
}

// MONITOR, the counters and SLOWLOG of a replica show its primary's commands, and those that only steer the
// stream. The lines are those of redis-server 7.0.15 after the same commands.
func TestAReplicaShowsItsPrimarysCommands(t *testing.T) {
	p, r := pair(t, map[string]string{"slowlog-log-slower-than": "0", "repl-ping-replica-period": "3600"})
	p.do("SET before 1")
	r.awaitOffset(p)
	monitor := r.another()
	monitor.want("MONITOR", "+OK\r\n")
	r.all("CONFIG RESETSTAT", "SLOWLOG RESET")
	p.all("SET a 1", "SELECT 2", "SET b 2", "PUBLISH ch x", "MULTI", "INCR x", "INCR y", "EXEC",
		`EVAL "redis.call('incr','e') redis.call('incr','f')" 0`, "SADD s m", "SPOP s", "WAIT 1 0")
	shown := []string{
		`0 SET a 1`, `2 SELECT 2`, `2 SET b 2`, `2 PUBLISH ch x`, `2 MULTI`, `2 INCR x`, `2 INCR y`, `2 EXEC`,
		`2 MULTI`, `2 incr e`, `2 incr f`, `2 EXEC`, `2 SADD s m`, `2 SREM s m`,
	}
	for i := 0; i < len(shown); {
		v, err := monitor.Receive()
		if err != nil {
			t.Fatalf("MONITOR ends before %q: %v", shown[i], err)
		}
		_, line, _ := strings.Cut(string(v.Str), "[")
		db, words, _ := strings.Cut(line, " ")
		addr, words, _ := strings.Cut(words, "] ")
		if addr != p.srv.Addr() {
			continue // the test's own
		}
		if got := db + " " + strings.ReplaceAll(words, `"`, ""); got != shown[i] {
			t.Errorf("MONITOR shows %s, want %s", got, shown[i])
		}
		i++
	}
	stats := redistest.InfoFields(string(r.do("INFO commandstats").Str))
	for name, calls := range map[string]string{
		"set": "2", "select": "1", "publish": "1", "multi": "2", "incr": "4", "exec": "2",
		"sadd": "1", "srem": "1", "replconf": "1",
	} {
		if !strings.HasPrefix(stats["cmdstat_"+name], "calls="+calls+",") {
			t.Errorf("%s: %q, want %s calls", name, stats["cmdstat_"+name], calls)
		}
	}
	var slow []string
	for _, entry := range r.do("SLOWLOG GET 100").Elems {
		if string(entry.Elems[4].Str) == p.srv.Addr() {
			slow = append(slow, string(entry.Elems[3].Elems[0].Str))
		}
	}
	slices.Reverse(slow)
	const want = "SET SELECT SET PUBLISH MULTI INCR INCR MULTI incr incr SADD SREM REPLCONF"
	if got := strings.Join(slow, " "); got != want {
		t.Errorf("SLOWLOG has %s\nwant %s", got, want)
	}
	if list := string(r.do("CLIENT LIST TYPE master").Str); !strings.Contains(list, " cmd=replconf ") {
		t.Errorf("CLIENT LIST: %s", list)
	}
}

// As in Redis what follows a SELECT of a database that a replica has not goes to the database before.
func TestAReplicaWithFewerDatabasesSaysSo(t *testing.T) {
	p, r := newMember(t, nil), newMember(t, map[string]string{"databases": "2"})
	r.follow(p)
	p.all("SELECT 1", "SET a 1", "SELECT 5", "SET b 1", "WAIT 1 0")
	r.all("SELECT 1")
	r.want("DBSIZE", ":2\r\n")
	if r.log.count("sending an error to its master: 'ERR DB index is out of range' "+
		"after processing the command 'select'") != 1 {
		t.Error("the log has no line")
	}
}
