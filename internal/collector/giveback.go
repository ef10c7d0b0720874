package collector

import (
	"runtime/debug"
	"time"
)

// GiveBack returns memory to the operating system each time a load has ended.
// Go's collector runs after a certain amount of allocation, so without this the
// garbage of a load stays in the process for minutes.
//
// A value of freed says that the server has let go of much memory, such as a whole
// database. The collector has not seen that: to it, the memory is in use until it runs again,
// and a server that has become idle does not make it run.
//
// GiveBack sleeps until the collector runs or freed has a value, so an idle server uses no
// CPU. It returns when stop is closed.
func GiveBack(stop, freed <-chan struct{}) {
	for {
		collected := make(chan struct{})
		After(func() { close(collected) })
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

// NewFreed returns a function that puts a value into the channel, unless one is there.
func NewFreed() (notify func(), freed <-chan struct{}) {
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
