package sentinel

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// group is a primary with Sentinels, perhaps of both kinds.
type group struct {
	t     *testing.T
	addrs []string // of the Sentinels, redis-sentinel's first
}

// newGroup starts two Sentinels of Redis and one of lockredis that monitor the primary at addr.
func newGroup(t *testing.T, addr string) *group {
	t.Helper()
	return groupOf(t, addr, 2, 1)
}

// groupOf starts Sentinels of Redis and of lockredis that monitor the primary at addr.
func groupOf(t *testing.T, addr string, ofRedis, ofLockredis int) *group {
	t.Helper()
	g := &group{t: t}
	host, port, _ := net.SplitHostPort(addr)
	conf := fmt.Sprintf("sentinel monitor mymaster %s %s 2\n", host, port) +
		"sentinel down-after-milliseconds mymaster 2000\nsentinel failover-timeout mymaster 6000\n"
	for range ofRedis {
		own, err := redistest.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		s := redistest.Run(t, redistest.Command{
			Addr: "127.0.0.1:" + own,
			Args: []string{writeConf(t, t.TempDir(), own, conf), "--sentinel"},
		})
		g.addrs = append(g.addrs, s.Addr)
	}
	for range ofLockredis {
		settings, err := lockredis.ParseSettings(
			[]string{writeConf(t, t.TempDir(), "auto", conf), "--sentinel"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		srv := lockredis.New(lockredis.Config{Settings: settings})
		if err := srv.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { srv.Close() })
		g.addrs = append(g.addrs, srv.Addr())
	}
	g.await("sentinels=3")
	return g
}

// tilted is how long a group may take to agree. redis-sentinel acts on nothing for 30 s after
// its process, or this machine, stalled for two seconds (TILT).
const tilted = 5 * time.Minute

// await waits until INFO of each Sentinel has the text.
func (g *group) await(text string) {
	g.t.Helper()
	g.awaitReply(g.addrs, text, "INFO", "sentinel")
}

// awaitReply waits until the replies of Sentinels to a command have the text.
func (g *group) awaitReply(addrs []string, text string, command ...string) {
	g.t.Helper()
	for _, addr := range addrs {
		if err := poll(tilted, func() (done bool, err error) {
			reply := g.ask(addr, command...)
			if strings.Contains(reply, text) {
				return true, nil
			}
			return false, fmt.Errorf("%s: no %q in %s", addr, text, reply)
		}); err != nil {
			g.t.Fatal(err)
		}
	}
}

// ask sends a command to a Sentinel and returns the rendered reply.
func (g *group) ask(addr string, args ...string) string {
	g.t.Helper()
	c, err := wire.Dial(addr)
	if err != nil {
		g.t.Fatal(err)
	}
	defer c.Close()
	c.SetTimeout(patience)
	v, err := c.Do(args...)
	if err != nil {
		g.t.Fatal(err)
	}
	return v.String()
}

func TestSentinelsOfBothKindsAgreeAboutAPrimaryOfRedis(t *testing.T) {
	t.Parallel()
	primary := redistest.Start(t)
	g := newGroup(t, primary.Addr)
	g.awaitReply(g.addrs, "+OK 3 ", "SENTINEL", "CKQUORUM", "mymaster")
	primary.Stop()
	g.await("status=odown")
}

func TestSentinelsOfBothKindsAgreeAboutAPrimaryOfLockredis(t *testing.T) {
	t.Parallel()
	redistest.Find(t)
	port, err := redistest.FreePort() // after Close no other server answers there
	if err != nil {
		t.Fatal(err)
	}
	primary := lockredis.New(lockredis.Config{Addr: net.JoinHostPort("127.0.0.1", port)})
	if err := primary.Start(); err != nil {
		t.Fatal(err)
	}
	g := newGroup(t, primary.Addr())
	g.await("status=ok")
	primary.Close()
	g.await("status=odown")
}

// Any of the Sentinels promotes the replica; the others vote and follow.
func TestSentinelsOfBothKindsFailOverTogether(t *testing.T) {
	t.Parallel()
	primary := redistest.Start(t)
	host, port, _ := net.SplitHostPort(primary.Addr)
	replica := redistest.Start(t, "--replicaof", host+" "+port, "--repl-diskless-sync-delay", "0")
	g := newGroup(t, primary.Addr)
	g.awaitReply(g.addrs, `"master-link-status" "ok"`, "SENTINEL", "REPLICAS", "mymaster")
	primary.Stop()
	g.await("address=" + replica.Addr)
	g.await("status=ok")
}

// A client asks one Sentinel for a failover, then the new primary ends. One Sentinel ends when it is
// elected, so that another one has to be.
func TestSentinelsOfLockredisFailOver(t *testing.T) {
	t.Parallel()
	redistest.Find(t)
	one := redistest.Start(t)
	host, port, _ := net.SplitHostPort(one.Addr)
	two := redistest.Start(t, "--replicaof", host+" "+port, "--repl-diskless-sync-delay", "0")
	g := groupOf(t, one.Addr, 0, 3)
	g.awaitReply(g.addrs, `"master-link-status" "ok"`, "SENTINEL", "REPLICAS", "mymaster")
	if got := g.ask(g.addrs[0], "SENTINEL", "FAILOVER", "mymaster"); got != "+OK" {
		t.Fatal(got)
	}
	g.await("address=" + two.Addr)
	g.awaitReply(g.addrs, `"master-link-status" "ok"`, "SENTINEL", "REPLICAS", "mymaster")
	g.ask(g.addrs[0], "SENTINEL", "SIMULATE-FAILURE", "crash-after-election")
	two.Stop()
	g.addrs = g.addrs[1:]
	g.await("address=" + one.Addr)
	g.await("status=ok")
}

// TestCommandInfoIsThatOfRedisSentinel compares all rows that lockredis's Sentinel has. The
// subcommands of a container are rows of their own.
func TestCommandInfoIsThatOfRedisSentinel(t *testing.T) {
	t.Parallel()
	own, err := redistest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	redis := redistest.Run(t, redistest.Command{
		Addr: "127.0.0.1:" + own, Args: []string{writeConf(t, t.TempDir(), own, ""), "--sentinel"},
	})
	settings, err := lockredis.ParseSettings([]string{"--sentinel", "--port", "auto"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	srv := lockredis.New(lockredis.Config{Settings: settings})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	real, ours := rows(t, redis.Addr), rows(t, srv.Addr())
	for name, row := range ours {
		if real[name] != row {
			t.Errorf("%s\nwant %s\ngot  %s", name, real[name], row)
		}
	}
	missing := map[string]bool{"client|getredir": true, "client|trackinginfo": true,
		"client|caching": true, "client|tracking": true}
	for name := range real {
		if _, there := ours[name]; !there && !missing[name] {
			t.Errorf("no %s", name)
		}
	}
}

// rows returns the rows of COMMAND INFO by name, without their subcommands.
func rows(t *testing.T, addr string) map[string]string {
	t.Helper()
	c, err := wire.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list, err := c.Do("COMMAND", "LIST")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range list.Elems {
		v, err := c.Do("COMMAND", "INFO", string(name.Str))
		if err != nil {
			t.Fatal(err)
		}
		row := v.Elems[0]
		row.Elems = row.Elems[:len(row.Elems)-1]
		found[string(name.Str)] = row.String()
	}
	return found
}
