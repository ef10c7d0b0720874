package collector

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// Limit makes Go collect garbage before the process takes far more than maxmemory. Without it
// the heap grows to twice the data before a collection.
type Limit struct {
	own       int64 // bytes: the limit without maxmemory, GOMEMLIMIT or math.MaxInt64
	maxMemory atomic.Int64
	changed   chan struct{} // has room for one
}

// NewLimit returns the limit for a maxmemory in bytes, 0: none. It is called before the server is
// created, and Follow afterwards: the server takes the limit at its creation for the memory of
// the machine.
func NewLimit(maxMemory int64) *Limit {
	l := &Limit{own: debug.SetMemoryLimit(-1), changed: make(chan struct{}, 1)}
	l.maxMemory.Store(maxMemory)
	return l
}

// Set changes maxmemory, in bytes.
func (l *Limit) Set(maxMemory int64) {
	l.maxMemory.Store(maxMemory)
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Follow sets the limit until stop is closed. It wakes up when maxmemory changes, and while
// there is a maxmemory after each collection: there is no limit while clearly more than
// maxmemory is in use, with large buffers or without eviction. The collector would run all
// the time to reach it. For the same reason the limit gives way while the collector takes long.
func (l *Limit) Follow(stop <-chan struct{}) {
	defer debug.SetMemoryLimit(l.own)
	var way allowance
	for now := l.own; ; {
		next, collected := l.own, make(chan struct{})
		if most := l.maxMemory.Load(); most > 0 {
			After(func() { close(collected) })
			way.adapt(readProcessor(), most)
			if live := int64(Live()); live <= most+most/8 {
				next = min(l.own, limitFor(most, way.bytes))
			}
		}
		if next != now { // a change stops the world
			debug.SetMemoryLimit(next)
			now = next
		}
		select {
		case <-stop:
			return
		case <-l.changed:
		case <-collected:
		}
	}
}

// limitFor returns the limit for a maxmemory: five quarters, what Go's runtime needs besides, and
// the extra bytes of an allowance.
func limitFor(maxMemory, extra int64) int64 {
	const runtime = 16 << 20
	if maxMemory > math.MaxInt64/4 {
		return math.MaxInt64
	}
	return maxMemory + maxMemory/4 + runtime + extra
}

// allowance is how far the limit gives way. The process may hold memory that is neither in use nor
// free, between objects of blocks that are used in part. If the limit leaves no room beside
// that, each collection is followed by the next.
type allowance struct {
	bytes     int64 // at most maxMemory
	maxMemory int64 // that the allowance is for
	last      processor
}

const (
	leastSeconds = 1.0      // of processor time that adapt judges
	longShare    = 1.0 / 8  // of the time, the collector's: the limit gives way
	shortShare   = 1.0 / 32 // the limit comes back
)

// adapt changes the allowance by the collector's share of the time since it did so last. There is
// none at first for another maxmemory.
func (a *allowance) adapt(now processor, maxMemory int64) {
	if maxMemory != a.maxMemory {
		*a = allowance{maxMemory: maxMemory, last: now}
	}
	total := now.total - a.last.total
	if total < leastSeconds {
		return
	}
	share := (now.collector - a.last.collector) / total
	a.last = now
	switch {
	case share > longShare:
		a.bytes = min(a.bytes+maxMemory/8, maxMemory)
	case share < shortShare:
		a.bytes = max(a.bytes-maxMemory/16, 0)
	}
}

// processor has the processor time in seconds that was there for the process since it started, and
// what the collector took of it. The runtime measures at the end of each collection.
type processor struct{ total, collector float64 }

func readProcessor() processor {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/assist:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/dedicated:cpu-seconds"},
		{Name: "/cpu/classes/gc/pause:cpu-seconds"},
	}
	metrics.Read(samples)
	value := func(i int) float64 { return samples[i].Value.Float64() }
	return processor{total: value(0), collector: value(1) + value(2) + value(3)}
}
