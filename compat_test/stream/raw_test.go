package stream

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// raw is a connection that follows a server with PSYNC.
type raw struct {
	t *testing.T
	r *bufio.Reader
}

func rawReplica(t *testing.T, addr string) *raw {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	r := &raw{t, bufio.NewReader(nc)}
	if _, err := io.WriteString(nc, "REPLCONF capa psync2\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := r.r.ReadString('\n'); err != nil || line != "+OK\r\n" {
		t.Fatalf("%q %v", line, err)
	}
	if _, err := io.WriteString(nc, "PSYNC ? -1\r\n"); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := r.r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if size, ok := strings.CutPrefix(strings.TrimSpace(line), "$"); ok {
			n, err := strconv.Atoi(size)
			if err == nil {
				_, err = r.r.Discard(n)
			}
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
	}
}

// until returns the bytes up to a mark in lower case, with T in place of times.
func (r *raw) until(mark string) string {
	r.t.Helper()
	var got bytes.Buffer
	for !bytes.HasSuffix(got.Bytes(), []byte("\r\n"+mark+"\r\n")) {
		line, err := r.r.ReadBytes('\n')
		if err != nil {
			r.t.Fatalf("%v after %q", err, got.Bytes())
		}
		got.Write(line)
	}
	return times.ReplaceAllString(strings.ToLower(got.String()), "T")
}

// TestTheBytesOfTheStreamAreThoseOfRedis compares what a replica reads from its socket, byte for byte:
// also where SELECT, MULTI and EXEC are. Only names may have another case.
func TestTheBytesOfTheStreamAreThoseOfRedis(t *testing.T) {
	redistest.Asked(t)
	redis := redistest.Start(t, slices.Concat(Directives, []string{"--enable-debug-command", "yes"})...)
	srv := lockredis.New(lockredis.Config{Directives: map[string]string{
		"enable-debug-command": "yes", "repl-ping-replica-period": "3600", "repl-timeout": "7200",
	}})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	sides := []*side{
		{"redis-server", redis.Addr, nil, map[string]*wire.Conn{}},
		{"lockredis", srv.Addr(), nil, map[string]*wire.Conn{}},
	}
	var heard [2]*raw
	for i, s := range sides {
		heard[i] = rawReplica(t, s.addr)
	}
	total := 0
	for i, script := range slices.Concat(cases, unitCases) {
		var got [2]string
		for j, s := range sides {
			s.play(t, "SELECT 0\nFLUSHALL")
			s.play(t, script)
			mark := "mark-" + strconv.Itoa(i)
			if _, err := s.conn(t, "look").Do("PUBLISH", "mark", mark); err != nil {
				t.Fatal(err)
			}
			got[j] = heard[j].until(mark)
		}
		total += len(got[0])
		if got[0] != got[1] {
			t.Errorf("%s\nredis-server: %q\nlockredis:    %q", strings.TrimSpace(script), got[0], got[1])
		}
	}
	t.Logf("%d bytes", total)
}
