package lockredistest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// Keys of the three nodes of a cluster.
var keyOfNode = [...]string{"b", "c", "a"}

func TestTheNodesOfAClusterShareTheKeys(t *testing.T) {
	for name, opts := range map[string][]lockredistest.Option{
		"in memory": {lockredistest.ClusterOf(3)},
		"password":  {lockredistest.Password("secret"), lockredistest.ClusterOf(3)},
		"sockets":   {lockredistest.Listen("127.0.0.1:0"), lockredistest.ClusterOf(3)},
	} {
		t.Run(name, func(t *testing.T) {
			srv := lockredistest.RunT(t, opts...)
			if name == "in memory" {
				defer func() { srv.Addr() }()
			}
			rdb := srv.ClusterClient()
			for i, key := range keyOfNode {
				if err := rdb.Set(t.Context(), key, key, 0).Err(); err != nil {
					t.Fatal(err)
				}
				srv.Node(i).CheckGet(t, key, key)
			}
			err := srv.Node(1).Client().Get(t.Context(), "b").Err()
			if err == nil || !strings.HasPrefix(err.Error(), "MOVED 3300 127.0.0.1:") {
				t.Errorf("GET at another node: %v", err)
			}
		})
	}
}

func TestANodeOfAClusterHasAPort(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ClusterOf(3))
	inMemory := srv.ClusterClient()
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{srv.Node(2).Addr()}})
	defer rdb.Close()
	for i, key := range keyOfNode {
		if err := rdb.Set(t.Context(), key, i, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got, err := inMemory.Get(t.Context(), key).Int(); err != nil || got != i {
			t.Errorf("in memory: %d, %v", got, err)
		}
	}
}

func TestLocksOfAllNodesWorkInABubble(t *testing.T) {
	synctestRun(t, "bubble", func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.ClusterOf(3))
		c := rlock.New(srv.ClusterClient(), rlock.Options{})
		defer c.Close(context.Background())
		for _, name := range keyOfNode {
			held, err := c.Lock(name).Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(time.Minute, func() { held.Release(context.Background()) })
			start := time.Now()
			again, err := c.Lock(name).Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(start); waited < time.Minute || waited > 61*time.Second {
				t.Errorf("%s: waited %v", name, waited)
			}
			if err := again.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestAStoppedNodeHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.ClusterOf(3))
		rdb := srv.Node(0).Client()
		if err := rdb.Set(t.Context(), "b", "1", 0).Err(); err != nil {
			t.Fatal(err)
		}
		srv.Node(2).Stop()
		nodes, err := rdb.ClusterNodes(t.Context()).Result()
		if err != nil || strings.Count(nodes, "master,fail ") != 1 {
			t.Errorf("%v\n%s", err, nodes)
		}
		if err := rdb.Get(t.Context(), "b").Err(); err == nil || err.Error() != "CLUSTERDOWN The cluster is down" {
			t.Errorf("GET: %v", err)
		}
		if _, err := srv.Node(2).Dial(t.Context(), "", ""); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("Dial: %v", err)
		}
		if err := srv.Node(2).Restart(); err != nil {
			t.Fatal(err)
		}
		if got, err := rdb.Get(t.Context(), "b").Result(); err != nil || got != "1" {
			t.Errorf("%q, %v", got, err)
		}
		if err := srv.Node(1).Close(); err != nil {
			t.Fatal(err)
		}
		if info, err := rdb.ClusterInfo(t.Context()).Result(); err != nil || !strings.Contains(info, "cluster_slots_fail:5462") {
			t.Errorf("%v\n%s", err, info)
		}
	})
}

func TestALockAtAnyNodeIsALeakOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{TB: t}
		srv := lockredistest.RunT(rec, lockredistest.ClusterOf(3))
		c := rlock.New(srv.ClusterClient(), rlock.Options{})
		if _, err := c.Lock("c").Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		text := rec.end()
		if !strings.Contains(text, "node 1: ") || strings.Count(text, `"c"`) != 1 || strings.Contains(text, "node 0: ") {
			t.Errorf("the leaks: %q", text)
		}
		c.Close(t.Context())
	})
}

// A slot moves while its lock is held: the lock stays held, is renewed, wakes its waiter and is
// released at the new node.
func TestALockIsHeldWhileItsSlotMoves(t *testing.T) {
	t.Run("sockets", func(t *testing.T) {
		moveHeldLock(t, lockredistest.RunT(t, lockredistest.ClusterOf(3), lockredistest.Listen("127.0.0.1:0")))
	})
	synctestRun(t, "bubble", func(t *testing.T) {
		moveHeldLock(t, lockredistest.RunT(t, lockredistest.ClusterOf(3)))
		time.Sleep(time.Second) // go-redis asks for the slots in the background after a MOVED
	})
}

