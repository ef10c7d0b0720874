package store

import (
	"math/rand/v2"
	"slices"
)

// Policy decides which keys Space.Evict deletes: it is a ranking of keys, by itself for
// keys with a deadline only. The zero Policy evicts nothing (noeviction).
type Policy uint8

// The rankings, and AllKeys, which is added to one of the first three.
const (
	LRU     Policy = 1 << iota // the longest time since the last access goes first
	LFU                        // the smallest frequency of accesses goes first
	Random                     // any key
	TTL                        // the earliest deadline goes first
	AllKeys                    // also keys without a deadline
)

// poolSize is how many candidates LRU and LFU remember.
const poolSize = 16

// mostKeyBuffer is how large the name of a candidate may be, in bytes, whose memory is used
// again.
const mostKeyBuffer = 1 << 10

// eviction is what Evict remembers between calls.
//
// LRU and LFU are approximations, as in Redis: each call ranks a few random keys of each
// database and remembers the best of them in a pool. The best of the pool is evicted.
// Unlike Redis, a candidate that was accessed since it came into the pool is dropped, and
// the samples are independent of each other. Redis samples keys that are neighbours in its
// hash table. TTL needs no samples, because the deadlines are in a heap.
type eviction struct {
	pool []candidate // by rank; the last one goes first
	next int         // the database that Random looks at next
}

// candidate is a key of the pool. It is remembered by name, because its entry may go.
type candidate struct {
	db   int
	key  []byte
	rank int64
}

// Evict deletes the key that the policy picks, and reports it to the Observer. samples is
// how many keys of each database LRU and LFU rank. It reports false if there is no key to
// delete.
func (s *Space) Evict(p Policy, samples int, rnd *rand.Rand) bool {
	var db *DB
	var e *Entry
	switch {
	case p&Random != 0:
		db, e = s.randomVictim(p, rnd)
	case p&TTL != 0:
		db, e = s.earliestVictim()
	case p != 0:
		db, e = s.rankedVictim(p, samples, rnd)
	}
	if e == nil {
		return false
	}
	db.RemoveLazily(e, s.Lazyfree.Eviction)
	s.Stats.Evicted++
	s.observer.Evicted(db.id, e.Key())
	return true
}

// evictable returns how many keys of the database the policy may evict.
func (db *DB) evictable(p Policy) int {
	if p&AllKeys != 0 {
		return db.keys.n
	}
	return db.deadlines.Len()
}

// anyEvictable returns one of the evictable keys. There must be one.
func (db *DB) anyEvictable(p Policy, rnd *rand.Rand) *Entry {
	if p&AllKeys != 0 {
		return db.keys.index.random(rnd)
	}
	return db.deadlines.At(rnd.IntN(db.deadlines.Len()))
}

// randomVictim picks a key of the next database that has any.
func (s *Space) randomVictim(p Policy, rnd *rand.Rand) (*DB, *Entry) {
	for range s.dbs {
		s.eviction.next = (s.eviction.next + 1) % len(s.dbs)
		if db := s.dbs[s.eviction.next]; db.evictable(p) > 0 {
			return db, db.anyEvictable(p, rnd)
		}
	}
	return nil, nil
}

// earliestVictim picks the key with the earliest deadline.
func (s *Space) earliestVictim() (first *DB, e *Entry) {
	var earliest int64
	for _, db := range s.Opened() {
		if at, ok := db.deadlines.Next(); ok && (first == nil || at < earliest) {
			first, earliest = db, at
		}
	}
	if first != nil {
		e = first.deadlines.Peek()
	}
	return first, e
}

// rankedVictim picks the best of the pool, after it has added samples to the pool.
func (s *Space) rankedVictim(p Policy, samples int, rnd *rand.Rand) (*DB, *Entry) {
	for s.samplePool(p, samples, rnd) {
		for pool := &s.eviction.pool; len(*pool) > 0; {
			c := (*pool)[len(*pool)-1]
			*pool = (*pool)[:len(*pool)-1]
			db := s.DB(c.db)
			e := db.Stored(c.key)
			if e != nil && (p&AllKeys != 0 || e.HasDeadline()) && s.rank(p, e) >= c.rank {
				return db, e
			}
		}
	}
	return nil, nil
}

// samplePool adds random keys of each database to the pool, as far as they rank higher
// than its worst. It reports false if the policy may evict no key.
func (s *Space) samplePool(p Policy, samples int, rnd *rand.Rand) (any bool) {
	for _, db := range s.Opened() {
		n := db.evictable(p)
		for range min(samples, n) {
			any = true
			s.addCandidate(db, db.anyEvictable(p, rnd), p)
		}
	}
	return any
}

// rank returns how much e deserves to be evicted.
func (s *Space) rank(p Policy, e *Entry) int64 {
	if p&LFU != 0 {
		return mostCount - s.Frequency(e)
	}
	return s.Idle(e)
}

// addCandidate adds a key to the pool. If the pool is full, its worst candidate leaves.
func (s *Space) addCandidate(db *DB, e *Entry, p Policy) {
	pool, rank := s.eviction.pool, s.rank(p, e)
	at, _ := slices.BinarySearchFunc(pool, rank, func(c candidate, rank int64) int {
		return int(c.rank - rank)
	})
	for _, c := range pool[at:] {
		if c.rank != rank {
			break
		}
		if c.db == db.id && string(c.key) == e.Key() {
			return
		}
	}
	if pool == nil {
		pool = make([]candidate, 0, poolSize)
	}
	switch {
	case len(pool) < poolSize:
		pool = pool[:len(pool)+1] // the names beyond the end are buffers
		free := pool[len(pool)-1]
		copy(pool[at+1:], pool[at:])
		pool[at] = free
	case at == 0:
		return
	default:
		at--
		free := pool[0]
		copy(pool, pool[1:at+1])
		pool[at] = free
	}
	c := &pool[at]
	c.db, c.rank = db.id, rank
	if cap(c.key) > mostKeyBuffer {
		c.key = nil
	}
	c.key = append(c.key[:0], e.Key()...)
	s.eviction.pool = pool
}

// ForgetCandidates empties the pool. It is called when the policy changes, because the
// ranks of two policies cannot be compared.
func (s *Space) ForgetCandidates() { s.eviction.pool = nil }
