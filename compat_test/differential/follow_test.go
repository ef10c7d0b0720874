package differential

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/resp"
)

// TestWhatIsToldRebuildsTheData runs generated commands on one server, and on another one the lines
// that the first tells. A command that changes data and does not say so makes them differ.
func TestWhatIsToldRebuildsTheData(t *testing.T) {
	s := readSettings(t)
	f := follow(t)
	addr := startPrepared(t, func(srv *lockredis.Server) { backdoor.Open(srv).Follow(f.hear) })
	p, gen := newPlayer(t, addr), newMaker(s.only).sequences()
	for i, begin := 0, time.Now(); time.Since(begin) < s.budget/5 && !t.Failed(); i++ {
		seq := gen.Example(int(s.seed) + i)
		if seq.mentions("fail") {
			continue // as in Redis, a BITFIELD that only fails may make a string longer, and is not told
		}
		f.take()
		f.run(0, argsOf(seq.limits())) // the bytes of a HyperLogLog depend on one
		p.play(seq)
		digest := []string{"DEBUG", "DIGEST"}
		if want := string(p.send(p.conns[0], digest).Str); f.run(0, argsOf(digest)) != want {
			t.Errorf("seed %d: these differ: %q, after%#v\nIt was told:\n  %s", int(s.seed)+i,
				f.differing(func(line ...string) wire.Value { return p.send(p.conns[0], line) }), seq,
				strings.Join(f.take(), "\n  "))
		}
	}
	t.Logf("LOCKREDIS_DIFF_SEED=%d: %d commands", s.seed, p.commands)
}

// player sends sequences to one server.
type player struct {
	t        *testing.T
	conns    [2]*wire.Conn
	commands int
}

func newPlayer(t *testing.T, addr string) *player {
	t.Helper()
	p := &player{t: t}
	for i := range p.conns {
		c, err := wire.Dial(addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		p.conns[i] = c
	}
	return p
}

// send sends a command and returns its reply.
func (p *player) send(conn *wire.Conn, line []string) wire.Value {
	p.t.Helper()
	p.commands++
	replies, err := exchangePushes(conn, [][]string{line}, func(int, wire.Value) {})
	if err != nil {
		p.t.Fatalf("%s: %v", cliLine(line), err)
	}
	return replies[0]
}

// play sends a sequence.
func (p *player) play(seq sequence) {
	p.t.Helper()
	for _, line := range append(seq.prefix(), seq.limits()) {
		p.send(p.conns[0], line)
	}
	place := 0
	for _, st := range seq.steps {
		for _, e := range st.emit(&place, seq.exceptionOf) {
			conn := p.conns[0]
			if e.other {
				conn = p.conns[1]
			}
			p.send(conn, e.args)
		}
	}
	p.send(p.conns[0], []string{"RESET"})
}

// follower is a server that runs what another one tells.
type follower struct {
	t    *testing.T
	call func(db int, line resp.Args, use func(resp.Reply))

	mu   sync.Mutex
	told []string // the lines, behind their databases
}

// take returns the lines that were told, and forgets them.
func (f *follower) take() (told []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	told, f.told = f.told, nil
	return told
}

// follow starts a follower. Its clock stands still: keys end when it is told so.
func follow(t *testing.T) *follower {
	t.Helper()
	srv := lockredis.New(lockredis.Config{Clock: expiry.NewManual(time.Now())})
	f := &follower{t: t, call: backdoor.Open(srv).Call}
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return f
}

func argsOf(words []string) resp.Args {
	args := make(resp.Args, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	return args
}

// run runs a command and returns the text of its reply.
func (f *follower) run(db int, line resp.Args) (reply string) {
	f.call(db, line, func(r resp.Reply) { reply = r.Text() })
	return reply
}

// differing returns the keys with different values on the two servers, each behind its database.
// send asks the other server. A key may be on one server only.
func (f *follower) differing(send func(line ...string) wire.Value) (keys []string) {
	for db := range databases {
		send("SELECT", decimal(db))
		all := map[string]bool{}
		for _, key := range send("KEYS", "*").Elems {
			all[string(key.Str)] = true
		}
		f.call(db, argsOf([]string{"KEYS", "*"}), func(r resp.Reply) {
			for _, key := range r.Elems() {
				all[strings.Clone(key.Text())] = true
			}
		})
		for key := range all {
			line := []string{"DEBUG", "DIGEST-VALUE", key}
			var got string
			f.call(db, argsOf(line), func(r resp.Reply) { got = strings.Clone(r.Elems()[0].Text()) })
			if got != string(send(line...).Elems[0].Str) {
				keys = append(keys, decimal(db)+" "+key)
			}
		}
	}
	return keys
}

// hear runs a line, which must succeed. The lines between MULTI and EXEC run one by one: no client
// looks meanwhile.
func (f *follower) hear(db int, line resp.Args) {
	words := make([]string, len(line))
	for i := range line {
		words[i] = line.String(i)
	}
	f.mu.Lock()
	f.told = append(f.told, decimal(db)+" "+cliLine(words))
	f.mu.Unlock()
	if words[0] == "MULTI" || words[0] == "EXEC" {
		return
	}
	if reply := f.run(db, withoutLimit(line)); strings.HasPrefix(reply, "ERR ") {
		f.t.Errorf("%s: %s", cliLine(words), reply)
	}
}

// withoutLimit leaves LIMIT out of an XADD or XTRIM with an exact trim: only a replica of Redis
// takes it.
func withoutLimit(line resp.Args) resp.Args {
	if name := strings.ToUpper(line.String(0)); name != "XADD" && name != "XTRIM" {
		return line
	}
	exact := slices.IndexFunc(line, func(word []byte) bool { return string(word) == "=" })
	limit := slices.IndexFunc(line, func(word []byte) bool { return strings.EqualFold(string(word), "limit") })
	if exact < 0 || limit < 0 {
		return line
	}
	return slices.Delete(slices.Clone(line), limit, limit+2)
}
