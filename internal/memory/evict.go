package memory

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

// Choose follows the directives of eviction.
func (m *Limit) Choose(to config.Eviction) {
	space, before := m.env.Space, m.policy
	m.policy = policies[to.Policy]
	if m.policy != before {
		space.ForgetCandidates()
	}
	space.Frequencies = store.Frequencies{
		On: m.policy&store.LFU != 0, LogFactor: to.LogFactor, DecayMinutes: to.DecayMinutes,
		Rand: m.env.Rand,
	}
}

// reclaimed is what reclaim has reached.
type reclaimed uint8

const (
	withinLimit     reclaimed = iota // the memory in use is within maxmemory
	stillReclaiming                  // the time was over; the timer continues
	nothingLeft                      // maxmemory is exceeded, and no key may be evicted
)

// evictBetween is how many keys are evicted between two looks at the clock.
const evictBetween = 16

// reclaim evicts keys until the memory in use is within maxmemory, the time for it is over,
// or there is no key left to evict. Nothing is evicted before all keys are counted, or while
// CLIENT PAUSE keeps the data as they are.
func (m *Limit) reclaim() reclaimed {
	if m.counting || m.engine.Frozen() {
		return withinLimit
	}
	result := m.evict(m.Used() - m.env.Config.MaxMemory)
	switch times := &m.env.Stats.Exceeded; {
	case result != withinLimit && times.Since == 0:
		times.Since = m.env.Micros
	case result == withinLimit && times.Since != 0:
		times.Total += max(0, m.env.Micros-times.Since)
		times.Since = 0
	}
	return result
}

// evict evicts keys that take excess bytes together.
func (m *Limit) evict(excess int64) reclaimed {
	if excess <= 0 {
		return withinLimit
	}
	if m.policy == 0 {
		return nothingLeft
	}
	space, samples := m.env.Space, m.env.Config.Eviction.Samples
	start, limit := m.env.Clock.Now(), evictionTime(m.env.Config.Eviction.Tenacity)
	goal := space.CountedBytes() - excess
	for n := 1; space.CountedBytes() > goal; n++ {
		if !space.Evict(m.policy, samples, m.env.Rand) {
			return nothingLeft
		}
		if n%evictBetween == 0 && m.env.Clock.Now().Sub(start) > limit {
			m.evicting = true
			m.engine.Attend()
			return stillReclaiming
		}
	}
	return withinLimit
}

// Due returns the present time while keys are to be counted or evicted, in Unix ms.
func (m *Limit) Due() int64 {
	if m.evicting {
		return m.env.Space.Now()
	}
	return 0
}

// Fire counts and evicts keys.
func (m *Limit) Fire(int64) (more bool) {
	m.evicting = false
	if m.env.Config.MaxMemory > 0 {
		m.counting = m.counting && m.env.Space.CountMore(countBatch)
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
