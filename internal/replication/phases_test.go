package replication_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
)

// dialing has a test decide how each connection to a primary is made.
func (n *node) dialing(dial func(context.Context) (net.Conn, error)) {
	n.dial = func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }
}

// Dialer returns what dialing has set.
func (n *node) Dialer() (func(context.Context, string) (net.Conn, error), error) { return n.dial, nil }

// awaitPhase waits until ROLE shows a phase.
func (c *client) awaitPhase(phase string) {
	c.n.t.Helper()
	want := fmt.Sprintf("$%d\r\n%s\r\n", len(phase), phase)
	var role string
	if !redistest.Poll(time.Minute, func() bool {
		role = c.send("ROLE")
		return strings.Contains(role, want)
	}) {
		c.n.t.Fatalf("ROLE shows %q, want the phase %s", role, phase)
	}
}

// compat_test/replication asks redis-server for all phases but connecting.
func TestRoleShowsEachPhaseOfALink(t *testing.T) {
	n := newNode(t)
	user := n.connect()
	dialed := make(chan net.Conn)
	n.dialing(func(ctx context.Context) (net.Conn, error) {
		select {
		case nc := <-dialed:
			if nc == nil {
				return nil, errors.New("refused")
			}
			return nc, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	shows := func(phase, up, syncing string) {
		t.Helper()
		user.awaitPhase(phase)
		a, b := user.info("master_link_status"), user.info("master_sync_in_progress")
		if a != up || b != syncing {
			t.Errorf("in the phase %s INFO shows the link %s, syncing %s", phase, a, b)
		}
	}
	user.send("REPLICAOF", "h", "1")
	shows("connecting", "down", "0")
	dialed <- nil
	shows("connect", "down", "0")
	n.beat()
	shows("connecting", "down", "0")
	mine, primary := net.Pipe()
	defer primary.Close()
	dialed <- mine
	shows("handshake", "down", "0")
	in := bufio.NewReader(primary)
	hears := func(text string) {
		t.Helper()
		for line := ""; !strings.Contains(line, text); {
			var err error
			if line, err = in.ReadString('\n'); err != nil {
				t.Fatalf("before %s: %v", text, err)
			}
		}
	}
	says := func(text string) { io.WriteString(primary, text) }
	hears("PING")
	says("+PONG\r\n")
	hears("psync2")
	says("+OK\r\n+OK\r\n")
	hears("PSYNC")
	shows("handshake", "down", "0")
	says("+FULLRESYNC " + strings.Repeat("a", 40) + " 1\r\n")
	shows("sync", "down", "1")
	primary.Close()
	shows("connect", "down", "0")
}
