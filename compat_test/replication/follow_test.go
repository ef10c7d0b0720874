package replication

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
)

func TestAReplicaContinuesWhereItsLinkWasCut(t *testing.T) {
	p := primary(t, map[string]string{"repl-backlog-size": "100000"})
	r := replicaOf(p)
	if got := p.syncs(); got != "1 0 1" && got != "1 0 0" {
		t.Errorf("after the first synchronization the counters are %s", got)
	}
	p.do("CONFIG", "RESETSTAT")
	for i := range 20 {
		p.do("SELECT", strconv.Itoa(i%3))
		p.do("CLIENT", "KILL", "TYPE", "replica")
		p.do("SET", "k"+strconv.Itoa(i), "v")
		awaitSame(p, r)
	}
	if got := p.syncs(); got != "0 20 0" {
		t.Errorf("after 20 cuts the counters are %s", got)
	}
	p.do("CONFIG", "SET", "repl-backlog-size", "16384")
	for range 3 {
		if err := p.conn.SendAll([]string{"CLIENT", "KILL", "TYPE", "replica"},
			[]string{"SET", "big", strings.Repeat("x", 20000)}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := p.conn.Receive(); err != nil {
				t.Fatal(err)
			}
		}
		awaitSame(p, r)
	}
	if got := p.syncs(); got != "3 20 3" {
		t.Errorf("after 3 cuts that were longer than the backlog the counters are %s", got)
	}
}

// INFO and ROLE of the primary, and the counters, are redis-server's after the same events.
func TestFiguresOfAPrimaryAreThoseOfRedis(t *testing.T) {
	lock, oracle := primary(t, nil), redis(t)
	var figures [2]string
	for i, p := range []*server{lock, oracle} {
		r := replicaOf(p)
		p.do("SET", "a", "1")
		p.do("CLIENT", "KILL", "TYPE", "slave")
		p.do("SET", "b", "1")
		awaitSame(p, r)
		bare := p.another()
		for _, line := range [][]string{
			{"REPLCONF", "listening-port", "7", "ip-address", "replica.test"},
			{"REPLCONF", "capa", "eof", "capa", "psync2"},
		} {
			bare.do(line...)
		}
		var flags string
		for line := range strings.Lines(string(p.do("CLIENT", "LIST", "TYPE", "replica").Str)) {
			for word := range strings.FieldsSeq(line) {
				if name, _, _ := strings.Cut(word, "="); name == "flags" || name == "cmd" || name == "user" {
					flags += word + " "
				}
			}
		}
		info := p.info("replication")
		line := info["slave0"]
		_, port, _ := strings.Cut(r.addr, ":")
		line = strings.ReplaceAll(line, "port="+port, "port=P")
		line = line[:strings.Index(line, ",offset")]
		role := p.do("ROLE")
		figures[i] = fmt.Sprint(p.syncs(), "; ", line, "; ", flags, "; ", info["connected_slaves"], " ",
			info["repl_backlog_active"], " ", info["second_repl_offset"], "; ",
			string(role.Elems[0].Str), " ", len(role.Elems[2].Elems), " ",
			info["master_repl_offset"] == role.Elems[1].String()[1:])
	}
	if figures[0] != figures[1] {
		t.Errorf("lockredis:    %s\nredis-server: %s", figures[0], figures[1])
	}
}

func TestExpiryReachesAReplicaAsDeletion(t *testing.T) {
	p := primary(t, nil)
	r := replicaOf(p)
	for i := range 200 {
		p.do("SET", "lease"+strconv.Itoa(i), "v", "PX", strconv.Itoa(1+i%40))
	}
	p.await("the end of all leases", func() bool { return number(t, p.do("DBSIZE")) == 0 })
	awaitSame(p, r)
	if n := number(t, r.do("DBSIZE")); n != 0 { // a replica keeps keys until it is told
		t.Errorf("the replica has %d keys", n)
	}
}

