package persistence

import (
	"math/rand/v2"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// randomValues is how many random values a test exchanges.
const randomValues = 400

func TestPayloadsGoBothWays(t *testing.T) {
	redistest.SkipUnderRaceDetector(t) // one client, and DUMP and RESTORE use no other goroutine
	for _, compression := range []string{"yes", "no"} {
		t.Run("rdbcompression "+compression, func(t *testing.T) {
			redis := startOracle(t, "--rdbcompression", compression)
			lock := startLockredis(t, map[string]string{"rdbcompression": compression})
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			for _, v := range values(rand.New(rand.NewPCG(seed, 1)), randomValues) {
				exchange(t, redis, lock, v)
			}
		})
	}
}

// exchange makes a value on both servers. Each server restores the other's payload.
func exchange(t *testing.T, redis, lock *client, v value) {
	t.Helper()
	for _, c := range []*client{redis, lock} {
		c.do("DEL", "k", "own", "other")
		for _, cmd := range v.cmds {
			c.do(line(cmd, "k")...)
		}
	}
	fromRedis, fromLock := redis.do("DUMP", "k"), lock.do("DUMP", "k")
	if v.ordered && fromRedis != fromLock {
		t.Errorf("%s: payload\nredis-server %.300q\nlockredis    %.300q", v.what, fromRedis, fromLock)
	}
	want := redis.ask("DEBUG", "DIGEST-VALUE", "k").String()
	for _, c := range []*client{redis, lock} {
		c.do("RESTORE", "own", "0", fromLock)
		c.do("RESTORE", "other", "0", fromRedis)
		for _, key := range []string{"k", "own", "other"} {
			if got := c.ask("DEBUG", "DIGEST-VALUE", key).String(); got != want {
				t.Errorf("%s: %s: digest of %s is %s, want %s", v.what, c.name, key, got, want)
			}
			if got, want := c.do("OBJECT", "ENCODING", key), redis.do("OBJECT", "ENCODING", key); got != want {
				t.Errorf("%s: %s: encoding of %s is %s, want %s", v.what, c.name, key, got, want)
			}
		}
	}
	if again := lock.do("DUMP", "other"); v.ordered && again != fromRedis {
		t.Errorf("%s: restored payload\nredis-server %.300q\nlockredis    %.300q", v.what, fromRedis, again)
	}
}
