package collector

import (
	"runtime"
	"runtime/metrics"
)

// Size returns the bytes of the heap's objects, with garbage. It takes 0.4 µs.
func Size() uint64 { return metric("/memory/classes/heap/objects:bytes") }

// Live returns the bytes of the heap's objects that the last collection found in use, 0 if there
// was none.
func Live() uint64 { return metric("/gc/heap/live:bytes") }

func metric(name string) uint64 {
	sample := [1]metrics.Sample{{Name: name}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}

// After calls do once, when the collector has run. do must not wait.
func After(do func()) {
	// The object holds a pointer: the cleanup of an object without pointers may
	// run late, because such objects share a block.
	sentinel := new(*int)
	runtime.AddCleanup(sentinel, func(do func()) { do() }, do)
}

// heap has the Go runtime's figures of its heap, in bytes.
type heap struct {
	allocated uint64 // since the process started
	live      uint64 // at the end of the last collection
	spare     uint64 // garbage, and free memory that the process still holds
}

func readHeap() heap {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
	}
	metrics.Read(samples)
	value := func(i int) uint64 { return samples[i].Value.Uint64() }
	h := heap{allocated: value(0), live: value(1)}
	h.spare = value(2) + value(3) + value(4) - min(h.live, value(2))
	return h
}
