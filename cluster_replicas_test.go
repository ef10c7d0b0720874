package lockredis_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// startReplicated starts a cluster with replicas on free ports.
func startReplicated(t *testing.T, primaries int, nodes ...lockredis.Config) []*lockredis.Server {
	t.Helper()
	servers := lockredis.NewReplicatedCluster(primaries, nodes...)
	for i, srv := range servers {
		if err := srv.Start(); err != nil {
			t.Fatalf("node %d: %v", i, err)
		}
		t.Cleanup(func() { srv.Close() })
	}
	return servers
}

// awaitReply sends a command until its reply contains a text.
func awaitReply(t *testing.T, c *wire.Conn, line, text string) {
	t.Helper()
	var got string
	if !redistest.Poll(patience, func() bool {
		v, err := c.Do(strings.Fields(line)...)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got = v.String()
		return strings.Contains(got, text)
	}) {
		t.Fatalf("%s: %s, want %s", line, got, text)
	}
}

func TestStartOfAReplicaReturnsWhenItIsLinked(t *testing.T) {
	nodes := startReplicated(t, 2, make([]lockredis.Config, 6)...)
	for i, srv := range nodes {
		want := "role:slave"
		if i < 2 {
			want = "connected_slaves:2"
		}
		info := call(t, dial(t, srv), "INFO replication")
		if !strings.Contains(info, want) || i >= 2 && !strings.Contains(info, "master_link_status:up") {
			t.Errorf("node %d: %s", i, info)
		}
	}
}

func TestAClusterWithPasswordsLinksItsReplicas(t *testing.T) {
	nodes := startReplicated(t, 1, lockredis.Config{Password: "secret"}, lockredis.Config{Password: "secret"})
	for _, srv := range nodes {
		c := dial(t, srv)
		call(t, c, "AUTH secret")
		if !strings.Contains(call(t, c, "CLUSTER NODES"), "slave ") {
			t.Error("no replica")
		}
	}
	a, b := dial(t, nodes[0]), dial(t, nodes[1])
	call(t, a, "AUTH secret")
	call(t, b, "AUTH secret")
	call(t, b, "CLUSTER FAILOVER")
	awaitReply(t, a, "INFO replication", "master_link_status:up") // the former primary has the password, too
}

// Clients reach the nodes at an address that the nodes themselves do not reach.
func TestReplicasFindAPrimaryThatAnnouncesAnAddressForClients(t *testing.T) {
	var cfgs []lockredis.Config
	for i := range 2 {
		cfgs = append(cfgs, lockredis.Config{Directives: map[string]string{
			"cluster-announce-ip": "192.0.2.1", "cluster-announce-port": fmt.Sprint(7000 + i)}})
	}
	nodes := startReplicated(t, 1, cfgs...)
	c := dial(t, nodes[0])
	if text := call(t, c, "INFO replication"); !strings.Contains(text, "slave0:ip=192.0.2.1,port=7001,") {
		t.Error(text)
	}
	call(t, dial(t, nodes[1]), "CLUSTER FAILOVER")
	awaitReply(t, c, "INFO replication", "master_link_status:up")
	expect(t, c, "GET b", "-MOVED 3300 192.0.2.1:7001\r\n")
}

func TestAClusterCannotHaveMorePrimariesThanNodes(t *testing.T) {
	for _, primaries := range []int{-1, 0, 3} {
		for _, srv := range lockredis.NewReplicatedCluster(primaries, make([]lockredis.Config, 2)...) {
			if err := srv.Start(); err == nil || !strings.Contains(err.Error(), "cannot be primaries") {
				t.Errorf("%d primaries: %v", primaries, err)
			}
		}
	}
}

func TestAReplicaThatIsClosedWhileItWaitsForItsLinkDoesNotStart(t *testing.T) {
	nodes := lockredis.NewReplicatedCluster(1, lockredis.Config{Password: "a"},
		lockredis.Config{Password: "b"})
	if err := nodes[0].Start(); err != nil {
		t.Fatal(err)
	}
	defer nodes[0].Close()
	started := make(chan error, 1)
	go func() { started <- nodes[1].Start() }()
	eventually(t, "the replica listens", func() bool { return nodes[1].Addr() != "" })
	nodes[1].Close()
	if err := <-started; err != lockredis.ErrServerClosed {
		t.Error(err)
	}
}

