package rlock

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/retry"
)

// sweeper deletes the latches of answered requests. Without it they would stay
// until they expire, see latchLife.
type sweeper struct {
	c *Client

	mu      sync.Mutex // guards the fields below
	keys    []string   // latches to delete
	running bool
}

// sweepDelay is how long latches are collected, so that one pipeline deletes many.
// At 5 ms, sweeping took a quarter of the time of an uncontended Lock and Unlock.
const sweepDelay = 50 * time.Millisecond

// add makes the sweeper delete key soon.
func (s *sweeper) add(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, key)
	if !s.running {
		s.running = s.c.goBackground(s.run)
	}
}

func (s *sweeper) run() {
	for {
		retry.Sleep(s.c.ctx, sweepDelay)
		if s.c.ctx.Err() != nil { // close deletes the keys
			return
		}
		keys := s.take()
		if len(keys) == 0 {
			return
		}
		s.delete(s.c.ctx, keys)
	}
}

// take returns the collected keys. If there are none, run ends and the next add
// starts it again.
func (s *sweeper) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := s.keys
	s.keys = nil
	s.running = len(keys) > 0
	return keys
}

// delete deletes keys in one pipeline, with one DEL for each key in a cluster, where
// the keys are in different slots. Keys whose DEL fails expire later. When ctx ends, delete does
// not wait for a connection of the pool any more.
func (s *sweeper) delete(ctx context.Context, keys []string) {
	perCommand := 1
	if s.c.sender.Single() {
		perCommand = sweepKeys
	}
	pipe := s.c.rdb.Pipeline()
	for chunk := range slices.Chunk(keys, perCommand) {
		_ = pipe.Del(ctx, chunk...)
	}
	if _, err := pipe.Exec(ctx); err != nil && ctx.Err() != nil { // close tries once more
		s.mu.Lock()
		defer s.mu.Unlock()
		s.keys = append(s.keys, keys...)
	}
}

// sweepKeys is how many keys one DEL deletes. A longer command would delay other
// clients of the server.
const sweepKeys = 200

// close deletes the remaining keys. It waits at most closeGrace for a connection of the pool.
func (s *sweeper) close() {
	if keys := s.take(); len(keys) > 0 {
		ctx, cancel := context.WithTimeout(s.c.given, closeGrace)
		defer cancel()
		s.delete(ctx, keys)
	}
}
