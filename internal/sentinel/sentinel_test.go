package sentinel

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/server"
	"github.com/lockredis/lockredis/resp"
)

// node is a Sentinel without sockets.
type node struct {
	*Sentinel
	srv *server.Server
	log bytes.Buffer

	crashed bool // SIMULATE-FAILURE has ended it
}

// start starts a Sentinel that monitors "mymaster" at 127.0.0.1:1 through dial.
func start(t *testing.T, clock expiry.Clock, dial func() (net.Conn, error)) *node {
	t.Helper()
	set := config.NewSentinel()
	for _, words := range []string{"monitor mymaster 127.0.0.1 1 2",
		"down-after-milliseconds mymaster 1000", "announce-ip 127.0.0.1"} {
		if err := set.Load("sentinel", strings.Fields(words)...); err != nil {
			t.Fatal(err)
		}
	}
	n := &node{}
	log := slog.New(slog.NewTextHandler(&n.log, nil))
	mon, err := New(Options{Config: set, Clock: clock, Log: log, Crash: func() { n.crashed = true },
		Dial: func(context.Context, string) (net.Conn, error) { return dial() }})
	if err != nil {
		t.Fatal(err)
	}
	n.Sentinel = mon
	n.srv = server.New(server.Options{Config: set, Clock: clock, Log: log, Table: mon.Table()})
	n.srv.Start()
	mon.Start(n.srv.Engine(), 26379)
	return n
}

func (n *node) stop() {
	n.Close()
	n.srv.Close()
}

// do runs a command and returns the reply, encoded in RESP2.
func (n *node) do(words ...string) (text string) {
	args := make(resp.Args, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	n.srv.Engine().RunDirect(0, args, func(r resp.Reply) { text = string(resp.Append(nil, r, 2)) })
	return text
}

func refuse() (net.Conn, error) { return nil, errors.New("connection refused") }

// pass moves the clock in small steps, so that every tick comes in time.
func pass(clock *expiry.Manual, d time.Duration) {
	for range d / (50 * time.Millisecond) {
		clock.Advance(50 * time.Millisecond)
		synctest.Wait()
	}
}

func TestTiltModeBeginsAfterAJumpOfTheClockAndEndsAfterThirtySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := expiry.NewManual(time.Now())
		n := start(t, clock, refuse)
		defer n.stop()
		synctest.Wait()
		pass(clock, 2*time.Second)
		const isDown = "*3\r\n:1\r\n"
		ask := []string{"SENTINEL", "IS-MASTER-DOWN-BY-ADDR", "127.0.0.1", "1", "0", "*"}
		if got := n.do(ask...); !strings.HasPrefix(got, isDown) {
			t.Errorf("before the jump: %q, want a primary that is down", got)
		}
		clock.Advance(3 * time.Second)
		synctest.Wait()
		const begun = "sentinel_tilt:1\r\nsentinel_tilt_since_seconds:0"
		if got := n.do("INFO", "sentinel"); !strings.Contains(got, begun) {
			t.Errorf("no tilt mode in %s", got)
		}
		if got := n.do(ask...); strings.HasPrefix(got, isDown) {
			t.Errorf("in tilt mode: %q, want no opinion", got)
		}
		pass(clock, 29*time.Second)
		if got := n.do("INFO", "sentinel"); !strings.Contains(got, "sentinel_tilt_since_seconds:29") {
			t.Errorf("tilt mode has ended early: %s", got)
		}
		pass(clock, 2*time.Second)
		const ended = "sentinel_tilt:0\r\nsentinel_tilt_since_seconds:-1"
		if got := n.do("INFO", "sentinel"); !strings.Contains(got, ended) {
			t.Errorf("tilt mode has not ended: %s", got)
		}
		for _, want := range []string{`"+tilt #tilt mode entered"`, `"-tilt #tilt mode exited"`} {
			if got := strings.Count(n.log.String(), want); got != 1 {
				t.Errorf("%d times %s in the log, want 1", got, want)
			}
		}
	})
}

func TestAWaitWhoseContextEndsIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, expiry.System(), func() (net.Conn, error) { return nil, errors.New("refused") })
		defer n.stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := n.AwaitPeers(ctx, "mymaster", 1, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the wait ends with %v", err)
		}
		n.engine.Outside(func() {
			if len(n.met) != 0 || n.hurried != 0 {
				t.Errorf("%d waits are left, %d callers hurry", len(n.met), n.hurried)
			}
		})
	})
}