func TestTransactionsAndScriptsArriveWhole(t *testing.T) {
	p := primary(t, nil)
	r := replicaOf(p)
	var stop sync.WaitGroup
	for name, line := range map[string][]string{
		"script": {"EVAL", "for i=1,5 do redis.call('incr',KEYS[i]) end", "5", "s1", "s2", "s3", "s4", "s5"},
	} {
		c := p.another()
		stop.Go(func() {
			for range 500 {
				if v, err := c.conn.Do(line...); err != nil || v.IsError() {
					t.Errorf("%s: %s %v", name, v, err)
					return
				}
			}
		})
	}
	c := p.another()
	stop.Go(func() {
		for range 500 {
			for _, line := range []string{"MULTI", "INCR m1", "INCR m2", "INCR m3", "EXEC"} {
				if v, err := c.conn.Do(strings.Fields(line)...); err != nil || v.IsError() {
					t.Errorf("%s: %s %v", line, v, err)
					return
				}
			}
		}
	})
	done := make(chan struct{})
	go func() { stop.Wait(); close(done) }()
	for looks := 0; ; looks++ {
		for _, keys := range [][]string{{"m1", "m2", "m3"}, {"s1", "s2", "s3", "s4", "s5"}} {
			values := r.do(append([]string{"MGET"}, keys...)...).Elems
			for _, v := range values {
				if string(v.Str) != string(values[0].Str) {
					t.Fatalf("the replica shows %v of %v", values, keys)
				}
			}
		}
		select {
		case <-done:
			awaitSame(p, r)
			t.Logf("%d looks", looks)
			return
		default:
		}
	}
}

func TestMessagesReachSubscribersOfAReplica(t *testing.T) {
	p := primary(t, nil)
	r := replicaOf(p)
	sub := r.another()
	sub.do("SUBSCRIBE", "c")
	for i := range 100 {
		p.do("PUBLISH", "c", strconv.Itoa(i))
	}
	for i := range 100 {
		v, err := sub.conn.Receive()
		if err != nil || string(v.Elems[2].Str) != strconv.Itoa(i) {
			t.Fatalf("message %d is %s, %v", i, v, err)
		}
	}
}

// Two replicas synchronize at once, beside BGSAVE and under writes; a third follows the first.
func TestSeveralSynchronizationsRunBesideASave(t *testing.T) {
	p := primary(t, nil)
	for i := range 200 {
		line := []string{"MSET"}
		for j := range 100 {
			line = append(line, fmt.Sprintf("k%d", i*100+j), strings.Repeat("v", 50))
		}
		p.do(line...)
	}
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 2 {
		c := p.another()
		writers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 1))
			for {
				select {
				case <-stop:
					return
				default:
				}
				key := "k" + strconv.Itoa(rnd.IntN(25000))
				line := [][]string{
					{"APPEND", key, "x"}, {"DEL", key}, {"SET", key, "y", "PX", "300"}, {"SET", key, "z"},
				}[rnd.IntN(4)]
				if v, err := c.conn.Do(line...); err != nil || v.IsError() {
					t.Errorf("%v: %s %v", line, v, err)
					return
				}
			}
		})
	}
	p.do("BGSAVE")
	first := replicaOf(p)
	second, third := replicaOf(p), replicaOf(first)
	for range 3 {
		p.another().ask("BGSAVE")
		for _, r := range []*server{first, second} {
			r.do("REPLICAOF", "NO", "ONE")
			r.do("DEBUG", "CHANGE-REPL-ID")
			host, port, _ := net.SplitHostPort(p.addr)
			r.do("REPLICAOF", host, port)
		}
		first.awaitUp()
		second.awaitUp()
	}
	close(stop)
	writers.Wait()
	awaitSame(p, first, second)
	third.await("the chained replica", func() bool {
		return string(third.do("DEBUG", "DIGEST").Str) == string(p.do("DEBUG", "DIGEST").Str)
	})
	t.Logf("synchronizations (full, partial, refused): %s", p.syncs())
}