func moveHeldLock(t *testing.T, srv *lockredistest.Server) {
	c, other := rlock.New(srv.ClusterClient(), rlock.Options{}), rlock.New(srv.ClusterClient(), rlock.Options{})
	defer c.Close(context.Background())
	defer other.Close(context.Background())
	held, err := c.Lock("b").Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() {
		h, err := other.Lock("b").Acquire(t.Context())
		if err == nil {
			err = h.Release(t.Context())
		}
		waited <- err
	}()
	expectLocked := func(when string) {
		t.Helper()
		if locked, err := other.Lock("b").IsLocked(t.Context()); err != nil || !locked {
			t.Fatalf("%s: locked is %v, %v", when, locked, err)
		}
		if err := held.Extend(t.Context(), time.Minute); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
	}
	expectLocked("before the move")
	moveSlot(t, 3300, srv.Node(0), srv.Node(1), func() { expectLocked("while the slot moves") })
	expectLocked("after the move")
	if err := held.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	srv.Node(0).CheckMissing(t, srv.Node(0).Keys()...)
}

// A slot takes its locks along to its new node. Data stays data.
func TestALockIsALockAtTheNewNodeOfItsSlot(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ClusterOf(3), lockredistest.Listen("127.0.0.1:0"),
		lockredistest.AllowLeaks())
	source, target := srv.Node(0), srv.Node(1)
	leaveLocks(t, srv)
	leaveTokenAndData(t, source.Client())
	before := locksAndPermits(source)
	moveSlot(t, 3300, source, target, func() {})
	if after := locksAndPermits(target); len(before) != 6 || !slices.Equal(before, after) {
		t.Errorf("before the move:\n%s\nafter it:\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	if left := source.Locks(); len(left) > 0 {
		t.Errorf("the old node has %v", left)
	}
}