func TestAPrimaryThatSendsNonsenseIsDown(t *testing.T) {
	for name, answer := range map[string]string{
		"no RESP":         "HTTP/1.1 400 Bad Request\r\n\r\n",
		"endless line":    "+" + strings.Repeat("x", 1<<17),
		"endless arrays":  strings.Repeat("*1\r\n", 1<<12),
		"large bulk":      "$9223372036854775807\r\n",
		"other types":     strings.Repeat("*2\r\n$4\r\nPONG\r\n:1\r\n", 100),
		"too many":        strings.Repeat("+OK\r\n", 1000) + ":1\r\n",
		"nulls":           strings.Repeat("$-1\r\n*-1\r\n", 100),
		"half of a reply": "$10\r\nabc",
		"end":             "",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := start(t, expiry.System(), func() (net.Conn, error) {
					near, far := net.Pipe()
					go func() {
						far.Read(make([]byte, 1<<16))
						go far.Write([]byte(answer))
						time.Sleep(100 * time.Millisecond)
						far.Close()
					}()
					return near, nil
				})
				time.Sleep(3 * time.Second)
				if got := n.do("INFO", "sentinel"); !strings.Contains(got, "status=sdown") {
					t.Errorf("not down: %s", got)
				}
				n.stop()
			})
		})
	}
}

func TestHellosThatSayNothingUsefulAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, expiry.System(), refuse)
		defer n.stop()
		for _, hello := range []string{
			"", ",,,,,,,", "a,b,c,d,e,f,g,h", "127.0.0.1,99999999999999999999,c,0,mymaster,127.0.0.1,1,0",
			"127.0.0.1,-1,c,0,mymaster,127.0.0.1,1,0", "nohost,1,c,0,mymaster,127.0.0.1,1,0",
			"127.0.0.1,70000,c,0,mymaster,127.0.0.1,1,0", strings.Repeat(",", 1<<16),
		} {
			if got := n.do("PUBLISH", "__sentinel__:hello", hello); got != ":1\r\n" {
				t.Errorf("%.20q: %q", hello, got)
			}
		}
		if got := n.do("SENTINEL", "SENTINELS", "mymaster"); got != "*0\r\n" {
			t.Errorf("Sentinels %q, want none", got)
		}
		n.do("PUBLISH", "__sentinel__:hello", "127.0.0.1,1,one\r\ntwo,0,mymaster,127.0.0.1,1,0")
		if strings.Contains(n.log.String(), "two\n") || !strings.Contains(n.log.String(), "one") {
			t.Errorf("a name breaks a line of the log: %s", n.log.String())
		}
	})
}

func TestASentinelEndsWhereSimulateFailureSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, expiry.System(), refuse)
		defer n.stop()
		n.do("SENTINEL", "SET", "mymaster", "quorum", "1")
		if got := n.do("SENTINEL", "SIMULATE-FAILURE", "crash-after-election"); got != "+OK\r\n" {
			t.Errorf("SIMULATE-FAILURE: %q", got)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		log := n.log.String()
		if !n.Sentinel.crashed || !n.crashed || !strings.Contains(log, "+elected-leader") ||
			strings.Contains(log, "+failover-state-select-slave") {
			t.Errorf("crashed %v, told %v, the log: %s", n.Sentinel.crashed, n.crashed, log)
		}
	})
}

// redis-sentinel 7.0.15 shows the same: SUBSCRIBE is refused, and its connection is closed.
func TestAPrimaryThatWantsAPasswordIsShownAsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, expiry.System(), func() (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				for in := bufio.NewReader(far); ; {
					line, err := in.ReadString('\n')
					if err != nil {
						return
					}
					if strings.HasPrefix(line, "*") { // one reply for each command
						io.WriteString(far, "-NOAUTH Authentication required.\r\n")
					}
				}
			}()
			return near, nil
		})
		defer n.stop()
		time.Sleep(3500 * time.Millisecond)
		if got := n.do("SENTINEL", "MASTER", "mymaster"); !strings.Contains(got, "s_down,master,disconnected\r\n") {
			t.Errorf("the flags are not s_down,master,disconnected: %q", got)
		}
	})
}
