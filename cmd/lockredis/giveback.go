package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// giveBack returns memory to the system whenever a load has ended: Go's
// collector runs by what is allocated, so that what a load leaves behind would
// stay for minutes. It returns when stop is closed. A library must not do that to
// the process that it is part of, so it is the program's business.
//
// As long as nothing is collected it sleeps: an idle server takes no time.
func giveBack(stop <-chan struct{}) {
	for {
		collected := make(chan struct{})
		notifyCollection(collected)
		select {
		case <-stop:
			return
		case <-collected:
		}
		if !awaitQuiet(stop) {
			return
		}
		if readHeap().worthwhile() {
			debug.FreeOSMemory()
		}
	}
}

// awaitQuiet waits for the end of a load. It returns false when stop is closed
// before.
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
	sentinel := new(chan struct{}) // it holds a pointer: objects that hold none may go late
	runtime.AddCleanup(sentinel, func(c chan struct{}) { close(c) }, c)
}

// heap is what the Go runtime tells of its heap, in bytes.
type heap struct {
	allocated uint64 // ever
	live      uint64 // at the end of the last collection
	spare     uint64 // garbage, and free memory that the system has not got back
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
	quietBytes = 256 << 10 // allocated in a quiet second, at most
	worthBytes = 4 << 20   // spare memory that is worth a collection, at least
)

// worthwhile reports whether there is spare memory to the eighth part of what is
// live.
func (h heap) worthwhile() bool { return h.spare >= max(worthBytes, h.live/8) }

// load is some seconds in which memory is allocated.
type load struct {
	seen uint64 // allocated, a second ago
}

// over is told of the heap once a second, and reports whether that was quiet.
func (l *load) over(h heap) bool {
	last := l.seen
	l.seen = h.allocated
	return h.allocated-last <= quietBytes
}