// leaveLocks acquires a lock of each kind and a permit, in slot 3300.
func leaveLocks(t *testing.T, srv *lockredistest.Server) {
	t.Helper()
	c := rlock.New(srv.ClusterClient(), rlock.Options{})
	t.Cleanup(func() { c.Close(context.Background()) })
	for _, l := range []*rlock.Lock{
		c.Lock("plain{b}"), c.FairLock("fair{b}"), c.RWLock("rw{b}").Write(), c.RWLock("rr{b}").Read(),
	} {
		if _, err := l.Acquire(t.Context(), rlock.Lease(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	permits := c.PermitSemaphore("permits{b}")
	if _, err := permits.TrySetPermits(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if _, err := permits.Acquire(t.Context(), 1, rlock.Lease(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

// leaveTokenAndData writes a lock with a token, and two keys that are data, in slot 3300.
func leaveTokenAndData(t *testing.T, rdb *redis.Client) {
	t.Helper()
	if err := rdb.SetNX(t.Context(), "token{b}", uuid.NewString(), time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	if err := rdb.HSet(t.Context(), "map{b}", "orders", 1).Err(); err != nil {
		t.Fatal(err)
	}
	if err := rdb.Set(t.Context(), "text{b}", "orders", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
}

// locksAndPermits describes the locks and permits of a node. A fair lock counts as a plain one: without
// a queue its keys do not tell its kind.
func locksAndPermits(n *lockredistest.Server) (all []string) {
	for _, l := range n.Locks() {
		if l.Kind == lockredistest.Fair {
			l.Kind = lockredistest.Plain
		}
		all = append(all, fmt.Sprintf("%s %s %s", l.Name, l.Kind, l.Holders[0].Owner))
	}
	for _, p := range n.Permits() {
		all = append(all, fmt.Sprintf("%s permit %s", p.Name, p.ID))
	}
	return all
}

// moveSlot moves a slot, as redis-cli --cluster reshard does. It calls during when the keys have moved.
func moveSlot(t *testing.T, slot int, source, target *lockredistest.Server, during func()) {
	t.Helper()
	from, to := source.Client(), target.Client()
	do := func(rdb *redis.Client, args ...any) any {
		t.Helper()
		v, err := rdb.Do(t.Context(), args...).Result()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return v
	}
	sourceID, targetID := do(from, "CLUSTER", "MYID"), do(to, "CLUSTER", "MYID")
	do(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", sourceID)
	do(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", targetID)
	keys, err := from.ClusterGetKeysInSlot(t.Context(), slot, 100).Result()
	if err != nil || len(keys) == 0 {
		t.Fatalf("keys of slot %d: %v, %v", slot, keys, err)
	}
	nodes := strings.Split(do(to, "CLUSTER", "NODES").(string), "\n")
	i := slices.IndexFunc(nodes, func(line string) bool { return strings.Contains(line, "myself") })
	addr, _, _ := strings.Cut(strings.Fields(nodes[i])[1], "@")
	host, port, _ := net.SplitHostPort(addr)
	for _, key := range keys {
		do(from, "MIGRATE", host, port, key, 0, 5000)
	}
	during()
	do(to, "CLUSTER", "SETSLOT", slot, "NODE", targetID)
	do(from, "CLUSTER", "SETSLOT", slot, "NODE", targetID)
}

func TestPrimariesAreIndependent(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.Primaries(3), lockredistest.ManualClock())
	for i, n := range srv.Nodes() {
		n.CheckMissing(t, "key")
		if err := n.Client().Set(t.Context(), "key", i, time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
	}
	srv.Node(1).Advance(time.Minute)
	srv.Node(1).CheckMissing(t, "key")
	srv.Node(2).CheckGet(t, "key", "2")
	srv.Node(2).Stop()
	if err := srv.Node(2).Client().Ping(t.Context()).Err(); err == nil {
		t.Error("a stopped primary answers")
	}
	if err := srv.Client().Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}

func TestAQuorumHoldsWithOneOfThreePrimariesStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.Primaries(3))
		var locks []*rlock.Lock
		for _, n := range srv.Nodes() {
			c := rlock.New(n.Client(), rlock.Options{})
			defer c.Close(context.Background())
			locks = append(locks, c.Lock("orders"))
		}
		srv.Node(2).Stop()
		held, err := rlock.Quorum(locks...).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := held.Release(context.Background()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // go-redis dials the stopped primary a few times
	})
}

func TestAProxyRefusesKeysOfSeveralSlots(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.Proxy(3))
	rdb := srv.Client()
	do := func(args ...any) string {
		v, err := rdb.Do(t.Context(), args...).Result()
		if err != nil && err != redis.Nil {
			return err.Error()
		}
		s, _ := v.(string)
		return s
	}
	const cross = "CROSSSLOT Keys in request don't hash to the same slot"
	for _, test := range []struct {
		args []any
		want string
	}{
		{[]any{"SET", "a", "1"}, "OK"},
		{[]any{"MSET", "{x}a", "1", "{x}b", "2"}, "OK"},
		{[]any{"MGET", "a", "b"}, cross},
		{[]any{"DEL", "a", "b"}, cross},
		{[]any{"EVAL", "return 'ran'", 2, "a", "b"}, cross},
		{[]any{"EVAL", "return 'ran'", 2, "{x}a", "{x}b"}, "ran"},
		{[]any{"EVAL", "return redis.call('get', KEYS[1])", 1, "a"}, "1"},
		// e is at the node of a, in another slot; b is at another node.
		{[]any{"EVAL", "redis.call('set', 'e', 1) return 'ran'", 1, "a"}, "ran"},
		{[]any{"CLUSTER", "INFO"}, "ERR This instance has cluster support disabled"},
		{[]any{"CLUSTER", "SLOTS"}, "ERR This instance has cluster support disabled"},
	} {
		if got := do(test.args...); got != test.want {
			t.Errorf("%v: %s, want %s", test.args, got, test.want)
		}
	}
	if got := do("EVAL", "return redis.call('get', 'b')", 1, "a"); !strings.HasPrefix(got, "ERR Script attempted to access a non local key") {
		t.Errorf("a script's key of another node: %s", got)
	}
	_, err := rdb.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
		p.Set(t.Context(), "a", 1, 0)
		p.Set(t.Context(), "b", 1, 0)
		return nil
	})
	if err == nil || err.Error() != cross {
		t.Errorf("a transaction: %v", err)
	}
	srv.CheckMissing(t, "b")
}

func TestOptionsThatDoNotFitSeveralNodesAreRefused(t *testing.T) {
	for _, opts := range [][]lockredistest.Option{
		{lockredistest.ClusterOf(0)}, {lockredistest.Primaries(-1)}, {lockredistest.Proxy(0)},
		{lockredistest.ClusterOf(3), lockredistest.TLS()},
		{lockredistest.Primaries(3), lockredistest.Sentinel(nil)},
	} {
		if srv, err := lockredistest.Run(opts...); err == nil {
			srv.Close()
			t.Errorf("%v were accepted", opts)
		}
	}
}
