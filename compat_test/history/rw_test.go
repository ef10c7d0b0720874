package history

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

// rwState is the writer and the readers. A stamp of expired means that the lease has
// ended. The server has one deadline, of the longest lease. So all holds end together,
// when all leases have ended.
type rwState struct {
	writer  lockState
	readers []lockState
	due     [2]uint64 // as in lockState, for readers and writers
	forced  uint64    // as in lockState
}

const expired = -1

func rwModel() model[rwState] {
	return model[rwState]{
		step: func(s rwState, o *op) (next []rwState) {
			for _, s := range s.perhaps() {
				for _, n := range rwStep(s, o) {
					next = append(next, n.normal())
				}
			}
			return next
		},
		equal: func(a, b rwState) bool {
			return a.writer == b.writer && a.due == b.due && a.forced == b.forced &&
				slices.Equal(a.readers, b.readers)
		},
	}
}

// normal returns s without a hash whose leases have all ended.
func (s rwState) normal() rwState {
	live := s.writer.owner != 0 && s.writer.stamp != expired
	for _, r := range s.readers {
		live = live || r.stamp != expired
	}
	if !live {
		return s.free()
	}
	return s
}

// perhaps returns s, and s without the holds whose leases have ended: their clients
// remove them when they notice.
func (s rwState) perhaps() []rwState {
	states := []rwState{s}
	if s.writer.stamp == expired {
		s.writer = lockState{}
		states = append(states, s)
	}
	if slices.ContainsFunc(s.readers, over) {
		s.readers = slices.DeleteFunc(slices.Clone(s.readers), over)
		states = append(states, s)
	}
	return states
}

func over(l lockState) bool { return l.stamp == expired }

func (s rwState) free() rwState { return rwState{due: s.due, forced: s.forced} }

// taken is s without its owners, who do not know that their holds were ended by force.
func (s rwState) taken() rwState {
	s.forced |= 1 << s.writer.owner
	for _, r := range s.readers {
		s.forced |= 1 << r.owner
	}
	return s.free()
}

// half returns the index of a mode in due.
func half(m mode) int {
	if m == write {
		return 1
	}
	return 0
}

// of returns the holds of owner in a mode.
func (s rwState) of(o *op) lockState {
	if o.Mode == write {
		if s.writer.owner == o.Owner {
			return s.writer
		}
		return lockState{}
	}
	for _, r := range s.readers {
		if r.owner == o.Owner {
			return r
		}
	}
	return lockState{}
}

// with returns s with another hold for the owner of o.
func (s rwState) with(o *op, l lockState) rwState {
	if o.Mode == write {
		s.writer = l
		return s
	}
	s.readers = slices.DeleteFunc(slices.Clone(s.readers), func(r lockState) bool {
		return r.owner == o.Owner
	})
	if l.owner != 0 {
		s.readers = append(s.readers, l)
		slices.SortFunc(s.readers, func(a, b lockState) int { return a.owner - b.owner })
	}
	return s
}

func rwStep(s rwState, o *op) []rwState {
	mine := s.of(o)
	switch o.What {
	case acquire:
		return rwAcquire(s, o)
	case release:
		return rwRelease(s, o)
	case enter, exit, update, renew:
		var states []rwState
		alone := mine
		alone.forced = s.forced
		for _, l := range lockStep(alone, o) {
			l.forced = 0
			if l == mine {
				states = append(states, s)
			} else {
				states = append(states, s.with(o, l))
			}
		}
		return states
	case force:
		return rwForce(s, o)
	case count:
		return when(mine.stamp == expired || o.N == mine.count, s)
	case locked:
		if s.vague() {
			return []rwState{s}
		}
		if o.Mode == write {
			return when((o.N == 1) == (s.writer.owner != 0), s)
		}
		return when((o.N == 1) == (len(s.readers) > 0), s)
	case end:
		if mine.owner != 0 && mine.stamp == o.Of {
			mine.stamp = expired
			return []rwState{s.with(o, mine)}
		}
	case drop:
		return []rwState{s, s.with(o, lockState{})}
	case undo:
		bit := uint64(1) << o.Owner
		if s.due[half(o.Mode)]&bit == 0 {
			return nil // not before the acquisition
		}
		s.due[half(o.Mode)] &^= bit
		switch down := s.with(o, mine.down(0)); {
		case mine.owner == 0 || mine.undo != o.Of:
		case o.Optional:
			return []rwState{s, down}
		default:
			return []rwState{down}
		}
	}
	return []rwState{s}
}

