package luaexec

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
)

// defaultGrowth is how much a script may make the heap grow, in bytes, when
// Options.Growth does not say. Running out of memory is nothing Go could
// recover from.
//
// Differs from Redis: its scripts take what the machine has.
const defaultGrowth = 1 << 30

// heapWatch ends scripts that eat the heap. It looks at the heap's size at each
// safe point, which takes 0.4 µs. The ticker passes one as soon as Go has
// collected garbage, too: a single instruction can take a gigabyte, but not without
// that. That signal comes late on a busy machine.
type heapWatch struct {
	allowed func(heap uint64) uint64 // Options.Growth

	top    uint64 // heap size that ends the script; 0: it was not looked at yet
	growth uint64 // how far that was away
	alarm  uint64 // heap size from which garbage is told from what is kept
	looks  int    // so far
	total  int    // announced since the script began

	armed     bool        // collected will be set by the next collection
	collected atomic.Bool // there was one since the last look
}

// start forgets the last script.
func (h *heapWatch) start() { h.top, h.looks, h.total = 0, 0, 0 }

// exceeded reports whether the running script holds too much, or will when it
// has taken the given number of bytes.
func (h *heapWatch) exceeded(bytes int) bool {
	h.total += bytes
	h.looks++
	h.listen()
	now := heapBytes()
	if h.top == 0 {
		h.growth = h.allowed(now)
		if live := liveBytes(); now > live+h.growth/2 { // perhaps it is garbage
			runtime.GC()
			now = heapBytes()
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
	now = heapBytes()
	h.alarm = max(h.top, now+h.growth/4)
	return now+uint64(bytes) > h.top
}

// muchLeft reports whether the script was so big, or ran for so long, that
// unused registers of the Lua state may hold a lot: a new state costs less.
func (h *heapWatch) muchLeft() bool { return h.total > 1<<20 || h.looks > 64 }

// growth is Growth, or its default.
func (o Options) growth(heap uint64) uint64 {
	if o.Growth == nil {
		return defaultGrowth
	}
	return o.Growth(heap)
}

// listen has the next collection set collected: it is then that Go runs the
// finalizer of something nobody refers to.
func (h *heapWatch) listen() {
	if h.armed && !h.collected.Load() {
		return
	}
	h.armed = true
	h.collected.Store(false)
	runtime.SetFinalizer(&sentinel{&h.collected}, func(s *sentinel) { s.gone.Store(true) })
}

// sentinel is not a tiny object: those are finalized late.
type sentinel struct{ gone *atomic.Bool }

func heapBytes() uint64 { return metric("/memory/classes/heap/objects:bytes") }

// liveBytes is what the last collection left.
func liveBytes() uint64 { return metric("/gc/heap/live:bytes") }

func metric(name string) uint64 {
	sample := [1]metrics.Sample{{Name: name}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}
