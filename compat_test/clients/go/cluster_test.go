package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/lockredis/lockredis/lockredistest"
)

// limit is how long a client may take to find its way, on a busy machine.
const limit = 30 * time.Second

// movedSlot is the slot of movedKey. Node 0 owns it at the start.
const (
	movedSlot = "3300"
	movedKey  = "b"
)

// startCluster starts three nodes and a client.
func startCluster(t *testing.T) (*lockredistest.Server, rueidis.Client) {
	t.Helper()
	srv := lockredistest.RunT(t, lockredistest.ClusterOf(3), lockredistest.Listen("127.0.0.1:0"),
		lockredistest.Directive("cluster-require-full-coverage", "no"))
	return srv, connect(t, srv)
}

// connect returns a client that is given one of the nodes.
func connect(t *testing.T, srv *lockredistest.Server) rueidis.Client {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{srv.Node(1).Addr()}, ConnWriteTimeout: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// text returns the reply to a command.
func text(t *testing.T, r rueidis.RedisResult) string {
	t.Helper()
	got, err := r.ToString()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// do sends a command to one node.
func do(t *testing.T, n *lockredistest.Server, args ...any) string {
	t.Helper()
	v, err := n.Client().Do(t.Context(), args...).Text()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}

func set(t *testing.T, c rueidis.Client, key, value string) {
	t.Helper()
	if err := c.Do(t.Context(), c.B().Set().Key(key).Value(value).Build()).Error(); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, c rueidis.Client, key string) string {
	t.Helper()
	return text(t, c.Do(t.Context(), c.B().Get().Key(key).Build()))
}

func TestRueidisReachesAllNodes(t *testing.T) {
	srv, c := startCluster(t)
	const keys = 300
	for i := range keys {
		set(t, c, fmt.Sprint("key:", i), fmt.Sprint(i))
	}
	for i := range keys {
		if got := get(t, c, fmt.Sprint("key:", i)); got != fmt.Sprint(i) {
			t.Errorf("key %d has %q", i, got)
		}
	}
	sum := 0
	for i, n := range srv.Nodes() {
		has := len(n.Keys())
		if sum += has; has == 0 {
			t.Errorf("node %d has no keys", i)
		}
	}
	if sum != keys {
		t.Errorf("the nodes have %d keys", sum)
	}
}

// A client learns of the move from the node's error only. After an error it asks for the slots in the
// background: so another client gets the second one.
func TestRueidisFollowsASlotThatMoves(t *testing.T) {
	srv, c := startCluster(t)
	asked := connect(t, srv)
	from, to := srv.Node(0), srv.Node(1)
	set(t, c, movedKey, "v")
	fromID, toID := do(t, from, "CLUSTER", "MYID"), do(t, to, "CLUSTER", "MYID")
	do(t, to, "CLUSTER", "SETSLOT", movedSlot, "IMPORTING", fromID)
	do(t, from, "CLUSTER", "SETSLOT", movedSlot, "MIGRATING", toID)
	host, port, _ := strings.Cut(to.Addr(), ":")
	do(t, from, "MIGRATE", host, port, movedKey, 0, 5000)
	if got := get(t, asked, movedKey); got != "v" {
		t.Errorf("while the slot moves: %q", got)
	}
	do(t, to, "CLUSTER", "SETSLOT", movedSlot, "NODE", toID)
	do(t, from, "CLUSTER", "SETSLOT", movedSlot, "NODE", toID)
	if got := get(t, c, movedKey); got != "v" {
		t.Errorf("after the move: %q", got)
	}
	for _, want := range []string{"errorstat_ASK:", "errorstat_MOVED:"} {
		if stats := do(t, from, "INFO", "errorstats"); !strings.Contains(stats, want) {
			t.Errorf("%s is not in %s", want, stats)
		}
	}
}

func TestRueidisHearsAShardedChannelOfEachNode(t *testing.T) {
	_, c := startCluster(t)
	for _, channel := range []string{"b", "c", "a"} {
		dedicated, cancel := c.Dedicate()
		heard := make(chan string, 1)
		subscribed := make(chan string, 10)
		wait := dedicated.SetPubSubHooks(rueidis.PubSubHooks{
			OnMessage:      func(m rueidis.PubSubMessage) { heard <- m.Message },
			OnSubscription: func(s rueidis.PubSubSubscription) { subscribed <- s.Kind },
		})
		if err := dedicated.Do(t.Context(), dedicated.B().Ssubscribe().Channel(channel).Build()).Error(); err != nil {
			t.Fatal(err)
		}
		if got := <-subscribed; got != "ssubscribe" {
			t.Errorf("%s: %s", channel, got)
		}
		if err := c.Do(t.Context(), c.B().Spublish().Channel(channel).Message("m").Build()).Error(); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-heard:
			if got != "m" {
				t.Errorf("%s: heard %q", channel, got)
			}
		case err := <-wait:
			t.Fatalf("%s: the subscription ended: %v", channel, err)
		case <-time.After(limit):
			t.Fatalf("%s: no message", channel)
		}
		cancel()
	}
}

func TestRueidisLocksOnEachNode(t *testing.T) {
	srv, c := startCluster(t)
	release := rueidis.NewLuaScript("if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0")
	acquire := func(name, owner string) bool {
		err := c.Do(t.Context(), c.B().Set().Key(name).Value(owner).Nx().PxMilliseconds(60000).Build()).Error()
		if err != nil && !rueidis.IsRedisNil(err) {
			t.Fatal(err)
		}
		return err == nil
	}
	for i, name := range []string{"b", "c", "a"} {
		if !acquire(name, "one") || acquire(name, "two") {
			t.Errorf("%s: not exactly one owner", name)
		}
		srv.Node(i).CheckGet(t, name, "one")
		for _, owner := range []string{"two", "one"} {
			n, err := release.Exec(t.Context(), c, []string{name}, []string{owner}).AsInt64()
			if err != nil || (n == 1) != (owner == "one") {
				t.Errorf("%s: release by %s: %d, %v", name, owner, n, err)
			}
		}
		if !acquire(name, "two") {
			t.Errorf("%s: not released", name)
		}
		if _, err := release.Exec(t.Context(), c, []string{name}, []string{"two"}).AsInt64(); err != nil {
			t.Error(err)
		}
	}
}

func TestRueidisOutlivesAnOutageOfANode(t *testing.T) {
	srv, c := startCluster(t)
	set(t, c, "a", "old")
	srv.Node(2).Stop()
	set(t, c, "b", "v")
	set(t, c, "c", "v")
	if err := srv.Node(2).Restart(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		err := c.Do(t.Context(), c.B().Set().Key("a").Value("new").Build()).Error()
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	srv.Node(2).CheckGet(t, "a", "new")
	if got := get(t, c, "b"); got != "v" {
		t.Errorf("the other node has %q", got)
	}
}
