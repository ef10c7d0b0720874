package server

import (
	"runtime"
	"testing"
)

func TestACollectionTellsWhatIsLive(t *testing.T) {
	var g memoryGauge
	g.collect()
	g.done.Wait()
	before := g.live()
	kept := make([]byte, 64<<20)
	runtime.GC()
	if grown := g.live() - before; grown < 48<<20 || grown > 80<<20 {
		t.Fatalf("live grew by %d bytes after an allocation of %d", grown, len(kept))
	}
	runtime.KeepAlive(kept)
}

func TestGarbageIsCollectedSeldom(t *testing.T) {
	const calls = 10_000
	var g memoryGauge
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		g.collect()
	}
	g.done.Wait()
	runtime.ReadMemStats(&after)
	if n := after.NumForcedGC - before.NumForcedGC; n == 0 || n > calls/10 {
		t.Fatalf("%d collections for %d calls", n, calls)
	}
}

func TestTheProcessMemoryIsTheLeastKnownLimit(t *testing.T) {
	for want, limits := range map[int64][]int64{0: {0, 0}, 3: {5, 3, 0}, 4: {4, 0, 9}, 7: {0, 7}} {
		if got := leastKnown(limits...); got != want {
			t.Errorf("leastKnown of %d is %d, want %d", limits, got, want)
		}
	}
}

func TestThePeakIsKnownWhenTheMemoryIsFree(t *testing.T) {
	var g memoryGauge
	runtime.GC()
	before := g.read()
	kept := make([]byte, 64<<20)
	g.read()
	runtime.KeepAlive(kept)
	kept = nil
	runtime.GC()
	m := g.figures()
	if m.Peak < before+48<<20 || m.Heap > m.Peak-48<<20 || kept != nil {
		t.Fatalf("the heap was %d bytes and grew by 64 MB: %+v", before, m)
	}
	if m.Active < m.Heap || m.Resident < m.Active || m.Process <= 0 {
		t.Fatalf("figures do not agree: %+v", m)
	}
}

func TestEndSleepEndsASleep(t *testing.T) {
	h := (*host)(newTestServer(t))
	h.EndSleep() // nothing sleeps: it has no effect on a later sleep
	h.Sleep(1)
	over := make(chan struct{})
	go func() {
		h.Sleep(1e12)
		close(over)
	}()
	for {
		select {
		case <-over:
			return
		default:
			h.EndSleep()
			runtime.Gosched()
		}
	}
}
