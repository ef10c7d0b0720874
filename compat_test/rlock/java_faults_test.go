package rlock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/peer"
	"github.com/lockredis/lockredis/compat_test/rlock/tcpproxy"
	"github.com/lockredis/lockredis/rlock"
)

// leaveQueue lets a Go owner queue for a fair lock before a Java thread, and give up in
// different ways. Java must get the lock as soon as its holder releases it. Without the
// Go owner's leaving, Java waits for Options.FairWait, 5 minutes.
func leaveQueue(t *testing.T, p *pair) {
	const soon = 2 * time.Second
	owner := p.java.Thread(t, "a")
	for _, giveUp := range []struct {
		name string // what ends
		do   func(cancel context.CancelFunc, c *rlock.Client, rdb redis.UniversalClient)
	}{
		{"context", func(cancel context.CancelFunc, _ *rlock.Client,
			_ redis.UniversalClient) {
			cancel()
		}},
		{"client", func(_ context.CancelFunc, c *rlock.Client, _ redis.UniversalClient) {
			c.Close(context.Background())
		}},
		{"program", func(cancel context.CancelFunc, c *rlock.Client,
			rdb redis.UniversalClient) {
			cancel()
			c.Close(context.Background())
			rdb.Close()
		}},
	} {
		for _, atOnce := range []bool{false, true} {
			name := "orders:left:" + giveUp.name
			holder := lock(t, p.gos.FairLock(name))
			rdb := p.tp.Client(t)
			c := rlock.New(rdb, rlock.Options{})
			t.Cleanup(func() { c.Close(context.Background()) })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			gone := make(chan error, 1)
			go func() {
				_, err := c.FairLock(name).Acquire(ctx)
				gone <- err
			}()
			p.awaitQueue(t, name, 1)
			waiting := owner.BeginLock(peer.Fair, name, peer.Watched)
			p.awaitQueue(t, name, 2)

			giveUp.do(cancel, c, rdb)
			if !atOnce {
				p.awaitQueue(t, name, 1)
			}
			released := time.Now()
			check(t, holder.Release(t.Context()))
			if err := <-gone; err == nil {
				t.Errorf("the %s ended, and its owner has the lock", giveUp.name)
			}
			answer, ok := waiting.Within(soon)
			if !ok {
				t.Errorf("the %s ended: Java has no lock %s after its release (at once: %v)",
					giveUp.name, soon, atOnce)
				answer = waiting.Wait()
			}
			check(t, answer.Err)
			t.Logf("the %s ended: Java has the lock after %s", giveUp.name,
				answer.Ended.Sub(released).Round(time.Millisecond/10))
			owner.Unlock(peer.Fair, name)
		}
	}
}

// crossOver lets Java lock two parts in the opposite order of Go. So at times each side
// holds one part and waits for the other. Redisson and rlock then wait up to 3 s for the
// part. Some owner must have both parts again after that.
func crossOver(t *testing.T, p *pair) {
	const (
		times   = 8
		longest = 8 * time.Second // without progress
	)
	const first, second, counter = "orders:x1", "orders:x2", "orders:counter:crossed"
	owner := p.java.Thread(t, "a")

	// Java has the second part and does not give it back: Go must give back the first.
	owner.Lock(peer.Lock, second, peer.Watched)
	golang := begin(func(ctx context.Context) error {
		return p.countOnce(ctx, peer.Multi, first+","+second, counter)
	})
	awaitThat(t, "Go to hold the first part", func() bool {
		locked, err := p.gos.Lock(first).IsLocked(t.Context())
		return locked && err == nil
	})
	start := time.Now()
	check(t, owner.BeginCount(peer.Multi, second+","+first, counter, 1).Wait().Err)
	gaveBack := time.Since(start)
	owner.Unlock(peer.Lock, second)
	check(t, (<-golang).err)
	if gaveBack > longest {
		t.Errorf("Go gave the first part back after %s, want at most %s", gaveBack, longest)
	}

	java := owner.BeginCount(peer.Multi, second+","+first, counter, times)
	golang = begin(func(ctx context.Context) error {
		for range times {
			err := p.goMulti(first+","+second).Do(ctx, func(ctx context.Context) error {
				time.Sleep(5 * time.Millisecond) // Java waits for its first part meanwhile
				return p.rdb.Incr(ctx, counter).Err()
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	var worst time.Duration
	last, since, end := 0, time.Now(), time.Now().Add(time.Minute)
	for last < 2*times+2 && time.Now().Before(end) {
		if n, _ := p.rdb.Get(t.Context(), counter).Int(); n > last {
			last, since = n, time.Now()
		}
		worst = max(worst, time.Since(since))
		time.Sleep(2 * time.Millisecond)
	}
	check(t, (<-golang).err)
	check(t, java.Wait().Err)
	t.Logf("Go gave its part back after %s; %d holds, the longest time without one: %s",
		gaveBack.Round(time.Millisecond), last, worst.Round(time.Millisecond))
	if last != 2*times+2 || worst > longest {
		t.Errorf("%d holds, want %d; %s without one, want at most %s", last, 2*times+2, worst, longest)
	}
}

// losePermits counts as countExactly does, while replies to Go are lost. Afterwards all
// permits must be there, and no more.
func losePermits(t *testing.T, p *pair) {
	const (
		times   = 30
		permits = 1
		nth     = 7 // reply that is lost
	)
	network := tcpproxy.New(t)
	lossy := *p
	rdb := p.tp.Client(t, func(o *redis.UniversalOptions) { o.Dialer = network.Dial })
	lossy.gos = rlock.New(rdb, rlock.Options{Lease: watched})
	t.Cleanup(func() { lossy.gos.Close(context.Background()) })
	check(t, set(p.gos.Semaphore("orders:semaphore").TrySetPermits(t.Context(), permits)))
	check(t, set(p.gos.PermitSemaphore("orders:permit").TrySetPermits(t.Context(), permits)))
	var scripts atomic.Int64
	network.Apply(func(c tcpproxy.Command) tcpproxy.Fault {
		if c.Name() == "evalsha" && scripts.Add(1)%nth == 0 {
			return tcpproxy.Fault{Kind: tcpproxy.LoseReply}
		}
		return tcpproxy.Fault{}
	})
	start := time.Now()
	for _, kind := range []peer.Kind{"semaphore", "permit"} {
		lossy.countTogether(t, kind, "orders:"+string(kind), "orders:counter:"+string(kind), times)
	}
	network.Heal()
	awaitThat(t, "all permits to be free", func() bool {
		a, err := p.gos.Semaphore("orders:semaphore").Available(t.Context())
		b, err2 := p.gos.PermitSemaphore("orders:permit").Available(t.Context())
		return errors.Join(err, err2) == nil && a == permits && b == permits
	})
	t.Logf("%d of %d replies lost, %s", scripts.Load()/nth, scripts.Load(),
		time.Since(start).Round(time.Millisecond))
}
