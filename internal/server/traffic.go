package server

import (
	"sync/atomic"

	"github.com/lockredis/lockredis/internal/command"
)

// traffic counts what connections read and write. Each loop has one, and the connections
// with goroutines of their own share one. So the processors seldom share a counter.
type traffic struct {
	reads, in   atomic.Int64 // reads of a socket, and their bytes
	writes, out atomic.Int64
	buffers     atomic.Int64 // bytes that the connections' buffers take now
	_           [64]byte     // the next traffic is in another cache line
}

// maxLoops is how many loops a server has at most.
const maxLoops = 4

// counted adds a read of n bytes. The end of the stream is a read of 0 bytes, as in Redis.
func (t *traffic) counted(n int) {
	t.reads.Add(1)
	t.in.Add(int64(n))
}

// Buffers returns the bytes that the buffers of all connections take.
func (h *host) Buffers() (sum int64) {
	for i := range h.traffic {
		sum += h.traffic[i].buffers.Load()
	}
	return sum
}

// bufferCount is how much of traffic.buffers belongs to one buffer or a few, in bytes.
type bufferCount int

// become makes the count size.
func (n *bufferCount) become(size int, of *traffic) {
	if change := size - int(*n); change != 0 {
		*n = bufferCount(size)
		of.buffers.Add(int64(change))
	}
}

// Traffic returns what all connections have read and written.
func (h *host) Traffic() (sum command.Traffic) {
	for i := range h.traffic {
		t := &h.traffic[i]
		sum.Reads += t.reads.Load()
		sum.In += t.in.Load()
		sum.Writes += t.writes.Load()
		sum.Out += t.out.Load()
	}
	return sum
}
