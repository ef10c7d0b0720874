package compat

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// compareAndDelete releases a plain lock only if its value is still the caller's.
var compareAndDelete = redis.NewScript(
	`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end`)

// goRedis returns a go-redis client of the server at LOCKREDIS_ADDR, or of an in-process
// lockredis.
func goRedis(t *testing.T, protocol int) *redis.Client {
	t.Helper()
	addr := os.Getenv("LOCKREDIS_ADDR")
	if addr == "" {
		addr = startLockredis(t, nil)
	}
	client := redis.NewClient(&redis.Options{Addr: addr, Protocol: protocol})
	t.Cleanup(func() { client.Close() })
	return client
}

// onBothProtocols runs a test over RESP2 and over RESP3, each with its own key.
func onBothProtocols(t *testing.T, test func(t *testing.T, client *redis.Client, key string)) {
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", protocol), func(t *testing.T) {
			client := goRedis(t, protocol)
			key := t.Name() + time.Now().Format(":150405.000000000")
			t.Cleanup(func() { client.Del(context.Background(), key, key+":counter") })
			test(t, client, key)
		})
	}
}

func TestSetnxWithExpireLocksUntilTheLeaseEnds(t *testing.T) {
	onBothProtocols(t, func(t *testing.T, client *redis.Client, key string) {
		ctx := t.Context()
		if ok, err := client.SetNX(ctx, key, "one", 0).Result(); !ok || err != nil {
			t.Fatalf("first SETNX: %v, %v", ok, err)
		}
		for _, lease := range []time.Duration{time.Hour, 60 * time.Millisecond} {
			if ok, err := client.PExpire(ctx, key, lease).Result(); !ok || err != nil {
				t.Fatalf("PEXPIRE: %v, %v", ok, err)
			}
			if lease == time.Hour {
				if ok, err := client.SetNX(ctx, key, "two", 0).Result(); ok || err != nil {
					t.Fatalf("SETNX of a taken lock: %v, %v", ok, err)
				}
			}
		}
		awaitLock(t, func() (bool, error) { return client.SetNX(ctx, key, "two", 0).Result() })
		if ttl, err := client.PTTL(ctx, key).Result(); ttl != -1 || err != nil {
			t.Fatalf("PTTL of a lock without lease: %v, %v", ttl, err)
		}
	})
}

func TestSetNxPxLocksUntilTheLeaseEnds(t *testing.T) {
	onBothProtocols(t, func(t *testing.T, client *redis.Client, key string) {
		ctx := t.Context()
		start := time.Now()
		if ok, err := client.SetNX(ctx, key, "one", 60*time.Millisecond).Result(); !ok || err != nil {
			t.Fatalf("first SET NX PX: %v, %v", ok, err)
		}
		awaitLock(t, func() (bool, error) { return client.SetNX(ctx, key, "two", time.Minute).Result() })
		if held := time.Since(start); held < 55*time.Millisecond {
			t.Fatalf("a lease of 60 ms ended after %s", held)
		}
		if owner, err := client.Get(ctx, key).Result(); owner != "two" || err != nil {
			t.Fatalf("owner %q, %v", owner, err)
		}
	})
}

func TestScriptDeletesOnlyItsOwnersLock(t *testing.T) {
	onBothProtocols(t, func(t *testing.T, client *redis.Client, key string) {
		ctx := t.Context()
		client.Set(ctx, key, "one", time.Minute)
		for _, row := range []struct {
			owner string
			want  int64
		}{{"two", 0}, {"one", 1}, {"one", 0}} {
			n, err := compareAndDelete.Run(ctx, client, []string{key}, row.owner).Int64()
			if n != row.want || err != nil {
				t.Fatalf("unlock by %s: %d, %v, want %d", row.owner, n, err, row.want)
			}
		}
	})
}

func TestContendedPlainLockCountsExactly(t *testing.T) {
	const owners, times = 8, 25
	onBothProtocols(t, func(t *testing.T, client *redis.Client, key string) {
		var all sync.WaitGroup
		for owner := range owners {
			all.Go(func() {
				for range times {
					if err := countUnderLock(t.Context(), client, key, fmt.Sprint(owner)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		if n, err := client.Get(t.Context(), key+":counter").Int(); n != owners*times || err != nil {
			t.Fatalf("counted %d, %v, want %d", n, err, owners*times)
		}
	})
}

// countUnderLock adds one to the counter by a read and a write. The count is right only
// if one owner at a time does it.
func countUnderLock(ctx context.Context, client *redis.Client, key, owner string) error {
	for {
		ok, err := client.SetNX(ctx, key, owner, time.Minute).Result()
		if err != nil {
			return err
		}
		if ok {
			break
		}
	}
	n, err := client.Get(ctx, key+":counter").Int()
	if err != nil && err != redis.Nil {
		return err
	}
	if err := client.Set(ctx, key+":counter", n+1, 0).Err(); err != nil {
		return err
	}
	return compareAndDelete.Run(ctx, client, []string{key}, owner).Err()
}

// awaitLock polls until the caller has the lock.
func awaitLock(t *testing.T, try func() (bool, error)) {
	t.Helper()
	const limit = 30 * time.Second
	for deadline := time.Now().Add(limit); ; {
		ok, err := try()
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the lease did not end within %v", limit)
		}
	}
}
