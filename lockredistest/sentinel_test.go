package lockredistest_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestAFailoverClientConnects(t *testing.T) {
	t.Parallel()
	named := lockredistest.Sentinel(func(c *lockredis.SentinelConfig) {
		c.Master, c.Password = "orders", "sesame"
	})
	for name, opts := range map[string][]lockredistest.Option{
		"in memory": {lockredistest.Sentinel(nil)},
		"password":  {named, lockredistest.Password("secret")},
		"sockets":   {lockredistest.Sentinel(nil), lockredistest.Listen("127.0.0.1:0")},
	} {
		t.Run(name, func(t *testing.T) {
			srv := lockredistest.RunT(t, opts...)
			if err := srv.FailoverClient().Set(t.Context(), "key", "value", 0).Err(); err != nil {
				t.Fatal(err)
			}
			srv.CheckGet(t, "key", "value")
			if got := len(srv.Sentinels().Addrs()); got != 3 {
				t.Errorf("%d Sentinels, want 3", got)
			}
		})
	}
}

// The bubble's time is virtual: 30 seconds pass at once.
func TestSentinelsSeeAStoppedServerInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.Sentinel(nil), lockredistest.AllowLeaks())
		rdb := srv.FailoverClient()
		lock := rlock.New(rdb, rlock.Options{})
		defer lock.Close(context.Background())
		hold, err := lock.Lock("orders").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		watcher := redis.NewSentinelClient(&redis.Options{
			Addr:   srv.Sentinels().Addrs()[0],
			Dialer: srv.Sentinels().Dial, PoolSize: 100, PipelinePoolSize: -1, DisableIdentity: true,
		})
		defer watcher.Close()
		events := watcher.Subscribe(t.Context(), "+sdown", "-sdown", "+odown", "-odown")
		defer events.Close()
		if _, err := events.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		expect := func(want ...string) {
			t.Helper()
			var got []string
			for range want {
				m, err := events.ReceiveMessage(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if m.Payload[:6] == "master" {
					got = append(got, m.Channel)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("events %v, want %v", got, want)
			}
		}
		if err := hold.Release(t.Context()); err != nil {
			t.Error(err)
		}
		start := time.Now()
		srv.Stop()
		expect("+sdown", "+odown")
		if took := time.Since(start); took < 30*time.Second || took > 34*time.Second {
			t.Errorf("down after %v, want 30 s", took)
		}
		if err := srv.Restart(); err != nil {
			t.Fatal(err)
		}
		expect("-sdown", "-odown")
	})
}
