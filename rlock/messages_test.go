package rlock_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/rlock"
)

func TestEveryKindPublishesItsReleaseAsRedissonDoes(t *testing.T) {
	ctx := context.Background()
	want := map[string][]string{
		"lock":   {"redisson_lock__channel:{l} 0"},
		"fenced": {"redisson_lock__channel:{l} 0"},
		"read":   {"redisson_rwlock:{l} 0"},
		"write":  {"redisson_rwlock:{l} 1"},
		"fair":   {"redisson_lock__channel:{l}:next:1 0"},
	}
	for _, k := range rlocksuite.Kinds() {
		t.Run(k.Label, func(t *testing.T) {
			rdb := connect(t)
			heard := listen(t, rdb)
			me := k.Make(newClient(t, rdb, rlock.Options{ID: "me"}), "l")
			for _, end := range []struct {
				what string
				send func(*rlock.Claim) (any, error)
			}{
				{"release", (*rlock.Claim).Release},
				{"force", func(*rlock.Claim) (any, error) { return me.SendForce() }},
			} {
				rdb.Del(ctx, rlocksuite.FairQueue, rlocksuite.FairTimeouts)
				claim := me.NewClaim(1, end.what)
				if _, err := claim.Acquire(time.Minute, false); err != nil {
					t.Fatal(err)
				}
				if k.Label == "fair" {
					rlocksuite.Enqueue(rdb, "next:1", time.Minute)
				}
				if early := heard(); len(early) > 0 {
					t.Fatalf("messages %v before the %s", early, end.what)
				}
				if got, err := end.send(claim); got != int64(1) || err != nil {
					t.Fatal(end.what, got, err)
				}
				if got := heard(); !slices.Equal(got, want[k.Label]) {
					t.Fatalf("%s: messages %v", end.what, got)
				}
			}
		})
	}
}

// listen returns a function that returns the messages published since its last call.
func listen(t testing.TB, rdb *redis.Client) func() []string {
	t.Helper()
	ctx := context.Background()
	listener := rdb.PSubscribe(ctx, "*")
	t.Cleanup(func() { listener.Close() })
	if _, err := listener.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	return func() (messages []string) {
		t.Helper()
		must(t, rdb.Publish(ctx, "end", "").Err())
		for {
			m, err := listener.ReceiveMessage(ctx)
			must(t, err)
			if m.Channel == "end" {
				return messages
			}
			messages = append(messages, m.Channel+" "+m.Payload)
		}
	}
}
