package program

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// giveBack returns memory to the operating system each time a load has ended.
// Go's collector runs after a certain amount of allocation, so without this the
// garbage of a load stays in the process for minutes. Only the program may do
// this: a library must not collect for the process that it is a part of.
//
// A value of freed says that the server has let go of much memory, such as a whole
// database. The collector has not seen that: to it, the memory is in use until it runs again,
// and a server that has become idle does not make it run.
//
// giveBack sleeps until the collector runs or freed has a value, so an idle server uses no
// CPU. It returns when stop is closed.
func giveBack(stop, freed <-chan struct{}) {
	for {
		collected := make(chan struct{})
		notifyCollection(collected)
		large := false
		select {
		case <-stop:
			return
		case <-collected:
		case <-freed:
			large = true
		}
		if !awaitQuiet(stop) {
			return
		}
		select { // the collection below is for this one, too
		case <-freed:
			large = true
		default:
		}
		if h := readHeap(); h.worthwhile() || large && h.live >= minLive {
			debug.FreeOSMemory()
		}
	}
}

// newFreed returns a function that puts a value into the channel, unless one is there.
func newFreed() (notify func(), freed <-chan struct{}) {
	c := make(chan struct{}, 1)
	return func() {
		select {
		case c <- struct{}{}:
		default:
		}
	}, c
}

// awaitQuiet waits for the end of a load and returns true. It returns false
// when stop is closed earlier.
func awaitQuiet(stop <-chan struct{}) bool {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for l := (load{seen: readHeap().allocated}); ; {
		select {
		case <-stop:
			return false
		case <-second.C:
		}
		if l.over(readHeap()) {
			return true
		}
	}
}

// notifyCollection closes c when Go's collector has run.
func notifyCollection(c chan struct{}) {
	// The object holds a pointer: the cleanup of an object without pointers may
	// run late, because such objects share a block.
	sentinel := new(chan struct{})
	runtime.AddCleanup(sentinel, func(c chan struct{}) { close(c) }, c)
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

const (
	quietBytes = 256 << 10 // a second is quiet when it allocates at most this much
	minSpare   = 4 << 20   // less spare memory is not worth a collection
	minLive    = 16 << 20  // with less live memory, no part of it can be worth one
)

// worthwhile reports whether the spare memory is worth a collection: at least
// minSpare and an eighth of the live memory.
func (h heap) worthwhile() bool { return h.spare >= max(minSpare, h.live/8) }

// load finds the end of a load: the first second that allocates little.
type load struct {
	seen uint64 // heap.allocated at the last call of over
}

// over reports whether the second since the last call was quiet. The caller
// calls it once a second.
func (l *load) over(h heap) bool {
	last := l.seen
	l.seen = h.allocated
	return h.allocated-last <= quietBytes
}
