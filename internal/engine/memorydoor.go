package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// memoryDoor is the engine as package memory sees it: memory.Engine.
type memoryDoor struct{ door }

// Overhead estimates the bytes of cached scripts, libraries and queued transactions, and of the
// names that clients watch, wait for, listen to and cache. What a new room keeps for a client or a
// script belongs here, too. overhead_test.go compares the sum with the heap.
//
// The output of replicas is taken off: each eviction adds to it, so it must not evict. What else
// replication keeps does not count either. Redis counts the backlog.
func (d memoryDoor) Overhead() int64 {
	env := &d.env
	return int64(env.Scripts.MemoryUsed()+env.Scripts.FunctionMemory()) + env.Queued + env.PubSub.Bytes() +
		d.watches.bytes + d.parking.bytes + d.tracking.Bytes() - d.replicas.Unread()
}

// Frozen reports whether CLIENT PAUSE keeps the data as they are.
func (d memoryDoor) Frozen() bool { return d.pausing.delays(d.env.Space.Now()) }

// Serve ends the wait of a parked client, and counts its command.
func (d memoryDoor) Serve(p *command.Parked, reply resp.Reply) {
	d.measures.Served(p, 0)
	d.parking.end(p, reply)
}
