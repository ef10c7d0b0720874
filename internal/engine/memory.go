package engine

import "github.com/lockredis/lockredis/store"

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
// next collection. So the memory in use is the sum of what is counted and the rest. The store
// counts the bytes of its keys. The server counts those of the connections' buffers. Each room counts
// what it holds for clients and scripts. besideKeys estimates the rest. Lua's code and states
// are not in the sum, as in Redis.
type memoryLimit struct {
	e       *Engine
	process int64 // bytes that the process may use; 0: unknown
	policy  store.Policy

	measured bool  // exceeded has measured in this unit
	over     bool  // its result
	counting bool  // the store has not counted all keys
	evicting bool  // the timer goes on counting and evicting
	again    int64 // the timer tries again at this time, because of proven; Unix ms, 0: it does not

	beside besideKeys
	needed int64 // when there began to be too much, Unix µs
	excess int64 // when there was too much last, Unix µs
	asked  int64 // when askAgain asked for a collection, Unix µs
	looked int64 // when look read the heap, Unix µs; 0: it must read it
	looks  int   // calls of look since then
}

// askPause is the least time between two collections that askAgain asks for, in µs.
const askPause = 100_000

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

// Used returns the bytes in use that maxmemory is compared with. Without maxmemory it is
// the heap with its garbage.
func (m *memoryLimit) Used() int64 {
	if m.e.env.Config.MaxMemory == 0 {
		return m.e.env.Server.Heap().Size
	}
	counted := m.counted()
	m.look(counted + m.e.code())
	return m.beside.bytes + counted
}

// counted returns the bytes of the keys, of the connections' buffers, and of what clients and
// scripts hold.
func (m *memoryLimit) counted() int64 {
	return m.e.env.Space.CountedBytes() + m.e.env.Server.Buffers() + m.e.held()
}

// known returns the bytes that a collection finds of what is counted, and of the scripts' code.
func (m *memoryLimit) known() int64 { return m.counted() + m.e.code() }

// code estimates the bytes of the scripts' code and of Lua's states. As in Redis, they are not
// compared with maxmemory.
func (e *Engine) code() int64 {
	scripts, functions := e.env.Scripts.VMMemory()
	return int64(scripts + functions)
}

// held estimates the bytes of cached scripts, libraries and queued transactions, and of the names
// that clients watch, wait for, listen to and cache.
func (e *Engine) held() int64 {
	env, tracked := &e.env, &e.tracking
	return int64(env.Scripts.MemoryUsed()+env.Scripts.FunctionMemory()) + env.Queued + env.PubSub.Bytes() +
		e.watches.bytes + e.parking.bytes + tracked.table.Bytes() + tracked.prefixes.Bytes()
}

// look reads the heap again after lookPause, or after lookCalls calls.
const (
	lookPause = 1000 // µs
	lookCalls = 256
)

// look notes the bytes that are known, and finds out whether there was a collection. It
// asks for a collection when garbage takes an eighth of maxmemory, or when the estimate is
// doubtful.
func (m *memoryLimit) look(known int64) {
	env := &m.e.env
	m.looks++
	m.beside.note(known)
	if m.looked != 0 && m.looks < lookCalls && uint64(env.Micros-m.looked) < lookPause {
		return
	}
	m.looks, m.looked = 0, env.Micros
	heap := env.Server.Heap()
	if heap.Live == 0 {
		heap.Live = heap.Size
	}
	if !m.counting {
		m.beside.look(heap, known, env.Micros)
	}
	limit := env.Config.MaxMemory
	if garbage := heap.Size - max(limit, known+m.beside.bytes); garbage > limit/8 || m.doubtful() {
		m.collect()
	}
}

// doubtAfter is how long, in µs, a large estimate of what is beside the keys is believed.
const doubtAfter = 1_000_000

// doubtful reports whether the estimate is large and old: what is beside the keys may be gone.
func (m *memoryLimit) doubtful() bool {
	return m.large() && uint64(m.e.env.Micros-m.beside.found) >= doubtAfter
}

// proofPause is how long, in ms, the timer waits for a collection that proven needs.
const proofPause = 5

// proven returns how many bytes of the estimate keys may be evicted for. A large estimate may be
// that of something which is gone. So two collections have to find it. The second must have begun
// after there was too much, and not long ago. An eighth of maxmemory needs no proof. all is
// false while there may be more.
func (m *memoryLimit) proven() (bytes int64, all bool) {
	now := m.e.env.Micros
	if uint64(now-m.excess) >= doubtAfter {
		m.needed = now
	}
	m.excess = now
	if !m.large() {
		return m.beside.bytes, true
	}
	if m.beside.began >= m.needed && !m.doubtful() {
		bytes = m.beside.proven
	}
	if m.beside.bytes-bytes <= m.e.env.Config.MaxMemory/8 {
		return m.beside.bytes, true
	}
	m.collect()
	return bytes, false
}

// large reports whether there is more than an eighth of maxmemory beside what is known.
func (m *memoryLimit) large() bool { return m.beside.bytes > m.e.env.Config.MaxMemory/8 }

// collect asks for a collection.
func (m *memoryLimit) collect() {
	if number := m.e.env.Server.Collect(); number != 0 {
		m.beside.begun(number, m.known(), m.e.env.Micros)
	}
}

// askAgain asks for another collection when a command is refused although the keys leave
// room: what is beside them may be gone. The clients that are refused make no garbage, so
// the next collection might be minutes away.
func (m *memoryLimit) askAgain() {
	if now := m.e.env.Micros; m.large() && uint64(now-m.asked) >= askPause {
		m.asked = now
		m.collect()
	}
}

// countBatch is how many keys a unit counts: about a millisecond's work.
const countBatch = 4096

// follow begins or ends the counting of bytes after maxmemory has changed. Keys above a
// new limit are evicted soon.
func (m *memoryLimit) follow() {
	space, limit := m.e.env.Space, m.e.env.Config.MaxMemory
	if space.CountBytes(limit > 0) {
		m.counting = space.CountMore(countBatch)
		m.forgetCollections()
	}
	m.looked, m.evicting, m.again = 0, false, 0
	if limit > 0 {
		m.collect()
		m.evicting = m.counting || m.Used() > limit
	}
}

// count counts a batch of keys. What collections find beside the keys is not known before
// all are counted.
func (m *memoryLimit) count() {
	if !m.counting {
		return
	}
	if m.counting = m.e.env.Space.CountMore(countBatch); !m.counting {
		m.forgetCollections()
		m.collect()
	}
}

func (m *memoryLimit) forgetCollections() {
	m.beside.reset(m.e.env.Server.Heap(), m.known(), m.e.env.Micros)
}

// Room estimates how many bytes of data may be added: half of what the process has left,
// because the collector lets the heap grow.
func (m *memoryLimit) Room() int64 {
	if m.process <= 0 {
		return defaultRoom
	}
	return max(m.process-m.process/8-m.e.env.Server.Heap().Size, 0) / 2
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
