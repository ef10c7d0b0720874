package replication

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// A primary that stops in each phase. ROLE and INFO of its replica are redis-server's.
func TestThePhasesOfALinkAreThoseOfRedis(t *testing.T) {
	var shown [2][]string
	for i, r := range []*server{primary(t, nil), redis(t)} {
		show := func(phase string) {
			t.Helper()
			r.await("the phase "+phase, func() bool { return string(r.do("ROLE").Elems[3].Str) == phase })
			info := r.info("replication")
			shown[i] = append(shown[i], fmt.Sprint(phase, ": ", r.do("ROLE").Elems[4], " ",
				info["master_link_status"], " ", info["master_sync_in_progress"], " ",
				info["master_last_io_seconds_ago"], " ", info["master_sync_total_bytes"], " ",
				info["master_link_down_since_seconds"] != "", " ", info["slave_read_repl_offset"] != ""))
		}
		port, err := redistest.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		r.do("REPLICAOF", "127.0.0.1", port)
		show("connect")
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		_, port, _ = net.SplitHostPort(ln.Addr().String())
		r.do("REPLICAOF", "127.0.0.1", port)
		nc, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		show("handshake")
		in := bufio.NewReader(nc)
		for _, step := range []struct{ hears, says string }{
			{"PING", "+PONG"}, {"listening-port", "+OK"}, {"psync2", "+OK"},
			{"PSYNC", "+FULLRESYNC " + strings.Repeat("a", 40) + " 5\r\n$1000"},
		} {
			for line := ""; !strings.Contains(line, step.hears); {
				if line, err = in.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			if step.hears == "PSYNC" {
				show("handshake")
			}
			fmt.Fprint(nc, step.says, "\r\n")
		}
		r.await("the file's size", func() bool {
			return r.info("replication")["master_sync_total_bytes"] == "1000"
		})
		show("sync")
		r.do("REPLICAOF", "NO", "ONE")
	}
	for i := range shown[0] {
		if shown[0][i] != shown[1][i] {
			t.Errorf("lockredis shows    %s\nredis-server shows %s", shown[0][i], shown[1][i])
		}
	}
}
