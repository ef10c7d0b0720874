package sender

import (
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// clientCell holds a client, or nil, for several goroutines. It does what
// atomic.Pointer[redis.Client] does. For that type the compiler writes every method of the
// client again: 4,000 functions, in each program.
type clientCell struct {
	value atomic.Value // a *redis.Client; empty: nil
}

func (c *clientCell) load() *redis.Client {
	rdb, _ := c.value.Load().(*redis.Client)
	return rdb
}

func (c *clientCell) store(rdb *redis.Client) { c.value.Store(rdb) }
