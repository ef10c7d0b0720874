package server

import (
	"runtime"
	"testing"
)

var sink []byte

func TestGarbageDoesNotCountAsUsedMemory(t *testing.T) {
	var g memoryGauge
	runtime.GC()
	limit := g.used(0) + 64<<20
	for range 200 {
		sink = make([]byte, 1<<20)
		if used := g.used(limit); used > limit {
			t.Fatalf("used returned %d, the limit is %d", used, limit)
		}
	}
}

func TestLiveMemoryCountsAsUsedMemory(t *testing.T) {
	var g memoryGauge
	runtime.GC()
	limit := g.used(0) + 8<<20
	kept := make([][]byte, 16)
	for i := range kept {
		kept[i] = make([]byte, 1<<20)
	}
	if used := g.used(limit); used <= limit {
		t.Fatalf("used returned %d, the limit is %d", used, limit)
	}
	runtime.KeepAlive(kept)
}

func TestAnExceededLimitForcesFewCollections(t *testing.T) {
	const measurements = 10_000
	var g memoryGauge
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range measurements {
		if g.used(1) <= 1 {
			t.Fatal("the heap is empty")
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.NumForcedGC - before.NumForcedGC; n == 0 || n > measurements/10 {
		t.Fatalf("%d collections for %d measurements", n, measurements)
	}
}

func TestTheProcessMemoryIsTheLeastKnownLimit(t *testing.T) {
	for want, limits := range map[int64][]int64{0: {0, 0}, 3: {5, 3, 0}, 4: {4, 0, 9}, 7: {0, 7}} {
		if got := leastKnown(limits...); got != want {
			t.Errorf("leastKnown of %d is %d, want %d", limits, got, want)
		}
	}
}