// vague reports whether one lease has ended while others have not: the server's
// replies about it depend on the others.
func (s rwState) vague() bool {
	return s.writer.stamp == expired || slices.ContainsFunc(s.readers, over)
}

func rwAcquire(s rwState, o *op) []rwState {
	mine := s.of(o)
	written := s.writer.owner != 0 && s.writer.owner != o.Owner
	free := !written || s.writer.stamp == expired
	barred := written
	if o.Mode == write {
		free = mine.owner != 0 || s.writer.owner == 0 && len(s.readers) == 0
		barred = !free
	}
	switch {
	case o.Result == refused:
		return when(barred, s)
	case o.Result == lost:
		return when(mine.owner == 0 || mine.stamp == expired || o.Lax, s)
	case !free && o.Result == ok:
		return nil
	}
	if o.Result == unknown {
		s.due[half(o.Mode)] |= 1 << o.Owner
	}
	if !free {
		return []rwState{s}
	}
	before := s
	if o.Mode == read && written {
		s.writer = lockState{}
	}
	if mine.stamp == expired {
		mine = lockState{}
	}
	up := mine.up(o)
	if o.Result == ok {
		return []rwState{s.with(o, up)}
	}
	up.undo = o.ID
	return []rwState{before, s.with(o, up)}
}

func rwRelease(s rwState, o *op) []rwState {
	mine := s.of(o)
	stamp := 0
	if o.Mode == write {
		stamp = o.ID
	}
	switch {
	case o.Result == ok:
		return when(mine.owner != 0, s.with(o, mine.down(stamp)))
	case o.Result != unknown:
		return when(mine.owner == 0 || mine.stamp == expired || o.Lax, s)
	case mine.owner != 0:
		return []rwState{s, s.with(o, mine.down(stamp))}
	}
	return []rwState{s}
}

func rwForce(s rwState, o *op) []rwState {
	there := s.writer.owner != 0
	if o.Mode == read {
		there = !there && len(s.readers) > 0
	}
	switch {
	case o.Result == unknown || s.vague():
		return []rwState{s, s.taken()}
	case o.N == 1:
		return when(there, s.taken())
	}
	return when(!there, s)
}

func rwKind() kind {
	w := lockWeights()
	w[doRead], w[doUnread] = 8, 6
	return kind{
		name: "read-write", model: rwModel(), weights: w,
		actor: func(c *client) actor { return newRWActor(c) },
		probe: func(c *client) {
			a := newRWActor(c)
			a.write.h.take(context.Background(), 0, watchdogLease)
			a.write.h.give(context.Background())
		},
		sabotages: map[string]sabotage{
			"deletes": func(ctx context.Context, rdb *redis.Client,
				name string) {
				rdb.Del(ctx, name)
			},
			"lets others read too": func(ctx context.Context, rdb *redis.Client,
				name string) {
				rdb.HSet(ctx, name, "mode", "read")
			},
		},
	}
}

// rwActor is a worker that reads and writes. A read hold inside a write hold has the
// same owner.
type rwActor struct{ read, write lockActor }

func newRWActor(c *client) *rwActor {
	rw := c.c.RWLock(c.w.names)
	a := &rwActor{
		lockActor{c.holder(locker{rw.Read(), nil})}, lockActor{c.holder(locker{rw.Write(), nil})},
	}
	a.read.h.mode, a.write.h.mode = read, write
	a.read.h.nest = a.write.h.nest
	return a
}

func (a *rwActor) do(s step) {
	half := &a.write
	switch {
	case s.do == doRead:
		s.do, half = doTake, &a.read
	case s.do == doUnread:
		s.do, half = doGive, &a.read
	case s.n == 1 && s.do != doTake && s.do != doGive:
		half = &a.read
	}
	half.do(s)
}
