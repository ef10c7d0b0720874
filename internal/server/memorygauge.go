package server

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/internal/command"
)

// memoryGauge reads the heap's size. It is used inside the engine.
type memoryGauge struct {
	size    [1]metrics.Sample
	marked  [1]metrics.Sample
	peak    int64 // the largest size that read has returned
	startup int64 // the size when the server was made

	collecting atomic.Bool
	ended      atomic.Pointer[command.Collection] // the last one of collect; nil: none
	begun      int64                              // how many collections collect has begun
	next       time.Time                          // no collection before; guarded by collecting
	done       sync.WaitGroup                     // the goroutine of collect
}

// read returns the bytes of the heap's objects. The engine calls it ten times a second while
// it is busy, so that the peak is known.
func (g *memoryGauge) read() (size int64) {
	g.size[0].Name = "/memory/classes/heap/objects:bytes"
	metrics.Read(g.size[:])
	size = int64(g.size[0].Value.Uint64())
	g.peak = max(g.peak, size)
	return size
}

// live returns the bytes of the heap's objects that the last collection found in use, 0 if
// there was no collection.
func (g *memoryGauge) live() int64 {
	g.marked[0].Name = "/gc/heap/live:bytes"
	metrics.Read(g.marked[:])
	return int64(g.marked[0].Value.Uint64())
}

// figures returns all figures.
func (g *memoryGauge) figures() command.ProcessMemory {
	f := readMetrics(
		"/memory/classes/heap/objects:bytes",
		"/memory/classes/heap/unused:bytes",
		"/memory/classes/heap/released:bytes",
		"/memory/classes/total:bytes",
	)
	heap, unused, released, total := f[0], f[1], f[2], f[3]
	g.peak = max(g.peak, heap)
	m := command.ProcessMemory{
		Heap: heap, Peak: g.peak, Startup: g.startup,
		Active: heap + unused, Resident: total - released,
	}
	if m.Process = residentMemory(); m.Process == 0 {
		m.Process = m.Resident
	}
	return m
}

// readMetrics returns the values of metrics that are numbers.
func readMetrics(names ...string) []int64 {
	samples, values := make([]metrics.Sample, len(names)), make([]int64, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	for i := range samples {
		values[i] = int64(samples[i].Value.Uint64())
	}
	return values
}

// These constants bound how often collect collects.
const (
	// collectShare: collections take a quarter of the time at most.
	collectShare = 4
	// collectPause is the least time between two collections.
	collectPause = 10 * time.Millisecond
)

// collect collects garbage in a goroutine, unless it does already or has just done so. It
// returns the number of the collection, or 0.
//
// A collection keeps all that is allocated while it runs. So what is left of its figure without
// that was in use when collect was called.
func (g *memoryGauge) collect() (number int64) {
	if g.collecting.Swap(true) {
		return 0
	}
	if time.Now().Before(g.next) {
		g.collecting.Store(false)
		return 0
	}
	const allocated = "/gc/heap/allocs:bytes"
	g.begun++
	number, before := g.begun, readMetrics(allocated)[0]
	g.done.Go(func() {
		start := time.Now()
		runtime.GC()
		live := readMetrics("/gc/heap/live:bytes")[0] // before the next: else it might have more
		made := readMetrics(allocated)[0] - before
		g.ended.Store(&command.Collection{Number: number, Live: live, Sure: max(live-made, 0)})
		g.next = time.Now().Add(max(collectPause, collectShare*time.Since(start)))
		g.collecting.Store(false)
	})
	return number
}
