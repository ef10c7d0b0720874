package rlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// eachCall calls every method that sends a request, for objects of the given name.
func eachCall(c *rlock.Client, name string) map[string]error {
	ctx := context.Background()
	errs := map[string]error{}
	for kind, l := range map[string]*rlock.Lock{
		"lock": c.Lock(name), "fair": c.FairLock(name), "spin": c.SpinLock(name),
		"fenced": c.FencedLock(name).AsLock(), "read": c.RWLock(name).Read(), "write": c.RWLock(name).Write(),
	} {
		errs[kind] = try(l)
		_, errs[kind+" locked"] = l.IsLocked(ctx)
		_, errs[kind+" forced"] = l.ForceUnlock(ctx)
		_, errs[kind+" counted"] = l.HoldCount(ctx, "me:1")
		_, errs[kind+" ttl"] = l.TTL(ctx)
	}
	s, p, d := c.Semaphore(name+"s"), c.PermitSemaphore(name+"p"), c.CountDownLatch(name+"d")
	r := c.RateLimiter(name + "r")
	if name == "" {
		s, p, d, r = c.Semaphore(name), c.PermitSemaphore(name), c.CountDownLatch(name), c.RateLimiter(name)
	}
	errs["semaphore"] = s.Release(ctx, 1)
	errs["semaphore acquired"] = s.Acquire(ctx, 1)
	_, errs["semaphore drained"] = s.Drain(ctx)
	errs["permits"] = p.SetPermits(ctx, 1)
	errs["permits acquired"] = p.Do(ctx, 1, func(context.Context) error { return nil })
	_, errs["latch"] = d.TrySetCount(ctx, 1)
	errs["latch counted"] = d.CountDown(ctx)
	errs["latch awaited"] = d.Await(ctx)
	errs["rate"] = r.SetRate(ctx, rlock.RateConfig{Rate: 1, Interval: time.Minute})
	errs["rate acquired"] = r.Acquire(ctx, 1)
	return errs
}

// Virtual time: with real time a starved processor is a server that does not answer.
func TestANameWhoseKeysAreInSeveralSlotsOfAClusterIsAnError(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		single := newClient(t, holding(t).Client(), rlock.Options{})
		srv := lockredistest.RunT(t, lockredistest.Cluster(), lockredistest.AllowLeaks())
		cluster := newClient(t, srv.ClusterClient(), rlock.Options{})
		for _, name := range []string{"", "{}", "{}x", "a{b", "a}b", "}{", "{}{a}", "{"} {
			for what, err := range eachCall(single, name) {
				if err != nil {
					t.Errorf("single server, %q, %s: %v", name, what, err)
				}
			}
			for what, err := range eachCall(cluster, name) {
				var reply redis.Error
				switch {
				case err == nil:
					t.Errorf("cluster, %q, %s: no error", name, what)
				case errors.As(err, &reply) || !strings.Contains(err.Error(), "several slots"):
					t.Errorf("cluster, %q, %s: %v", name, what, err)
				}
			}
		}
		for _, name := range []string{"a", "{a}", "{a}b", "b{a}c", "}{a}", "{a}}{", "{{a}"} {
			for what, err := range eachCall(cluster, name) {
				if err != nil {
					t.Errorf("cluster, %q, %s: %v", name, what, err)
				}
			}
		}
	})
}
