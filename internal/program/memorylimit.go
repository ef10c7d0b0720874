package program

import (
	"math"
	"runtime/debug"
	"sync/atomic"

	"github.com/lockredis/lockredis/internal/config"
)

// memoryLimit makes Go collect garbage before the process takes far more than maxmemory.
// Without it the heap grows to twice the data before a collection. Only the program may do
// this: the limit holds for the whole process.
type memoryLimit struct {
	own       int64 // bytes: the limit without maxmemory, GOMEMLIMIT or math.MaxInt64
	maxMemory atomic.Int64
	changed   chan struct{} // has room for one
}

// newMemoryLimit returns the limit of a program whose directives are set. It is called before
// the server is created, and follow afterwards: the server takes the limit at its creation
// for the memory of the machine.
func newMemoryLimit(set *config.Config) *memoryLimit {
	l := &memoryLimit{own: debug.SetMemoryLimit(-1), changed: make(chan struct{}, 1)}
	l.maxMemory.Store(set.MaxMemory)
	set.OnChange(config.MemoryChange, func() error {
		l.maxMemory.Store(set.MaxMemory)
		select {
		case l.changed <- struct{}{}:
		default:
		}
		return nil
	})
	return l
}

// follow sets the limit until stop is closed. It wakes up when maxmemory changes, and while
// there is a maxmemory after each collection: there is no limit while clearly more than
// maxmemory is in use, with large buffers or without eviction. The collector would run all
// the time to reach it.
func (l *memoryLimit) follow(stop <-chan struct{}) {
	defer debug.SetMemoryLimit(l.own)
	for now := l.own; ; {
		next, collected := l.own, make(chan struct{})
		if most := l.maxMemory.Load(); most > 0 {
			notifyCollection(collected)
			if live := int64(readHeap().live); live <= most+most/8 {
				next = min(l.own, limitFor(most))
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

// limitFor returns the limit for a maxmemory: five quarters, and what Go's runtime needs
// besides.
func limitFor(maxMemory int64) int64 {
	const runtime = 16 << 20
	if maxMemory > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return maxMemory + maxMemory/4 + runtime
}
