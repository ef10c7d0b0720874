package server

import (
	"runtime"
	"testing"
)

var sink []byte

func TestGarbageIsNotTakenForUsedMemory(t *testing.T) {
	var g memoryGauge
	runtime.GC()
	limit := g.used(0) + 64<<20
	for range 200 {
		sink = make([]byte, 1<<20)
		if used := g.used(limit); used > limit {
			t.Fatalf("%d bytes are said to be in use, of %d", used, limit)
		}
	}
}

func TestWhatIsKeptIsNotTakenForGarbage(t *testing.T) {
	var g memoryGauge
	runtime.GC()
	limit := g.used(0) + 8<<20
	kept := make([][]byte, 16)
	for i := range kept {
		kept[i] = make([]byte, 1<<20)
	}
	if used := g.used(limit); used <= limit {
		t.Fatalf("%d bytes are said to be in use, of %d", used, limit)
	}
	runtime.KeepAlive(kept)
}

func TestAnExceededLimitIsNotCollectedForAtEveryLook(t *testing.T) {
	const looks = 10_000
	var g memoryGauge
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range looks {
		if g.used(1) <= 1 {
			t.Fatal("the heap is empty")
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.NumForcedGC - before.NumForcedGC; n == 0 || n > looks/10 {
		t.Fatalf("%d collections for %d looks", n, looks)
	}
}
