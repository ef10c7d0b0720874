package server

import (
	"context"
	"os"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
)

// host is the server as command.Server.
type host Server

// Identity returns what tells this server from others.
func (h *host) Identity() command.Identity {
	executable, _ := os.Executable()
	return command.Identity{
		RunID: h.runID, ConfigFile: h.cfg.File, Executable: executable,
		ProcessID: os.Getpid(), Port: int(h.port.Load()), StartMillis: h.started.UnixMilli(),
	}
}

// Usage measures what the process uses.
func (h *host) Usage() command.Usage {
	heap, system := h.memory.read()
	userMicros, systemMicros := cpuMicros()
	return command.Usage{
		UserMicros: userMicros, SystemMicros: systemMicros,
		HeapBytes: heap, SystemBytes: system, PeakBytes: h.memory.peak,
	}
}

// Shutdown has the server closed, once, by whoever started it.
func (h *host) Shutdown() {
	if h.onQuit != nil && !h.quitting.Swap(true) {
		go h.onQuit()
	}
}

// MemoryUsed returns the bytes of the heap in use, of which those over maxmemory
// are no garbage.
func (h *host) MemoryUsed() int64 { return h.memory.used(h.cfg.MaxMemory) }

// Sleep makes the engine stand still.
func (h *host) Sleep(micros int64) { time.Sleep(time.Duration(micros) * time.Microsecond) }

// Log writes a line to the server's log. level is one of Redis's names.
func (h *host) Log(level, msg string) {
	l, _ := config.LogLevel(level)
	h.log.Log(context.Background(), l, msg)
}

// memoryGauge reads the heap's size. It is used inside the engine.
type memoryGauge struct {
	samples [2]metrics.Sample
	peak    int64

	kept int64     // what the last collection for a limit left
	next time.Time // not before then, if that was over the limit
}

func (g *memoryGauge) read() (heap, system int64) {
	g.samples[0].Name = "/memory/classes/heap/objects:bytes"
	g.samples[1].Name = "/memory/classes/total:bytes"
	metrics.Read(g.samples[:])
	heap, system = int64(g.samples[0].Value.Uint64()), int64(g.samples[1].Value.Uint64())
	g.peak = max(g.peak, heap)
	return heap, system
}

// How often garbage is collected for a limit: while what is kept is below it,
// once for each sixteenth of it that was allocated since; while it is exceeded, a
// tenth of the time at most.
const (
	collectPart  = 16
	collectShare = 10
	collectPause = 10 * time.Millisecond
)

// used returns the heap's size. What is over the limit, unless that is 0, may be
// garbage: Go lets the heap grow to twice what is kept. So it is collected first,
// or, shortly after that was done, the heap is taken for what that left.
func (g *memoryGauge) used(limit int64) int64 {
	heap, _ := g.read()
	switch {
	case limit == 0 || heap <= limit:
		return heap
	case g.kept <= limit && heap-g.kept < limit/collectPart:
		return g.kept
	case g.kept > limit && time.Now().Before(g.next):
		return heap
	}
	start := time.Now()
	runtime.GC()
	g.next = time.Now().Add(max(collectPause, collectShare*time.Since(start)))
	g.kept, _ = g.read()
	return g.kept
}
