package luaexec

import (
	"runtime"
	"sync/atomic"

	"github.com/lockredis/lockredis/internal/collector"
)

// defaultGrowth is the number of bytes by which a script may make the heap grow
// when Options.Growth is nil. Go cannot recover from running out of memory.
//
// Differs from Redis: its scripts may use all memory of the machine.
const defaultGrowth = 1 << 30

// heapWatch ends scripts that use too much of the heap. It reads the heap's size
// at each safe point, which takes 0.4 µs. The ticker also passes a safe point soon
// after each garbage collection: a single instruction can allocate a gigabyte, but
// not without a collection. On a busy machine this signal comes late.
type heapWatch struct {
	allowed func(heap uint64) uint64 // Options.Growth, or its default

	top    uint64 // heap size that ends the script; 0 before the first check
	growth uint64 // bytes from the first check's heap size to top
	alarm  uint64 // heap size from which a check collects garbage first
	checks int    // since the script began
	total  int    // bytes announced since the script began

	armed     bool        // the next collection will set collected
	collected atomic.Bool // there was a collection since the last check
}

// start resets h for a new script.
func (h *heapWatch) start() { h.top, h.checks, h.total = 0, 0, 0 }

// exceeded reports whether the heap is too large, or will be when the script has
// allocated the given number of bytes. It is the check at a safe point.
func (h *heapWatch) exceeded(bytes int) bool {
	h.total += bytes
	h.checks++
	h.arm()
	now := collector.Size()
	if h.top == 0 {
		h.growth = h.allowed(now)
		if live := collector.Live(); now > live+h.growth/2 { // much of it may be garbage
			runtime.GC()
			now = collector.Size()
			h.growth = h.allowed(now)
		}
		h.top = now + h.growth
		h.alarm = h.top
	}
	if now+uint64(bytes) <= h.alarm {
		return false
	}
	runtime.GC()
	h.collected.Store(false)
	now = collector.Size()
	h.alarm = max(h.top, now+h.growth/4)
	return now+uint64(bytes) > h.top
}

// heavyRun is how many bytes a script may allocate, or get as keys and arguments, before it is heavy.
const heavyRun = 1 << 20

// growth calls Growth, or returns the default.
func (o Options) growth(heap uint64) uint64 {
	if o.Growth == nil {
		return defaultGrowth
	}
	return o.Growth(heap)
}

// arm makes the next collection set collected.
func (h *heapWatch) arm() {
	if h.armed && !h.collected.Load() {
		return
	}
	h.armed = true
	h.collected.Store(false)
	collector.After(func() { h.collected.Store(true) })
}
