package rlock

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// turn excludes the requests of one owner for one lock in one mode from each other. A new
// owner needs no turn: no other goroutine knows it. A turn is kept until it is known what
// the request has done, or until that is given up.
type turn struct {
	s     *holders
	key   turnKey
	users int           // holder and waiters; guarded by holders.mu
	busy  chan struct{} // capacity 1, full while a request is under way
}

type turnKey struct {
	owner, name string
	mode        mode
}

// enterTurn returns the turn of a claim. The caller has locked s.mu. leave must be called
// once.
func (s *holders) enterTurn(k *lockClaim) *turn {
	key := turnKey{k.owner, k.name, k.kind.mode()}
	t := s.turns[key]
	if t == nil {
		t = &turn{s: s, key: key, busy: make(chan struct{}, 1)}
		s.turns[key] = t
	}
	t.users++
	return t
}

func (t *turn) leave() {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(t.s.turns, t.key)
	}
}

// taken returns the function that gives back the turn.
func (t *turn) taken() (giveBack func()) {
	return sync.OnceFunc(func() {
		<-t.busy
		t.leave()
	})
}

// takeTurn takes the owner's turn for the end of a hold. It is free then, or a reader that
// looks for the hold has it for a moment. giveBack must be called once.
func (c *Client) takeTurn(k *lockClaim) (giveBack func()) {
	c.holders.mu.Lock()
	t := c.holders.enterTurn(k)
	c.holders.mu.Unlock()
	t.busy <- struct{}{}
	return t.taken()
}

// awaitTurn takes the owner's turn for an acquisition with the settings s that began at start.
// Another request may have the turn while it waits for the server's answer. After s.tryLimit the
// server counts as silent. For a single try that counts from start. giveBack must be called once.
func (c *Client) awaitTurn(
	ctx context.Context, k *lockClaim, start time.Time, s settings,
) (giveBack func(), err error) {
	limit := s.tryLimit(c.opts)
	rest := limit
	if s.wait == 0 {
		rest -= time.Since(start)
	}
	c.holders.mu.Lock()
	t := c.holders.enterTurn(k)
	c.holders.mu.Unlock()
	silent := time.NewTimer(rest)
	defer silent.Stop()
	select {
	case t.busy <- struct{}{}:
		return t.taken(), nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-c.ctx.Done():
		err = ErrClosed
	case <-silent.C:
		err = fmt.Errorf("rlock: no answer for %v: %w", limit, sender.ErrNoReply)
	}
	t.leave()
	return nil, err
}

// takeFree takes the owner's turn if the owner has no hold of the name, in any mode, and
// no request for one is under way. Otherwise giveBack is nil. The owner's holds exclude
// only other owners, so a claim that is not made inside them needs a new owner.
func (c *Client) takeFree(k *lockClaim) (giveBack func()) {
	s := c.holders
	s.mu.Lock()
	defer s.mu.Unlock()
	for g := range s.named(k.name) {
		if g.claim.(*lockClaim).owner == k.owner {
			return nil
		}
	}
	for m := range modes {
		if s.turns[turnKey{k.owner, k.name, m}] != nil {
			return nil
		}
	}
	t := s.enterTurn(k)
	t.busy <- struct{}{}
	return t.taken()
}
