package engine

import (
	"math"
	"time"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/store"
)

// policies are the values of maxmemory-policy.
var policies = map[string]store.Policy{
	"noeviction":      0,
	"volatile-lru":    store.LRU,
	"volatile-lfu":    store.LFU,
	"volatile-random": store.Random,
	"volatile-ttl":    store.TTL,
	"allkeys-lru":     store.AllKeys | store.LRU,
	"allkeys-lfu":     store.AllKeys | store.LFU,
	"allkeys-random":  store.AllKeys | store.Random,
}

// choose follows the directives of eviction.
func (m *memoryLimit) choose(to config.Eviction) {
	space, before := m.e.env.Space, m.policy
	m.policy = policies[to.Policy]
	if m.policy != before {
		space.ForgetCandidates()
	}
	space.Frequencies = store.Frequencies{
		On: m.policy&store.LFU != 0, LogFactor: to.LogFactor, DecayMinutes: to.DecayMinutes,
		Rand: m.e.env.Rand,
	}
}

// reclaimed is what reclaim has reached.
type reclaimed uint8

const (
	withinLimit     reclaimed = iota // the memory in use is within maxmemory
	stillReclaiming                  // the time was over; the timer goes on
	nothingLeft                      // maxmemory is exceeded, and no key may be evicted
)

// evictBetween is how many keys are evicted between two looks at the clock.
const evictBetween = 16

// reclaim evicts keys until the memory in use is within maxmemory, the time for it is over,
// or there is no key left to evict. Nothing is evicted before all keys are counted, or while
// CLIENT PAUSE keeps the data as they are.
func (m *memoryLimit) reclaim() reclaimed {
	e := m.e
	if m.counting || e.pausing.delays(e.env.Space.Now()) {
		return withinLimit
	}
	result := m.evict(m.Used() - e.env.Config.MaxMemory)
	switch times := &e.env.Stats.Exceeded; {
	case result != withinLimit && times.Since == 0:
		times.Since = e.env.Micros
	case result == withinLimit && times.Since != 0:
		times.Total += max(0, e.env.Micros-times.Since)
		times.Since = 0
	}
	return result
}

// evict evicts keys that take excess bytes together.
func (m *memoryLimit) evict(excess int64) reclaimed {
	if excess <= 0 {
		return withinLimit
	}
	if m.policy == 0 {
		return nothingLeft
	}
	e := m.e
	space, samples := e.env.Space, e.env.Config.Eviction.Samples
	start, limit := e.clock.Now(), evictionTime(e.env.Config.Eviction.Tenacity)
	goal := space.CountedBytes() - excess
	for n := 1; space.CountedBytes() > goal; n++ {
		if !space.Evict(m.policy, samples, e.env.Rand) {
			return nothingLeft
		}
		if n%evictBetween == 0 && e.clock.Now().Sub(start) > limit {
			m.evicting = true
			return stillReclaiming
		}
	}
	return withinLimit
}

// Due returns the present time while keys are to be counted or evicted, in Unix ms.
func (m *memoryLimit) Due() int64 {
	if m.evicting {
		return m.e.env.Space.Now()
	}
	return 0
}

// Fire counts and evicts keys.
func (m *memoryLimit) Fire(int64) (more bool) {
	m.e.journal.unit(UnitBegins)
	defer m.e.journal.unit(UnitEnds)
	m.evicting = false
	if m.e.env.Config.MaxMemory > 0 {
		m.counting = m.counting && m.e.env.Space.CountMore(countBatch)
		m.reclaim()
		m.evicting = m.evicting || m.counting
	}
	return m.evicting
}

// evictionTime returns how long a unit may evict keys, by maxmemory-eviction-tenacity: half
// a millisecond by default, without limit at 100.
func evictionTime(tenacity int) time.Duration {
	switch {
	case tenacity <= 10:
		return time.Duration(tenacity) * 50 * time.Microsecond
	case tenacity < 100:
		return time.Duration(500 * math.Pow(1.15, float64(tenacity-10)) * float64(time.Microsecond))
	}
	return math.MaxInt64
}
