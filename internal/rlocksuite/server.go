package rlocksuite

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// everyMaster runs f on every master, one after the other.
func everyMaster(t testing.TB, rdb redis.UniversalClient, f func(*redis.Client) error) {
	t.Helper()
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		must(t, f(rdb.(*redis.Client)))
		return
	}
	var mu sync.Mutex
	must(t, cluster.ForEachMaster(context.Background(),
		func(_ context.Context, node *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			return f(node)
		}))
}

func allKeys(t testing.TB, rdb redis.UniversalClient) (all []string) {
	t.Helper()
	everyMaster(t, rdb, func(node *redis.Client) error {
		some, err := node.Keys(context.Background(), "*").Result()
		all = append(all, some...)
		return err
	})
	return all
}

// maxLatches is how many latches may stay after a test: on a slow machine a request is
// sent twice, and its latch waits for the first copy.
const maxLatches = 4

// swept waits until the server has n keys, and at most maxLatches latches: rlock deletes
// them a little later.
func swept(t testing.TB, rdb redis.UniversalClient, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d keys and few latches", n), func() bool {
		return len(Contents(t, rdb)) == n && len(allKeys(t, rdb)) <= n+maxLatches
	})
}

// Contents returns all keys and values of the server without unlock latches and
// times to live.
func Contents(t testing.TB, rdb redis.UniversalClient) map[string]string {
	t.Helper()
	ctx := context.Background()
	all := map[string]string{}
	for _, key := range allKeys(t, rdb) {
		if strings.HasPrefix(key, "redisson_unlock_latch") {
			continue
		}
		switch kind := rdb.Type(ctx, key).Val(); kind {
		case "hash":
			all[key] = fmt.Sprint(rdb.HGetAll(ctx, key).Val())
		case "list":
			all[key] = fmt.Sprint(rdb.LRange(ctx, key, 0, -1).Val())
		case "zset":
			all[key] = fmt.Sprint(rdb.ZRange(ctx, key, 0, -1).Val())
		case "string":
			all[key] = rdb.Get(ctx, key).Val()
		case "none": // it expired meanwhile
		default:
			t.Fatalf("%s is a %s", key, kind)
		}
	}
	return all
}

// sharded reports whether rlock uses sharded pub/sub: in a cluster.
func sharded(rdb redis.UniversalClient) bool {
	_, ok := rdb.(*redis.ClusterClient)
	return ok
}

// channels returns rlock's channels that have subscribers.
func channels(t testing.TB, rdb redis.UniversalClient) (all []string) {
	t.Helper()
	everyMaster(t, rdb, func(node *redis.Client) error {
		ask := node.PubSubChannels
		if sharded(rdb) {
			ask = node.PubSubShardChannels
		}
		some, err := ask(context.Background(), "redisson*").Result()
		all = append(all, some...)
		return err
	})
	return all
}

func subscribers(t testing.TB, rdb redis.UniversalClient, channel string) (n int64) {
	t.Helper()
	everyMaster(t, rdb, func(node *redis.Client) error {
		ask := node.PubSubNumSub
		if sharded(rdb) {
			ask = node.PubSubShardNumSub
		}
		numbers, err := ask(context.Background(), channel).Result()
		n += numbers[channel]
		return err
	})
	return n
}

// listened waits until channel has a subscriber.
func listened(t testing.TB, rdb redis.UniversalClient, channel string) {
	t.Helper()
	eventually(t, "a subscriber of "+channel, func() bool { return subscribers(t, rdb, channel) > 0 })
}

// messages subscribes to channel.
func messages(t testing.TB, rdb redis.UniversalClient, channel string) <-chan *redis.Message {
	t.Helper()
	subscribe := rdb.Subscribe
	if sharded(rdb) {
		subscribe = rdb.SSubscribe
	}
	ps := subscribe(context.Background(), channel)
	t.Cleanup(func() { ps.Close() })
	if _, err := ps.Receive(context.Background()); err != nil {
		t.Fatal(err)
	}
	return ps.Channel()
}

// queued returns the owners in the queue of the fair lock l.
func queued(rdb redis.UniversalClient) []string {
	return rdb.LRange(context.Background(), FairQueue, 0, -1).Val()
}

// score returns an owner's deadline in the fair queue, in ms.
func score(rdb redis.UniversalClient, owner string) int64 {
	return int64(rdb.ZScore(context.Background(), FairTimeouts, owner).Val())
}

// Enqueue appends an owner to the queue of the fair lock l. The owner never acquires
// the lock; its deadline is after the time until.
func Enqueue(rdb redis.UniversalClient, owner string, until time.Duration) {
	ctx := context.Background()
	rdb.RPush(ctx, FairQueue, owner)
	rdb.ZAdd(ctx, FairTimeouts,
		redis.Z{Score: float64(time.Now().Add(until).UnixMilli()), Member: owner})
}

// rwChannel is the channel of the read-write lock l.
const rwChannel = "redisson_rwlock:{l}"

// timeoutKey returns the key of an owner's n-th read hold of the lock l.
func timeoutKey(owner, n string) string { return "{l}:" + owner + ":rwlock_timeout:" + n }
