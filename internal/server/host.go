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

// Identity returns the facts that identify this server.
func (h *host) Identity() command.Identity {
	executable, _ := os.Executable()
	port, tlsPort := int(h.port.Load()), int(h.tlsPort.Load())
	if port == 0 {
		port = tlsPort
	}
	return command.Identity{
		RunID: h.runID, ConfigFile: h.cfg.File, Executable: executable,
		ProcessID: os.Getpid(), Port: port, TLSPort: tlsPort,
		StartMillis: h.started.UnixMilli(),
	}
}

// Usage measures the memory and CPU time of the process.
func (h *host) Usage() command.Usage {
	heap, system := h.memory.read()
	userMicros, systemMicros := cpuMicros()
	return command.Usage{
		UserMicros: userMicros, SystemMicros: systemMicros,
		HeapBytes: heap, SystemBytes: system, PeakBytes: h.memory.peak,
	}
}

// Shutdown closes the listeners and calls Options.OnShutdown in a goroutine, once. As in Redis,
// nothing listens any more when the client of SHUTDOWN sees that its connection has ended.
func (h *host) Shutdown() {
	if h.onQuit != nil && !h.quitting.Swap(true) {
		(*Server)(h).stopListening()
		go h.onQuit()
	}
}

// MemoryUsed returns the bytes of the heap in use. Bytes above maxmemory are not
// garbage, see memoryGauge.used.
func (h *host) MemoryUsed() int64 { return h.memory.used(h.cfg.MaxMemory) }

// Sleep blocks the engine.
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

	live int64     // bytes that the last forced collection left
	next time.Time // no forced collection before, while live is above the limit
}

// read returns the bytes of the heap's objects and of all that Go has from the system.
func (g *memoryGauge) read() (heap, system int64) {
	g.samples[0].Name = "/memory/classes/heap/objects:bytes"
	g.samples[1].Name = "/memory/classes/total:bytes"
	metrics.Read(g.samples[:])
	heap, system = int64(g.samples[0].Value.Uint64()), int64(g.samples[1].Value.Uint64())
	g.peak = max(g.peak, heap)
	return heap, system
}

// These constants bound how often used forces a collection.
const (
	// collectPart: below the limit, a collection is due when a sixteenth of the limit
	// has been allocated since the last one.
	collectPart = 16
	// collectShare: above the limit, collections take a tenth of the time at most.
	collectShare = 10
	// collectPause is the least time between two collections above the limit.
	collectPause = 10 * time.Millisecond
)

// used returns the heap's size in bytes. limit is maxmemory; 0 means none. A heap
// above the limit may be mostly garbage, because Go lets the heap grow to twice its
// live size. So used first forces a collection. Shortly after a collection that got
// below the limit, used returns the size that it left.
func (g *memoryGauge) used(limit int64) int64 {
	heap, _ := g.read()
	switch {
	case limit == 0 || heap <= limit:
		return heap
	case g.live <= limit && heap-g.live < limit/collectPart:
		return g.live
	case g.live > limit && time.Now().Before(g.next):
		return heap
	}
	start := time.Now()
	runtime.GC()
	g.next = time.Now().Add(max(collectPause, collectShare*time.Since(start)))
	g.live, _ = g.read()
	return g.live
}
