package engine

// What a script may take. Go cannot recover from running out of memory, so a
// script that eats it is ended before (see luaexec), and the process lives.
const (
	defaultGrowth = 1 << 30  // bytes, without maxmemory
	leastGrowth   = 64 << 20 // bytes, even with a small maxmemory
	fullGrowth    = 8 << 20  // bytes, even when the process is full
)

// scriptGrowth is by how many bytes a script may make the heap grow: by
// maxmemory or 1 GB, but by no more than a quarter of what the process may use,
// and not beyond seven eighths of that.
func (e *Engine) scriptGrowth(heap uint64) uint64 {
	growth := uint64(defaultGrowth)
	if limit := e.env.Config.MaxMemory; limit > 0 {
		growth = max(uint64(limit), leastGrowth)
	}
	if e.memory <= 0 {
		return growth
	}
	process := uint64(e.memory)
	room := uint64(fullGrowth)
	if end := process - process/8; end > heap+room {
		room = end - heap
	}
	return min(growth, process/4, room)
}

// outOfMemory reports whether maxmemory is exceeded. Like the time, that stands
// still within a unit: a script or a transaction that has begun is not refused
// halfway for what it has taken itself.
func (e *Engine) outOfMemory() bool {
	if !e.measured {
		e.measured = true
		e.overLimit = e.env.Server.MemoryUsed() > e.env.Config.MaxMemory
	}
	return e.overLimit
}
