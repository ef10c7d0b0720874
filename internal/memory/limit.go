package memory

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
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

// Engine is what this package needs of the engine.
type Engine interface {
	// Outside runs unit as the only one inside the engine, and returns when it has run.
	Outside(unit func())
	// Ending reports whether the server ends: no other goroutine may begin.
	Ending() bool
	// Overhead estimates the bytes that the engine keeps for clients and scripts: cached scripts,
	// queued transactions, names that clients wait for.
	Overhead() int64
	// Frozen reports whether the data must stay as they are (CLIENT PAUSE).
	Frozen() bool
	// Serve ends the wait of a parked client with a reply, and counts its command.
	Serve(p *command.Parked, reply resp.Reply)
	// Attend is called when Due may be earlier.
	Attend()
}

// Limit is the directive maxmemory: whether it is exceeded, and what it leaves for a script. It is
// command.Memory, and a source of work for the timer. Its methods are called inside the engine.
type Limit struct {
	engine  Engine
	env     *command.Env
	process int64 // bytes that the process may use; 0: unknown
	policy  store.Policy
	peak    int64 // the most that Used has returned

	measured bool // Exceeded has measured in this unit
	over     bool // its result
	counting bool // the store has not counted all keys
	evicting bool // the timer continues to count and to evict
}

// NewLimit returns the limit of env's directive. process is how many bytes the process may use; 0
// means unknown.
func NewLimit(engine Engine, env *command.Env, process int64) *Limit {
	return &Limit{engine: engine, env: env, process: process}
}

// BeginUnit says that a unit begins. Exceeded measures anew. The units before maxmemory was set need
// not say so.
func (m *Limit) BeginUnit() { m.measured = false }

// Exceeded reports whether maxmemory is exceeded, although it has evicted what it could.
// It measures and evicts once in a unit. So a script or transaction that has begun is not
// refused halfway for memory that it has allocated itself.
func (m *Limit) Exceeded() bool {
	if !m.measured {
		m.measured = true
		m.over = m.reclaim() == nothingLeft
	}
	return m.over
}

// Used returns the bytes in use that maxmemory is compared with. While the keys are not counted,
// without maxmemory and soon after it was set, their bytes are estimated.
func (m *Limit) Used() int64 {
	used := command.StartupBytes + m.env.Server.Buffers() + m.engine.Overhead()
	if space := m.env.Space; m.env.Config.MaxMemory > 0 && !m.counting {
		used += space.CountedBytes()
	} else {
		used += space.EstimateBytes(countBatch)
	}
	m.peak = max(m.peak, used)
	return used
}

// Policy returns which keys are evicted, and in which order.
func (m *Limit) Policy() store.Policy { return m.policy }

// Peak returns the most that Used has returned.
func (m *Limit) Peak() int64 { return m.peak }

// countBatch is how many keys a unit counts: about a millisecond's work.
const countBatch = 4096

// Follow begins or ends the counting of bytes after maxmemory has changed. Keys above a
// new limit are evicted soon.
func (m *Limit) Follow() {
	space, limit := m.env.Space, m.env.Config.MaxMemory
	if space.CountBytes(limit > 0) {
		m.counting = space.CountMore(countBatch)
	}
	m.evicting = limit > 0 && (m.counting || m.Used() > limit)
	m.measured = m.measured && limit > 0
	m.engine.Attend()
}

// Room estimates how many bytes of data may be added: half of what the process has left,
// because the collector lets the heap grow.
func (m *Limit) Room() int64 {
	if m.process <= 0 {
		return defaultRoom
	}
	return max(m.process-m.process/8-m.env.Server.Heap(), 0) / 2
}

// ScriptGrowth returns how many bytes a script may add to the heap. That is maxmemory, or
// 1 GB without maxmemory. It is at most a quarter of the process's memory. The heap may
// not exceed seven eighths of that memory. heap is the present size of the heap in bytes.
func (m *Limit) ScriptGrowth(heap uint64) uint64 {
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
