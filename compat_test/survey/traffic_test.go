package survey

import (
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// moved is what connections have moved, as INFO has it.
type moved struct{ in, out, reads, writes, commands int64 }

// ledger asks a server on one connection and subtracts what that connection itself moves.
type ledger struct {
	*server
	own moved
}

func (l *ledger) do(args ...string) string {
	l.t.Helper()
	reply := l.server.do(args...)
	l.own.in += int64(len(wire.AppendCommand(nil, args...)))
	l.own.out += int64(len(reply.Raw))
	l.own.reads++
	l.own.writes++
	l.own.commands++
	return string(reply.Str)
}

// begin sets the counters to 0. RESETSTAT itself is counted after that.
func (l *ledger) begin() {
	l.do("CONFIG", "RESETSTAT")
	l.own = moved{out: 5, writes: 1, commands: 1}
}

// end waits until another connection has come and gone, and returns what others have moved
// since begin.
func (l *ledger) end() moved {
	l.t.Helper()
	deadline := time.Now().Add(wire.DefaultTimeout)
	for {
		own := l.own
		values := counters(l.do("INFO", "clients", "stats"))
		if values["connected_clients"] == 1 && values["total_connections_received"] == 1 {
			return values.less(own, l.own.in-own.in)
		}
		if time.Now().After(deadline) {
			l.t.Fatal("a connection does not end")
		}
	}
}

// less returns the traffic without own and without the request of INFO, a read of that many
// bytes.
func (values figures) less(own moved, request int64) moved {
	return moved{
		in:  values["total_net_input_bytes"] - own.in - request,
		out: values["total_net_output_bytes"] - own.out, reads: values["total_reads_processed"] - own.reads - 1,
		writes: values["total_writes_processed"] - own.writes, commands: values["total_commands_processed"] - own.commands,
	}
}

// figures are the lines of INFO that are integers.
type figures map[string]int64

// counters reads the figures of INFO.
func counters(info string) figures {
	values := figures{}
	for line := range strings.SplitSeq(info, "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			values[name] = n
		}
	}
	return values
}

// exchange sends bytes on a new connection, reads a reply of n bytes, or with n < 0 all until
// the server closes the connection, and closes it.
func (l *ledger) exchange(request string, n int) {
	l.t.Helper()
	nc, err := net.Dial("tcp", l.addr)
	if err != nil {
		l.t.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(wire.DefaultTimeout)) // of an open connection
	if _, err := io.WriteString(nc, request); err != nil {
		l.t.Fatal(err)
	}
	if n < 0 {
		_, err = io.Copy(io.Discard, nc)
	} else {
		_, err = io.ReadFull(nc, make([]byte, n))
	}
	if err != nil {
		l.t.Fatalf("%.100q: %v", request, err)
	}
}

func TestTrafficOfAnExchangeIsCountedAsInRedis(t *testing.T) {
	oracle, target := start(t)
	for _, row := range []struct {
		request string
		reply   int
	}{
		{"", 0},
		{"PING\r\n", 7},
		{strings.Repeat("PING\r\n", 20), 140},
		{"*1\r\n$4\r\nPI", 0},
		{"ECHO " + strings.Repeat("x", 3000) + "\r\n", 3009},
		{"MULTI\r\nPING\r\nEXEC\r\n", 5 + 9 + 11},
		{"SUBSCRIBE c\r\n", 30},
		{"EVAL \"return redis.call('PING')\" 0\r\n", 7},
		{"SET k v\r\nBLPOP none 0.01\r\n", 5 + 5},
		{"CLIENT REPLY OFF\r\nPING\r\n", 0},
		{"QUIT\r\n", -1},
		{"NOSUCH\r\nQUIT\r\n", -1},
		{"*1\r\n*x\r\n", -1},
	} {
		var got [2]moved
		for i, s := range []*server{oracle, target} {
			l := &ledger{server: s}
			l.begin()
			l.exchange(row.request, row.reply)
			got[i] = l.end()
		}
		if got[1] != got[0] {
			t.Errorf("%.60q: %+v, want %+v", row.request, got[1], got[0])
		}
		t.Logf("%.60q: %+v", row.request, got[0])
	}
}

func TestRatesRiseWithABurstAndFallToZero(t *testing.T) {
	_, target := start(t)
	names := []string{"instantaneous_ops_per_sec", "instantaneous_input_kbps", "instantaneous_output_kbps"}
	rates := func() (values [3]float64) {
		for line := range strings.SplitSeq(string(target.do("INFO", "stats").Str), "\r\n") {
			name, value, _ := strings.Cut(line, ":")
			for i := range names {
				if name == names[i] {
					values[i], _ = strconv.ParseFloat(value, 64)
				}
			}
		}
		return values
	}
	await := func(what string, commands int, holds func(ops, in, out float64) bool) {
		t.Helper()
		deadline := time.Now().Add(wire.DefaultTimeout)
		for {
			for range commands {
				target.do("PING")
			}
			r := rates()
			if holds(r[0], r[1], r[2]) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v", what, r)
			}
			<-time.After(200 * time.Millisecond)
		}
	}
	await("no rate after a burst", 1000, func(ops, in, out float64) bool { return ops >= 100 && in > 1 && out > 0.5 })
	await("the rates do not fall", 0, func(ops, _, out float64) bool { return ops < 20 && out < 20 })
}
