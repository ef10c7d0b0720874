package rlock

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// holders has the holdings of a client by the name of the lock. With it a grant
// ends what it contradicts: another owner of this client that believes to hold the
// lock.
type holders struct {
	mu     sync.Mutex          // guards the fields below
	byName map[string]*holding // the newest of a name; the others follow as next
	turns  map[turnKey]*turn
}

func newHolders() *holders {
	return &holders{byName: map[string]*holding{}, turns: map[turnKey]*turn{}}
}

// excludes reports whether the modes of two holds of one name exclude each other:
// all of them, except that many may read.
func excludes(a, b mode) bool { return a != reading || b != reading }

// add adds g, whose request was sent at the given time. The server has granted g, so it
// no longer has older holds of other owners that g excludes. add ends these. It reports
// whether there are holds that may be older or newer than g. Then the server must tell
// which one is valid.
func (s *holders) add(g *holding, k *lockClaim, sent time.Time) (unclear bool) {
	s.mu.Lock()
	var over []*holding
	for other := range s.named(k.name) {
		o := other.claim.(*lockClaim)
		switch {
		case o.owner == k.owner || !excludes(o.kind.mode(), k.kind.mode()):
		case other.since.Before(sent):
			over = append(over, other)
		default:
			unclear = unclear || other.live()
		}
	}
	g.next = s.byName[k.name]
	s.byName[k.name] = g
	s.mu.Unlock()
	for _, other := range over {
		defer other.loseNow(errNotOwner) // each of them, also if the observer panics
	}
	return unclear
}

// remove removes g, if it is there.
func (s *holders) remove(g *holding) {
	k := g.claim.(*lockClaim)
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := s.byName[k.name]
	switch {
	case newest == g && g.next == nil:
		delete(s.byName, k.name)
	case newest == g:
		s.byName[k.name] = g.next
	default:
		for other := range s.named(k.name) {
			if other.next == g {
				other.next = g.next
			}
		}
	}
	g.next = nil
}

// named ranges over the holdings of a name, the newest first. The caller has locked s.mu.
func (s *holders) named(name string) iter.Seq[*holding] {
	return func(yield func(*holding) bool) {
		for g := s.byName[name]; g != nil && yield(g); g = g.next {
		}
	}
}

// of returns the holdings of a name.
func (s *holders) of(name string) []*holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(s.named(name))
}

// find returns the holding of an owner in the mode of k, or nil. It may be lost: until it
// is released, the owner cannot acquire the lock again.
func (s *holders) find(k *lockClaim) *holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	for g := range s.named(k.name) {
		o := g.claim.(*lockClaim)
		if o.owner == k.owner && o.kind.mode() == k.kind.mode() {
			return g
		}
	}
	return nil
}

// holds reports whether an owner holds the lock in a mode.
func (s *holders) holds(owner, name string, m mode) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for g := range s.named(name) {
		k := g.claim.(*lockClaim)
		if k.owner == owner && k.kind.mode() == m && g.live() {
			return true
		}
	}
	return false
}

// releaseAll ends all holds when the client closes. It also runs Client.leave.
func (s *holders) releaseAll(c *Client) {
	defer c.leave()
	if !c.opts.UnlockOnClose {
		c.watchdog.close()
		return
	}
	for _, l := range c.watchdog.leases() {
		g := l.holder
		g.endContexts()
		if !g.inDo.Load() {
			c.spawn(func() { _ = g.releaseAll(context.Background()) })
		}
	}
}

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
