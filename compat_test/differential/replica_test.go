package differential

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// leastBacklog is the smallest backlog that CONFIG SET takes, in bytes.
const leastBacklog = 16 << 10

// TestAReplicaOfRedisHasTheDataOfGeneratedCommands runs generated commands on lockredis. A redis-server
// follows it, and its link is cut again and again: in every third cut more is written than the backlog
// keeps. After each cut both have the same data.
func TestAReplicaOfRedisHasTheDataOfGeneratedCommands(t *testing.T) {
	s := readSettings(t)
	addr := startInProcess(t)
	host, port, _ := net.SplitHostPort(addr)
	follows := []string{"--replicaof", host + " " + port}
	srv := redistest.Start(t, slices.Concat(follows, directives, []string{"--loglevel", "notice"})...)
	replica := redistest.Dial(t, srv.Addr)
	p, gen := newPlayer(t, addr), newMaker(s.only).sequences()
	main := p.conns[0]
	mustDo(t, main, "CONFIG", "SET", "repl-backlog-size", decimal(leastBacklog))
	f := &followed{t: t, primary: main, replica: replica}
	f.await("the first synchronization", func() bool { return f.of(replica)["master_link_status"] == "up" })
	for i, begin := 0, time.Now(); time.Since(begin) < s.budget && !t.Failed(); i++ {
		cut := i%8 == 7
		if cut {
			f.cut()
		}
		seq := gen.Example(int(s.seed) + i)
		if seq.mentions("fail") {
			continue // as in Redis, a BITFIELD that only fails may make a string longer, and is not told
		}
		mustDo(t, replica, seq.limits()...) // the bytes of a HyperLogLog depend on one
		p.play(seq)
		if cut {
			f.check(int(s.seed)+i, seq)
		}
	}
	log, err := os.ReadFile(filepath.Join(srv.Dir, "log")) // sequences reset the counters of INFO
	if err != nil {
		t.Fatal(err)
	}
	full := strings.Count(string(log), "Full resync from master")
	partial := strings.Count(string(log), "Successful partial resynchronization")
	t.Logf("LOCKREDIS_DIFF_SEED=%d: %d commands, %d cuts, %d full and %d partial synchronizations, %s bytes",
		s.seed, p.commands, f.cuts, full, partial, f.of(replica)["slave_repl_offset"])
	if full < f.cuts/3 || partial < f.cuts/3 {
		t.Errorf("%d cuts have caused %d full and %d partial synchronizations", f.cuts, full, partial)
	}
}

// followed is a lockredis and its replica.
type followed struct {
	t                *testing.T
	primary, replica *wire.Conn
	cuts             int
}

// of returns what INFO replication says.
func (f *followed) of(c *wire.Conn) map[string]string {
	f.t.Helper()
	return redistest.InfoFields(string(mustDo(f.t, c, "INFO", "replication").Str))
}

// cut closes the link. In every third cut the backlog loses what the replica needs before it is back.
func (f *followed) cut() {
	f.t.Helper()
	lines := [][]string{{"CLIENT", "KILL", "TYPE", "replica"}}
	if f.cuts++; f.cuts%3 == 0 {
		lines = append(lines, []string{"PUBLISH", "filler", strings.Repeat("x", leastBacklog)})
	}
	if _, err := exchangePushes(f.primary, lines, func(int, wire.Value) {}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *followed) await(what string, done func() bool) bool {
	f.t.Helper()
	came := redistest.Poll(time.Minute, done)
	if !came {
		f.t.Errorf("%s does not come within a minute; primary %v, replica %v",
			what, f.of(f.primary), f.of(f.replica))
	}
	return came
}

// check waits until the replica has all of the stream, and compares the data.
func (f *followed) check(seed int, seq sequence) {
	f.t.Helper()
	var here, there string
	same := func() bool {
		info, told := f.of(f.replica), f.of(f.primary)["master_repl_offset"]
		if info["master_link_status"] != "up" || info["slave_repl_offset"] != told {
			return false
		}
		here = string(mustDo(f.t, f.primary, "DEBUG", "DIGEST").Str)
		there = string(mustDo(f.t, f.replica, "DEBUG", "DIGEST").Str)
		return here == there
	}
	if !f.await("the same data", same) {
		f.t.Errorf("seed %d: digests %s and %s after%#v", seed, here, there, seq)
	}
}