// A client increments a counter and follows redirections, while the shard changes its primary again and
// again. Every increment that was acknowledged is there, each of them once.
func TestCLUSTERFAILOVERLosesNoWrite(t *testing.T) {
	const clients, handovers = 4, 20
	nodes := startReplicated(t, 1, make([]lockredis.Config, 2)...)
	conns := func() (cs [2]*wire.Conn) {
		for i, srv := range nodes {
			cs[i] = dial(t, srv)
			cs[i].SetTimeout(time.Minute)
		}
		return cs
	}
	done := make(chan struct{})
	var all sync.WaitGroup
	var mu sync.Mutex
	acked := 0
	for range clients {
		cs := conns()
		all.Go(func() {
			at, own := 0, 0
			for {
				select {
				case <-done:
					mu.Lock()
					acked += own
					mu.Unlock()
					return
				default:
				}
				v, err := cs[at].Do("INCR", "n")
				switch {
				case err != nil:
					t.Error(err)
					return
				case strings.HasPrefix(string(v.Str), "MOVED"):
					at = 1 - at
				case v.IsError():
					t.Error(v)
					return
				default:
					own++
				}
			}
		})
	}
	cs := conns()
	for i := range handovers {
		from, to := cs[i%2], cs[1-i%2]
		call(t, to, "CLUSTER FAILOVER")
		awaitReply(t, to, "INFO replication", "role:master")
		awaitReply(t, from, "INFO replication", "master_link_status:up")
	}
	close(done)
	all.Wait()
	if got := call(t, cs[0], "GET n"); got != fmt.Sprint(acked) {
		t.Errorf("%s increments are there, %d were acknowledged", got, acked)
	}
}

func TestAReplicaThatMayNotTakeOverLeavesItToAnotherOne(t *testing.T) {
	nodes := startReplicated(t, 3, make([]lockredis.Config, 9)...)
	a, b, c := dial(t, nodes[0]), dial(t, nodes[3]), dial(t, nodes[6])
	call(t, a, "SET b 1")
	call(t, a, "WAIT 2 60000")
	call(t, b, "CONFIG SET replica-serve-stale-data yes cluster-replica-no-failover yes")
	awaitReply(t, c, "CLUSTER NODES", "slave,nofailover")
	nodes[0].Close()
	awaitReply(t, c, "INFO replication", "role:master")
	expect(t, c, "GET b", "$1\r\n1\r\n")
	awaitReply(t, b, "INFO replication", "master_link_status:up") // with the other replica
	awaitReply(t, b, "ROLE", portOf(t, nodes[6].Addr()))
}

func TestAReplicaThatMayNotTakeOverDoesSoWhenItMay(t *testing.T) {
	nodes := startReplicated(t, 3, make([]lockredis.Config, 6)...)
	other, b := dial(t, nodes[1]), dial(t, nodes[3])
	call(t, b, "CONFIG SET cluster-replica-no-failover yes")
	nodes[0].Close()
	awaitReply(t, other, "CLUSTER INFO", "cluster_state:fail")
	if text := call(t, b, "INFO replication"); !strings.Contains(text, "role:slave") {
		t.Error(text)
	}
	call(t, b, "CONFIG SET cluster-replica-no-failover no")
	awaitReply(t, other, "CLUSTER INFO", "cluster_state:ok")
	awaitReply(t, b, "INFO replication", "role:master")
}

// The replica follows a primary that does not let it in.
func TestAReplicaWithOldDataDoesNotTakeOver(t *testing.T) {
	redistest.SkipWhenQuick(t)
	nodes := startReplicated(t, 3, make([]lockredis.Config, 6)...)
	other, b := dial(t, nodes[1]), dial(t, nodes[3])
	call(t, other, "CONFIG SET requirepass secret")
	call(t, b, "CLUSTER REPLICATE "+call(t, other, "CLUSTER MYID"))
	awaitReply(t, b, "INFO replication", "master_link_status:down")
	call(t, b, "CONFIG SET cluster-replica-validity-factor 1 cluster-node-timeout 1 "+
		"repl-ping-replica-period 1")
	awaitReply(t, b, "INFO replication", "master_link_down_since_seconds:3")
	call(t, dial(t, nodes[4]), "CONFIG SET cluster-replica-no-failover yes")
	nodes[1].Close()
	third := dial(t, nodes[2])
	awaitReply(t, third, "CLUSTER INFO", "cluster_state:fail")
	if text := call(t, b, "INFO replication"); !strings.Contains(text, "role:slave") {
		t.Error(text)
	}
	call(t, b, "CONFIG SET cluster-replica-validity-factor 0") // its data may be as old as they are
	awaitReply(t, third, "CLUSTER INFO", "cluster_state:ok")
}

func TestClusterNodesWithoutASocketFollowEachOther(t *testing.T) {
	var cfgs []lockredis.Config
	for i := range 6 {
		cfgs = append(cfgs, lockredis.Config{
			NoSocket: true, Directives: map[string]string{"cluster-announce-port": fmt.Sprint(7000 + i)},
		})
	}
	nodes := startReplicated(t, 3, cfgs...)
	conn := func(i int) *wire.Conn {
		nc, err := nodes[i].Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		return wire.NewConn(nc)
	}
	call(t, conn(0), "SET b 1")
	call(t, conn(3), "CLUSTER FAILOVER")
	awaitReply(t, conn(0), "INFO replication", "master_link_status:up")
	expect(t, conn(0), "GET b", "-MOVED 3300 127.0.0.1:7003\r\n")
	expect(t, conn(3), "GET b", "$1\r\n1\r\n")
}
