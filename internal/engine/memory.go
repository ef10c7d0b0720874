package engine

import "github.com/lockredis/lockredis/internal/command"

// The limits of a script's memory. Go cannot recover from running out of memory. So
// luaexec ends a script that allocates too much, and the process survives.
const (
	defaultGrowth = 1 << 30  // bytes, without maxmemory
	leastGrowth   = 64 << 20 // bytes, even with a small maxmemory
	fullGrowth    = 8 << 20  // bytes, even when the process is full
)

// memoryLimit decides whether maxmemory is exceeded, and how much a script may allocate.
type memoryLimit struct {
	env     *command.Env
	process int64 // bytes that the process may use; 0: unknown

	measured bool // exceeded has measured in this unit
	over     bool // its result
}

// exceeded reports whether maxmemory is exceeded. It measures once in a unit. So a script
// or transaction that has begun is not refused halfway for memory that it has allocated
// itself.
func (m *memoryLimit) exceeded() bool {
	if !m.measured {
		m.measured = true
		m.over = m.env.Server.MemoryUsed() > m.env.Config.MaxMemory
	}
	return m.over
}

// scriptGrowth returns how many bytes a script may add to the heap. That is maxmemory, or
// 1 GB without maxmemory. It is at most a quarter of the process's memory. The heap may
// not exceed seven eighths of that memory. heap is the present size of the heap in bytes.
func (m *memoryLimit) scriptGrowth(heap uint64) uint64 {
	growth := uint64(defaultGrowth)
	if limit := m.env.Config.MaxMemory; limit > 0 {
		growth = max(uint64(limit), leastGrowth)
	}
	if m.process <= 0 {
		return growth
	}
	process := uint64(m.process)
	room := uint64(fullGrowth)
	if end := process - process/8; end > heap+room {
		room = end - heap
	}
	return min(growth, process/4, room)
}
