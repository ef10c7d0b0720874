package faults

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/tcpproxy"
	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/stall"
)

// three returns a process on three servers, with a network to each.
func three(t *testing.T, o clientOptions) (client, []redis.UniversalClient, []*tcpproxy.Network) {
	t.Helper()
	var rdbs, direct []redis.UniversalClient
	var nets []*tcpproxy.Network
	for range 3 {
		tp := topology.Start(t, topology.Lockredis)
		n := tcpproxy.New(t)
		nets = append(nets, n)
		direct = append(direct, tp.Client(t))
		rdbs = append(rdbs, tp.Client(t, func(o *redis.UniversalOptions) { o.Dialer = n.Dial }))
	}
	c := newQuorum(rdbs, o)
	t.Cleanup(func() {
		for _, n := range nets {
			n.Heal()
		}
		c.close(t.Context())
	})
	return c, direct, nets
}

func TestAQuorumEntersAgainWithoutAMinority(t *testing.T) {
	redistest.SkipUnlessWhole(t) // leases of seconds pass
	t.Parallel()
	for name, fault := range map[string]func(redis.UniversalClient, *tcpproxy.Network){
		"a server loses its data": func(rdb redis.UniversalClient, n *tcpproxy.Network) {
			rdb.FlushAll(t.Context())
			n.Drop()
		},
		"a server is cut off": func(_ redis.UniversalClient, n *tcpproxy.Network) { n.Stall() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const lease = 5 * time.Second // a busy machine renews it, too
			c, direct, nets := three(t, clientOptions{lease: lease})
			l := c.lock(quorumLock, "orders")
			h := must[hold](t, "acquire")(l.acquire(t.Context(), patient))
			fault(direct[0], nets[0])
			within(h.lost(), lease*5/4) // the part of that server is lost
			if err := h.context().Err(); err != nil {
				t.Fatalf("the hold ended: %v", err)
			}
			inner, err := l.acquire(h.context(), how{wait: 0})
			if err != nil {
				t.Fatalf("enter again: %v", err)
			}
			if err := inner.release(t.Context()); err != nil {
				t.Errorf("release the inner hold: %v", err)
			}
			if err := h.release(t.Context()); err != nil {
				t.Errorf("release: %v", err)
			}
		})
	}
}

// A hold of two of three parts is entered again, although another owner has the third.
func TestAQuorumEntersAgainWhileAnotherOwnerHasItsMinority(t *testing.T) {
	t.Parallel()
	c, direct, nets := three(t, clientOptions{lease: 10 * time.Second})
	nets[0].Stall()
	h := must[hold](t, "acquire")(c.lock(quorumLock, "orders").acquire(t.Context(), patient))
	nets[0].Resume()
	await(t, 5*time.Second, "the late request is undone", func() bool {
		return direct[0].Exists(t.Context(), "orders").Val() == 0
	})
	other := newClient(direct[0], clientOptions{lease: 10 * time.Second})
	defer other.close(t.Context())
	third := must[hold](t, "acquire")(other.lock(plainLock, "orders").acquire(t.Context(), patient))
	inner, err := c.lock(quorumLock, "orders").acquire(h.context(), how{wait: 0})
	if err != nil {
		t.Errorf("enter again: %v", err)
	} else if err := inner.release(t.Context()); err != nil {
		t.Errorf("release the inner hold: %v", err)
	}
	third.release(t.Context())
	if err := h.release(t.Context()); err != nil {
		t.Errorf("release: %v", err)
	}
}

func TestAServerThatHangsDoesNotDelayTheReleaseOfAQuorum(t *testing.T) {
	t.Parallel()
	c, direct, nets := three(t, clientOptions{lease: 10 * time.Second})
	l := c.lock(quorumLock, "orders")
	for i, n := range nets {
		// A part that is late by 50 ms is left out of the hold. Then both others are needed.
		stall.Undisturbed(t, 20*time.Millisecond, func() error {
			h := must[hold](t, "acquire")(l.acquire(t.Context(), patient))
			n.Stall()
			start := time.Now()
			err := h.release(t.Context())
			took := time.Since(start)
			n.Resume()
			await(t, 10*time.Second, "the lock is free", func() bool {
				return direct[i].Exists(t.Context(), "orders").Val() == 0
			})
			if err != nil || took > 8*time.Second { // it was 30 s, on any machine
				return fmt.Errorf("server %d: released with %v in %s", i, err, took)
			}
			return nil
		})
	}
}

// The servers lose their data one after the other.
func TestAQuorumSurvivesRestartsOfItsServers(t *testing.T) {
	redistest.SkipUnlessWhole(t) // leases of seconds pass
	t.Parallel()
	c, direct, nets := three(t, clientOptions{lease: 10 * time.Second})
	h := must[hold](t, "acquire")(c.lock(quorumLock, "orders").acquire(t.Context(), patient))
	within(h.lost(), 1500*time.Millisecond) // its servers are watched
	for i, n := range nets {
		direct[i].FlushAll(t.Context())
		n.Drop()
		await(t, 10*time.Second, "the part is taken again", func() bool {
			return direct[i].Exists(t.Context(), "orders").Val() == 1
		})
		within(h.lost(), time.Second) // the other parts are verified
	}
	if err := h.release(t.Context()); err != nil {
		t.Errorf("release: %v", err)
	}
}
