package history

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// rwState is who writes and who reads; a stamp of expired says that the lease is
// over. The server's one deadline is that of the longest lease, so everybody is
// gone when all leases are over, and not before.
type rwState struct {
	writer  lockState
	readers []lockState
	due     [2]uint64 // as in lockState, of readers and writers
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
			return a.writer == b.writer && a.due == b.due && slices.Equal(a.readers, b.readers)
		},
	}
}

// normal is s without what is over altogether.
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

// perhaps is s, and what it is when those whose leases are over have been taken
// off, which their clients do when they notice it.
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

func (s rwState) free() rwState { return rwState{due: s.due} }

// half is where in due a mode is.
func half(m mode) int {
	if m == write {
		return 1
	}
	return 0
}

// of returns what owner holds in a mode.
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

// with is s with what o's owner holds replaced.
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

// vague tells whether somebody's lease is over, but not that of others: what the
// server says about it depends on them.
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
		return []rwState{s, s.free()}
	case o.N == 1:
		return when(there, s.free())
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

// rwActor is a worker that reads and writes, as one owner.
type rwActor struct{ read, write lockActor }

func newRWActor(c *client) *rwActor {
	rw := c.c.RWLock(c.w.names)
	owner := c.w.rec.owner()
	of := func(l *rlock.Lock, m mode) lockActor {
		h := c.holder(l, owner)
		h.mode = m
		return lockActor{h}
	}
	a := &rwActor{of(rw.Read(), read), of(rw.Write(), write)}
	a.write.h.adds = true
	a.read.h.beside, a.write.h.beside = a.write.h, a.read.h
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
	a.reach()
}

// reach lets what the owner reads and what it writes end as late as the later of
// both: the server has one deadline, and unlocking the one leaves it to the other.
func (a *rwActor) reach() {
	for _, h := range []*holder{a.read.h, a.write.h} {
		if h.last != nil {
			h.last.Return = max(h.last.Return, h.reach())
		}
	}
}
