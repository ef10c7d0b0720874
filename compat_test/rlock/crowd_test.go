package rlock_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/rlock"
)

// crowdTag is the part in braces of the names that a crowd uses, so they are in one slot.
const crowdTag = "{orders}"

// crowdKinds are the acquisitions of a crowd.
var crowdKinds = map[string]func(ctx context.Context, c *rlock.Client, o rlock.Option) (*rlock.Hold, error){
	"lock": func(ctx context.Context, c *rlock.Client, o rlock.Option) (*rlock.Hold, error) {
		return c.Lock(crowdTag+"lock").Acquire(ctx, o)
	},
	"fair": func(ctx context.Context, c *rlock.Client, o rlock.Option) (*rlock.Hold, error) {
		return c.FairLock(crowdTag+"fair").Acquire(ctx, o)
	},
	"write": func(ctx context.Context, c *rlock.Client, o rlock.Option) (*rlock.Hold, error) {
		return c.RWLock(crowdTag+"rw").Write().Acquire(ctx, o)
	},
	"fenced": func(ctx context.Context, c *rlock.Client, o rlock.Option) (*rlock.Hold, error) {
		h, err := c.FencedLock(crowdTag+"fenced").Acquire(ctx, o)
		if err != nil {
			return nil, err
		}
		return h.Hold, nil
	},
	"multi": func(ctx context.Context, c *rlock.Client, o rlock.Option) (*rlock.Hold, error) {
		return rlock.Multi(c.Lock(crowdTag+"part"), c.Lock("elsewhere")).Acquire(ctx, o)
	},
}

// crowd is goroutines of three clients that acquire a lock of each kind, again and again.
type crowd struct {
	t       *testing.T
	clients []*rlock.Client
	stop    chan struct{}
	wg      sync.WaitGroup
	served  sync.Map // kind → *atomic.Int64
}

func newCrowd(t *testing.T, tp *topology.Topology) *crowd {
	c := &crowd{t: t, stop: make(chan struct{})}
	for range 3 {
		c.clients = append(c.clients, rlock.New(tp.Client(t), rlock.Options{}))
	}
	for kind := range crowdKinds {
		var inside, served atomic.Int64
		c.served.Store(kind, &served)
		for _, client := range c.clients {
			c.wg.Go(func() { c.work(kind, client, &inside, &served) })
		}
	}
	return c
}

func (c *crowd) work(kind string, client *rlock.Client, inside, served *atomic.Int64) {
	for {
		select {
		case <-c.stop:
			return
		default:
		}
		wait := time.Minute
		if rand.N(4) == 0 {
			wait = time.Duration(rand.N(50)) * time.Millisecond
		}
		h, err := crowdKinds[kind](context.Background(), client, rlock.Wait(wait))
		if err != nil {
			if wait == time.Minute || wait > 0 && !errors.Is(err, rlock.ErrTimeout) {
				c.t.Errorf("%s: acquire: %v", kind, err)
			}
			continue
		}
		if n := inside.Add(1); n > 1 {
			c.t.Errorf("%s: %d owners", kind, n)
		}
		time.Sleep(time.Duration(rand.N(10)) * time.Millisecond)
		inside.Add(-1)
		if err := h.Release(context.Background()); err != nil {
			c.t.Errorf("%s: release: %v", kind, err)
		}
		served.Add(1)
	}
}

// end ends the goroutines, closes the clients and checks that nothing is left.
func (c *crowd) end(tp *topology.Topology) {
	close(c.stop)
	c.wg.Wait()
	for _, client := range c.clients {
		if err := client.Close(context.Background()); err != nil {
			c.t.Error(err)
		}
	}
	c.served.Range(func(kind, n any) bool {
		if n.(*atomic.Int64).Load() == 0 {
			c.t.Errorf("%s: no owner at all", kind)
		}
		return true
	})
	rdb := tp.Client(c.t)
	for _, name := range []string{crowdTag + "lock", crowdTag + "fair", crowdTag + "rw", crowdTag + "fenced",
		crowdTag + "part", "elsewhere"} {
		if n, err := rdb.Exists(context.Background(), name).Result(); n != 0 || err != nil {
			c.t.Errorf("%s is left: %d, %v", name, n, err)
		}
	}
}

// move moves the slot of crowdTag to another node, with its keys, one or a few at a time.
func move(t *testing.T, from, to *topology.Node, slot any) {
	t.Helper()
	do := func(n *topology.Node, args ...any) any {
		t.Helper()
		reply, err := n.Do(args...)
		check(t, err)
		return reply
	}
	host, port, err := net.SplitHostPort(to.Addr)
	check(t, err)
	id := do(to, "CLUSTER", "MYID")
	do(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", do(from, "CLUSTER", "MYID"))
	do(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", id)
	for {
		keys, _ := do(from, "CLUSTER", "GETKEYSINSLOT", slot, 1+rand.N(3)).([]any)
		if len(keys) == 0 {
			break
		}
		do(from, append([]any{"MIGRATE", host, port, "", 0, 5000, "REPLACE", "AUTH", topology.Password, "KEYS"},
			keys...)...)
		time.Sleep(time.Duration(rand.N(20)) * time.Millisecond)
	}
	for _, n := range []*topology.Node{to, from} {
		do(n, "CLUSTER", "SETSLOT", slot, "NODE", id)
	}
}

// TestLocksExcludeWhileTheirSlotMoves moves a slot through the nodes of a cluster while owners
// acquire, hold and release locks in it.
func TestLocksExcludeWhileTheirSlotMoves(t *testing.T) {
	t.Parallel()
	topology.Parallel(t, []topology.Kind{topology.Cluster}, func(t *testing.T, tp *topology.Topology) {
		var masters []*topology.Node
		for _, key := range []string{"a", "b", "c"} { // one of each node
			masters = append(masters, tp.Master(t, key))
		}
		slot, err := masters[0].Do("CLUSTER", "KEYSLOT", crowdTag)
		check(t, err)
		c := newCrowd(t, tp)
		for range 12 {
			from := tp.Master(t, crowdTag)
			to := masters[rand.N(len(masters))]
			for to == from {
				to = masters[rand.N(len(masters))]
			}
			move(t, from, to, slot)
			time.Sleep(time.Duration(rand.N(300)) * time.Millisecond)
		}
		c.end(tp)
	})
}

// TestLocksExcludeThroughOrderlyFailovers lets the masters of a cluster hand over. Sentinel's orderly
// failover loses writes.
func TestLocksExcludeThroughOrderlyFailovers(t *testing.T) {
	t.Parallel()
	topology.Parallel(t, []topology.Kind{topology.Cluster}, func(t *testing.T, tp *topology.Topology) {
		c := newCrowd(t, tp)
		for range 2 {
			tp.Failover(t, crowdTag)
			time.Sleep(500 * time.Millisecond)
		}
		c.end(tp)
	})
}
