package lockredistest_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
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

// redis.NewFailoverClient looks a name up. Only the first lookup of a process matters, so this test
// runs in a process of its own.
func TestFailoverClientsConnectInSeveralBubblesAndOutside(t *testing.T) {
	const alone = "LOCKREDISTEST_ALONE"
	if os.Getenv(alone) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	ping := func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.Sentinel(nil))
		if err := srv.FailoverClient().Ping(t.Context()).Err(); err != nil {
			t.Error(err)
		}
	}
	synctest.Test(t, ping)
	synctest.Test(t, ping)
	ping(t)
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
		next := func(n int) (channels []string) {
			t.Helper()
			for range n {
				m, err := events.ReceiveMessage(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(m.Payload, "master ") {
					channels = append(channels, m.Channel)
				}
			}
			return channels
		}
		if err := hold.Release(t.Context()); err != nil {
			t.Error(err)
		}
		start := time.Now()
		srv.Stop()
		if down := next(2); !slices.Equal(down, []string{"+sdown", "+odown"}) {
			t.Errorf("events %v, want +sdown and then +odown", down)
		}
		if took := time.Since(start); took < 30*time.Second || took > 34*time.Second {
			t.Errorf("down after %v, want 30 s", took)
		}
		if err := srv.Restart(); err != nil {
			t.Fatal(err)
		}
		// The other two Sentinels may take back their votes before this one sees the server.
		if up := next(2); !slices.Contains(up, "-sdown") || !slices.Contains(up, "-odown") {
			t.Errorf("events %v, want -sdown and -odown", up)
		}
	})
}
