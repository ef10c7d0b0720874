package server

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/store"
)

// memoryFigures are what INFO memory, MEMORY STATS and MEMORY DOCTOR tell about the memory, in
// bytes.
type memoryFigures struct {
	command.ProcessMemory
	peak, total, startup        int64
	clients, scripts, functions int64
	replicas, backlog           int64              // replicas: their connections, and what waits for them
	buffers                     int64              // the backlog, and what replicas have not yet read
	codes, libraryCodes         int64              // of scripts and libraries, with their Lua states
	databases                   []databaseOverhead // the databases that have keys
	keys                        int64              // a number of keys
	overhead                    int64              // startup and all that are not names and values of keys
	dataset                     int64              // total, less overhead
	net                         int64              // total, less startup; 1 if that is not above 0
}

// databaseOverhead is the overhead of a database.
type databaseOverhead struct {
	number int
	store.Overhead
}

// readMemory measures the memory.
func readMemory(c *command.Ctx) *memoryFigures {
	m := &memoryFigures{
		ProcessMemory: c.Server.Usage().Memory, total: c.Memory.Used(),
		scripts: int64(c.Scripts.MemoryUsed()), functions: int64(c.Scripts.FunctionMemory()),
	}
	m.clients, m.replicas = command.ClientBytes(c)
	stream := c.Replicas.Status()
	m.replicas += stream.Pending
	m.backlog = stream.BacklogBytes
	m.buffers = stream.BacklogBytes + stream.Pending + stream.Unread
	m.total += m.buffers // maxmemory is not compared with them
	codes, libraryCodes := c.Scripts.VMMemory()
	m.codes, m.libraryCodes = int64(codes), int64(libraryCodes)
	m.peak = max(c.Memory.Peak(), m.total)
	m.overhead = m.clients + m.replicas + m.backlog + m.scripts + m.functions
	for i, db := range c.Space.Opened() {
		if db.Len() > 0 {
			o := databaseOverhead{i, db.Overhead()}
			m.databases = append(m.databases, o)
			m.keys += int64(db.Len())
			m.overhead += o.Sum()
		}
	}
	// The overhead is measured more closely than the keys are counted.
	m.startup = min(command.StartupBytes, m.total)
	m.overhead = min(m.startup+m.overhead, m.total)
	m.dataset = m.total - m.overhead
	m.net = max(m.total-m.startup, 1)
	return m
}

// perKey returns the bytes of a key with its share of all that was added since the start.
func (m *memoryFigures) perKey() int64 {
	if m.keys == 0 {
		return 0
	}
	return m.net / m.keys
}

func (m *memoryFigures) datasetPercent() float64 { return percent(m.dataset, m.net) }
func (m *memoryFigures) peakPercent() float64    { return percent(m.total, m.peak) }

// percent returns a part in percent, as Redis computes it: with 24 bits.
func percent(part, whole int64) float64 {
	return float64(float32(part) * 100 / float32(max(whole, 1)))
}

// excess is what one figure has above another one.
type excess struct {
	ratio float64 // with 24 bits
	bytes int64
}

func excessOf(figure, of int64) excess {
	return excess{float64(float32(figure) / float32(max(of, 1))), figure - of}
}

// The kinds of memory beside the objects. In Redis's words the first is the fragmentation of
// the allocator, and the last the fragmentation of all.
func (m *memoryFigures) unused() excess   { return excessOf(m.Active, m.Heap) }
func (m *memoryFigures) kept() excess     { return excessOf(m.Resident, m.Active) }
func (m *memoryFigures) outside() excess  { return excessOf(m.Process, m.Resident) }
func (m *memoryFigures) resident() excess { return excessOf(m.Process, m.total) }
