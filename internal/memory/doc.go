// Package memory decides how much memory data and scripts may take. It evicts keys when maxmemory
// is exceeded, and gives free memory back to the system for MEMORY PURGE.
//
// The allocator's figure contains garbage, and a key that is evicted stays in it until the
// next collection. So the memory in use is the sum of what is counted. The store counts
// its keys, the server the connections' buffers, and the engine what its rooms keep for clients
// and scripts. A constant stands for the rest. Lua's code and states are not in the sum, as in
// Redis. Without a limit the store counts nothing: the keys that are there when a limit is set are
// counted in batches.
//
// Eviction runs where maxmemory is checked: before a client's command. By default a unit
// evicts for half a millisecond at most, and the timer continues with the rest. Candidates are
// random picks from the index of keys.
//
//	limit.go   Limit: the memory in use, and what a script or DEBUG POPULATE may allocate
//	evict.go   Limit: the policy, and the eviction of keys
//	purges.go  Purges: a collection for MEMORY PURGE, outside the engine
//
// The package never imports the engine: Engine is what it needs of it. The limit of Go's heap is
// in internal/collector.
package memory
