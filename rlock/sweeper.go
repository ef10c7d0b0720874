package rlock

import (
	"context"
	"slices"
	"sync"
	"time"
)

// sweeper deletes the latches of unlocks that have been answered. They would end
// by themselves, but only after seconds.
type sweeper struct {
	c *Client

	mu      sync.Mutex // guards the fields below
	keys    []string
	running bool
}

// sweepDelay is how long latches gather, so that many go in one pipeline. At 5 ms
// sweeping took a quarter of an uncontended lock and unlock's time.
const sweepDelay = 50 * time.Millisecond

// add has key deleted soon.
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
		pause(s.c.ctx, sweepDelay)
		keys := s.take()
		if len(keys) == 0 {
			return
		}
		s.delete(keys)
	}
}

// take returns what has gathered; when that is nothing the next add starts a
// new run.
func (s *sweeper) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := s.keys
	s.keys = nil
	s.running = len(keys) > 0
	return keys
}

// delete deletes many keys with a command, and where they are in many slots each
// with its own. What fails expires.
func (s *sweeper) delete(keys []string) {
	ctx := context.WithoutCancel(s.c.ctx)
	together := 1
	if s.c.topo.single {
		together = sweepKeys
	}
	pipe := s.c.rdb.Pipeline()
	for some := range slices.Chunk(keys, together) {
		_ = pipe.Del(ctx, some...)
	}
	_, _ = pipe.Exec(ctx)
}

// sweepKeys is how many keys a command deletes: no more than others should have to
// wait for.
const sweepKeys = 200

// close deletes what is left.
func (s *sweeper) close() {
	if keys := s.take(); len(keys) > 0 {
		s.delete(keys)
	}
}
