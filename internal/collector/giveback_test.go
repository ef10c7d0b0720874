package collector

import (
	"runtime"
	"testing"
	"time"
)

func TestALoadIsOverInAQuietSecond(t *testing.T) {
	const mb = 1 << 20
	l := load{seen: 10 * mb}
	for second, step := range []struct {
		allocated uint64
		over      bool
	}{
		{80 * mb, false},
		{160 * mb, false},
		{160*mb + quietBytes + 1, false},
		{160*mb + 2*quietBytes, true},
		{300 * mb, false},
		{300 * mb, true},
	} {
		if got := l.over(heap{allocated: step.allocated}); got != step.over {
			t.Errorf("second %d: over is %v", second, got)
		}
	}
}

func TestMemoryIsReturnedWhenItIsWorthACollection(t *testing.T) {
	const mb = 1 << 20
	for _, step := range []struct {
		heap heap
		want bool
	}{
		{heap{live: 1 * mb, spare: 3 * mb}, false},
		{heap{live: 1 * mb, spare: 5 * mb}, true},
		{heap{live: 100 * mb, spare: 9 * mb}, false},
		{heap{live: 100 * mb, spare: 13 * mb}, true},
	} {
		if got := step.heap.worthwhile(); got != step.want {
			t.Errorf("%+v: worthwhile is %v", step.heap, got)
		}
	}
}

func TestSizeAndLiveGrowWithTheHeap(t *testing.T) {
	runtime.GC()
	size, live := Size(), Live()
	garbage = make([]byte, 64<<20)
	runtime.GC()
	for name, grown := range map[string]uint64{"size": Size() - size, "live": Live() - live} {
		if grown < 48<<20 || grown > 80<<20 {
			t.Errorf("%s grew by %d bytes after an allocation of 64 MB", name, grown)
		}
	}
	garbage = nil
}

func TestReadHeapSeesGarbage(t *testing.T) {
	before := readHeap()
	garbage = make([]byte, 8<<20)
	garbage = nil
	after := readHeap()
	if after.allocated-before.allocated < 8<<20 || after.spare == 0 {
		t.Fatalf("before %+v, after %+v", before, after)
	}
}

func TestFreedMemoryIsReturnedAlthoughTheCollectorHasSeenItInUse(t *testing.T) {
	garbage = make([]byte, 64<<20)
	runtime.GC()
	if live := readHeap().live; live < 64<<20 {
		t.Fatalf("%d bytes are live", live)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	notify, freed := NewFreed()
	go func() {
		GiveBack(stop, freed)
		close(done)
	}()
	garbage = nil
	notify()
	notify() // does not block
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); readHeap().live >= 64<<20; <-tick.C {
		if time.Now().After(end) {
			t.Fatal("a minute later the memory is still in use") // Go itself collects after two
		}
	}
	close(stop)
	<-done
}

var garbage []byte

func TestACollectionClosesTheChannel(t *testing.T) {
	collected := make(chan struct{})
	After(func() { close(collected) })
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		runtime.GC()
		select {
		case <-collected:
			return
		case <-time.After(time.Millisecond):
		}
	}
	t.Fatal("the channel is open 10 s after the first collection")
}
