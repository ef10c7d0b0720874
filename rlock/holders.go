package rlock

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"
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
