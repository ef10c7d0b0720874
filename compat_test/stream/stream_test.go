package stream

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/redistest"
)

// side is a server and what it tells.
type side struct {
	name  string
	addr  string
	told  *Log
	conns map[string]*wire.Conn
}

func (s *side) conn(t *testing.T, name string) *wire.Conn {
	t.Helper()
	if s.conns[name] == nil {
		c, err := wire.Dial(s.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		s.conns[name] = c
	}
	return s.conns[name]
}

func oracle(t *testing.T, program string, directives ...string) *side {
	t.Helper()
	srv := redistest.Run(t, redistest.Command{
		Program: program, Args: slices.Concat(Directives, []string{"--enable-debug-command", "yes"}, directives),
	})
	told, stop, err := Replica(srv.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return &side{"oracle", srv.Addr, told, map[string]*wire.Conn{}}
}

func target(t *testing.T, emulate string) *side {
	t.Helper()
	srv := lockredis.New(lockredis.Config{
		Directives: map[string]string{"enable-debug-command": "yes", "emulate": emulate},
	})
	l := NewLog()
	backdoor.Open(srv).Follow(l.Add)
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return &side{"lockredis", srv.Addr(), l, map[string]*wire.Conn{}}
}

// play sends a case's commands. A line "name: command" uses a connection of its own; behind
// "name>" the reply is not waited for, and "name<" waits for it.
func (s *side) play(t *testing.T, script string) (replies []string) {
	t.Helper()
	for _, line := range strings.Split(script, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, sign := "main", byte(':')
		if i := strings.IndexAny(line, ":<>"); i > 0 && i < 4 {
			name, sign, line = line[:i], line[i], strings.TrimSpace(line[i+1:])
		}
		c := s.conn(t, name)
		if sign != '<' {
			words, err := wire.Split(line)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Send(words...); err != nil {
				t.Fatal(err)
			}
		}
		if sign == '>' {
			s.awaitBlocked(t)
			continue
		}
		v, err := c.Receive()
		if err != nil {
			t.Fatalf("%s: %s: %v", s.name, line, err)
		}
		replies = append(replies, times.ReplaceAllString(v.String(), "T"))
	}
	return replies
}

// awaitBlocked waits until a client waits.
func (s *side) awaitBlocked(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		v, err := s.conn(t, "look").Do("INFO", "clients")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(v.Str), "blocked_clients:0") {
			return
		}
	}
	t.Fatal("no client waits")
}

func (s *side) stream(t *testing.T, script, mark string) (lines, replies []string) {
	t.Helper()
	replies = s.play(t, script)
	if _, err := s.conn(t, "look").Do("PUBLISH", "mark", mark); err != nil {
		t.Fatal(err)
	}
	lines, err := s.told.Await("PUBLISH mark " + mark)
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return lines, replies
}

func TestChangesAreToldAsRedisTellsThem(t *testing.T) {
	redistest.Asked(t)
	compare(t, oracle(t, ""), target(t, "redis-7.0"), slices.Concat(cases, unitCases))
}

func TestChangesAreToldAsValkeyTellsThem(t *testing.T) {
	program := redistest.FindValkey(t)
	eager := []string{"--lazyfree-lazy-expire", "no", "--lazyfree-lazy-server-del", "no"} // lockredis's defaults
	compare(t, oracle(t, program, eager...), target(t, "valkey-9.1"), valkeyCases)
}

// compare plays scripts on both, and compares what they reply and what they tell.
func compare(t *testing.T, redis, lock *side, scripts []string) {
	for i, script := range scripts {
		mark := strconv.Itoa(i)
		for _, s := range []*side{redis, lock} {
			s.play(t, "SELECT 0\nFLUSHALL")
			s.stream(t, "", "begin"+mark)
		}
		want, wantReplies := redis.stream(t, script, mark)
		got, gotReplies := lock.stream(t, script, mark)
		if !slices.Equal(got, want) {
			t.Errorf("%s\n replies %q\n got %s\nwant %s", strings.TrimSpace(script), gotReplies,
				strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
		if !slices.Equal(gotReplies, wantReplies) {
			t.Errorf("%s\n replies %q, want %q", strings.TrimSpace(script), gotReplies, wantReplies)
		}
	}
}