func TestWaitCountsTheReplicasThatHaveAClientsChanges(t *testing.T) {
	p := primary(t, nil)
	a, b := replicaOf(p), replicaOf(p)
	p.do("SET", "k", "1")
	if n := number(t, p.do("WAIT", "2", "0")); n != 2 {
		t.Errorf("WAIT 2 returns %d", n)
	}
	thaw := b.freeze()
	defer thaw()
	p.do("SET", "k", "2")
	if n := number(t, p.do("WAIT", "1", "60000")); n != 1 {
		t.Errorf("with one of two replicas stopped WAIT 1 returns %d", n)
	}
	if n := number(t, p.do("WAIT", "2", "100")); n != 1 {
		t.Errorf("with one of two replicas stopped WAIT 2 returns %d", n)
	}
	// A client that only sees another client's change waits for it, too: a request is sent again
	// over another connection.
	reader := p.another()
	reader.do("GET", "k")
	if n := number(t, reader.do("WAIT", "2", "100")); n != 1 {
		t.Errorf("WAIT 2 of a client that has read returns %d", n)
	}
	var waits sync.WaitGroup
	for range 5 {
		c := p.another()
		c.do("SET", "k", "3")
		waits.Go(func() {
			if v, err := c.conn.Do("WAIT", "2", "0"); err != nil || v.String() != ":2" {
				t.Errorf("WAIT 2 returns %s %v when the replica continues", v, err)
			}
		})
	}
	p.await("five waits", func() bool { return p.info("clients")["blocked_clients"] == "5" })
	thaw()
	waits.Wait()
	awaitSame(p, a, b)
}

func TestMinReplicasCountsThoseThatAnswer(t *testing.T) {
	p := primary(t, nil)
	r := replicaOf(p)
	p.do("CONFIG", "SET", "min-replicas-to-write", "1", "min-replicas-max-lag", "1")
	p.await("a write", func() bool { return !p.ask("SET", "a", "1").IsError() })
	thaw := r.freeze()
	defer thaw()
	p.await("a refusal", func() bool {
		return strings.HasPrefix(p.ask("SET", "a", "1").String(), "-NOREPLICAS")
	})
	thaw()
	p.await("a write after the replica continues", func() bool { return !p.ask("SET", "a", "2").IsError() })
	p.do("CONFIG", "SET", "min-replicas-to-write", "2")
	if v := p.ask("SET", "a", "1"); !strings.HasPrefix(v.String(), "-NOREPLICAS") {
		t.Errorf("one of two replicas: %s", v)
	}
	if got := p.info("replication")["min_slaves_good_slaves"]; got != "1" {
		t.Errorf("%s good replicas", got)
	}
}

func TestAReplicaThatHangsIsDropped(t *testing.T) {
	p := primary(t, map[string]string{"repl-timeout": "2"})
	r := replicaOf(p)
	thaw := r.freeze()
	defer thaw()
	begin := time.Now()
	p.await("the end of the link", func() bool { return p.info("replication")["connected_slaves"] == "0" })
	t.Logf("dropped after %v", time.Since(begin).Round(time.Millisecond))
	thaw()
	p.do("SET", "k", "v")
	awaitSame(p, r)
}

func TestRedisCliCopiesTheData(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		redistest.Missing(t, "redis-cli")
	}
	p := primary(t, nil)
	_, port, _ := net.SplitHostPort(p.addr)
	for i := range 3000 {
		p.do("SET", "k"+strconv.Itoa(i), strings.Repeat("v", i))
	}
	p.do("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)")
	for _, option := range []string{"--rdb", "--functions-rdb"} {
		dir := t.TempDir()
		copying := exec.Command(cli, "-p", port, option, filepath.Join(dir, "dump.rdb"))
		if out, err := copying.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", option, err, out)
		}
		reader := redis(t, "--dir", dir)
		functions := reader.do("FUNCTION", "LIST")
		same := string(reader.do("DEBUG", "DIGEST").Str) == string(p.do("DEBUG", "DIGEST").Str)
		switch n := number(t, reader.do("DBSIZE")); {
		case len(functions.Elems) != 1:
			t.Errorf("%s has the functions %s", option, functions)
		case option == "--rdb" && !same:
			t.Errorf("%s has other data: %d keys", option, n)
		case option == "--functions-rdb" && n != 0:
			t.Errorf("%s has %d keys", option, n)
		}
	}
	show := exec.Command(cli, "-p", port, "--replica")
	out, err := show.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := show.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = show.Process.Kill(); _ = show.Wait() })
	p.await("redis-cli as a replica", func() bool { return p.info("replication")["connected_slaves"] == "1" })
	p.do("SET", "shown", "1")
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), `"shown"`) {
			return
		}
	}
	t.Error("redis-cli --replica does not show the SET")
}
