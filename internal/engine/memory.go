package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/store"
)

// The limits of a script's memory. Go cannot recover from running out of memory. So
// luaexec ends a script that allocates too much, and the process survives.
const (
	defaultGrowth = 1 << 30  // bytes, without maxmemory
	leastGrowth   = 64 << 20 // bytes, even with a small maxmemory
	defaultRoom   = 4 << 30  // bytes of data that may be added when the memory is unknown
	fullGrowth    = 8 << 20  // bytes, even when the process is full
)

// memoryLimit decides whether maxmemory is exceeded, evicts keys, and says how much a
// script or DEBUG POPULATE may allocate.
//
// The allocator's figure contains garbage, and a key that is evicted stays in it until the
// next collection. So the memory in use is the sum of what is counted. The store counts
// its keys, the server the connections' buffers, and each room what it holds for clients and
// scripts. A constant stands for the rest. Lua's code and states are not in the
// sum, as in Redis. Without a limit the store counts nothing: the keys that are there when a
// limit is set are counted in batches.
//
// Eviction runs where maxmemory is checked: in admit, before a client's command. By default a
// unit evicts for half a millisecond at most, and the timer goes on with the rest. Candidates are
// random picks from the index of keys.
type memoryLimit struct {
	e       *Engine
	process int64 // bytes that the process may use; 0: unknown
	policy  store.Policy
	peak    int64 // the most that Used has returned

	measured bool // exceeded has measured in this unit
	over     bool // its result
	counting bool // the store has not counted all keys
	evicting bool // the timer goes on counting and evicting
}

// exceeded reports whether maxmemory is exceeded, although it has evicted what it could.
// It measures and evicts once in a unit. So a script or transaction that has begun is not
// refused halfway for memory that it has allocated itself.
func (m *memoryLimit) exceeded() bool {
	if !m.measured {
		m.measured = true
		m.over = m.reclaim() == nothingLeft
	}
	return m.over
}

// Used returns the bytes in use that maxmemory is compared with. While the keys are not counted,
// without maxmemory and soon after it was set, their bytes are estimated.
func (m *memoryLimit) Used() int64 {
	used := command.StartupBytes + m.e.env.Server.Buffers() + m.e.held()
	if space := m.e.env.Space; m.e.env.Config.MaxMemory > 0 && !m.counting {
		used += space.CountedBytes()
	} else {
		used += space.EstimateBytes(countBatch)
	}
	m.peak = max(m.peak, used)
	return used
}

// Policy returns which keys are evicted, and in which order.
func (m *memoryLimit) Policy() store.Policy { return m.policy }

// Peak returns the most that Used has returned.
func (m *memoryLimit) Peak() int64 { return m.peak }

// held estimates the bytes of cached scripts, libraries and queued transactions, and of the names
// that clients watch, wait for, listen to and cache. What a new room holds for a client or a
// script belongs here, too. held_test.go compares the sum with the heap.
func (e *Engine) held() int64 {
	env, tracked := &e.env, &e.tracking
	return int64(env.Scripts.MemoryUsed()+env.Scripts.FunctionMemory()) + env.Queued + env.PubSub.Bytes() +
		e.watches.bytes + e.parking.bytes + tracked.table.Bytes() + tracked.prefixes.Bytes()
}

// countBatch is how many keys a unit counts: about a millisecond's work.
const countBatch = 4096

// follow begins or ends the counting of bytes after maxmemory has changed. Keys above a
// new limit are evicted soon.
func (m *memoryLimit) follow() {
	space, limit := m.e.env.Space, m.e.env.Config.MaxMemory
	if space.CountBytes(limit > 0) {
		m.counting = space.CountMore(countBatch)
	}
	m.evicting = limit > 0 && (m.counting || m.Used() > limit)
}

// Room estimates how many bytes of data may be added: half of what the process has left,
// because the collector lets the heap grow.
func (m *memoryLimit) Room() int64 {
	if m.process <= 0 {
		return defaultRoom
	}
	return max(m.process-m.process/8-m.e.env.Server.Heap(), 0) / 2
}

// scriptGrowth returns how many bytes a script may add to the heap. That is maxmemory, or
// 1 GB without maxmemory. It is at most a quarter of the process's memory. The heap may
// not exceed seven eighths of that memory. heap is the present size of the heap in bytes.
func (m *memoryLimit) scriptGrowth(heap uint64) uint64 {
	growth := uint64(defaultGrowth)
	if limit := m.e.env.Config.MaxMemory; limit > 0 {
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
