package lockredistest_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/lockredistest"
)

// followed starts a primary, and a replica whose link is up.
func followed(t *testing.T) (primary, replica *lockredistest.Server, p, r *redis.Client) {
	t.Helper()
	primary, replica = lockredistest.RunT(t), lockredistest.RunT(t)
	p, r = redis.NewClient(primary.Options()), redis.NewClient(replica.Options())
	t.Cleanup(func() { p.Close(); r.Close() })
	p.Set(t.Context(), "k", "v", 0)
	host, port, _ := net.SplitHostPort(primary.Addr())
	if err := r.Do(t.Context(), "REPLICAOF", host, port).Err(); err != nil {
		t.Fatal(err)
	}
	awaitValue(t, r, "k", "v")
	return primary, replica, p, r
}

// awaitValue waits until a replica whose link is up has a value; "" means no key.
func awaitValue(t *testing.T, c *redis.Client, key, value string) {
	t.Helper()
	var info string
	if !redistest.Poll(time.Minute, func() bool {
		info = c.Info(t.Context(), "replication").Val()
		return c.Get(t.Context(), key).Val() == value && strings.Contains(info, "master_link_status:up")
	}) {
		t.Fatalf("%s is not %q; %s", key, value, info)
	}
}

func TestAReplicaThatRestartsFollowsAgain(t *testing.T) {
	for name, restart := range map[string]func(*lockredistest.Server) error{
		"with its keys": (*lockredistest.Server).Restart, "empty": (*lockredistest.Server).RestartEmpty,
	} {
		t.Run(name, func(t *testing.T) {
			_, replica, p, r := followed(t)
			replica.Stop()
			p.Set(t.Context(), "missed", "v", 0)
			if err := restart(replica); err != nil {
				t.Fatal(err)
			}
			p.Set(t.Context(), "later", "v", 0)
			for _, key := range []string{"k", "missed", "later"} {
				awaitValue(t, r, key, "v")
			}
		})
	}
}

func TestTheReplicaOfAPrimaryThatRestartsHasItsKeys(t *testing.T) {
	for value, restart := range map[string]func(*lockredistest.Server) error{
		"v": (*lockredistest.Server).Restart, "": (*lockredistest.Server).RestartEmpty,
	} {
		primary, _, p, r := followed(t)
		if err := restart(primary); err != nil {
			t.Fatal(err)
		}
		p.Set(t.Context(), "later", "v", 0)
		awaitValue(t, r, "later", "v")
		awaitValue(t, r, "k", value)
	}
}
