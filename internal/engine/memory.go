package engine

import "github.com/lockredis/lockredis/internal/command"

// What a script may allocate. Go cannot recover from running out of memory, so
// luaexec ends a script that allocates too much, and the process lives.
const (
	defaultGrowth = 1 << 30  // bytes, without maxmemory
	leastGrowth   = 64 << 20 // bytes, even with a small maxmemory
	fullGrowth    = 8 << 20  // bytes, even when the process is full
)

// memoryLimit answers whether maxmemory is exceeded, and what a script may
// allocate.
type memoryLimit struct {
	env     *command.Env
	process int64 // bytes that the process may use; 0: unknown

	measured, over bool // of this unit
}

// exceeded reports whether maxmemory is exceeded. Like the time, the answer stands
// still within a unit: a script or transaction that has begun is not refused
// halfway for memory that it has allocated itself.
func (m *memoryLimit) exceeded() bool {
	if !m.measured {
		m.measured = true
		m.over = m.env.Server.MemoryUsed() > m.env.Config.MaxMemory
	}
	return m.over
}

// scriptGrowth returns by how many bytes a script may make the heap grow: by
// maxmemory or 1 GB, by at most a quarter of the process's memory, and up to seven
// eighths of it. heap is its present size.
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
