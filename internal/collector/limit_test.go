package collector

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestTheLimitOfMemoryIsAboveMaxmemory(t *testing.T) {
	const mb = 1 << 20
	for maxMemory, want := range map[int64]int64{
		1: 16*mb + 1, 100 * mb: 141 * mb, math.MaxInt64: math.MaxInt64,
	} {
		if got := limitFor(maxMemory, 0); got != want {
			t.Errorf("limitFor(%d) is %d, want %d", maxMemory, got, want)
		}
	}
}

func TestTheLimitOfMemoryFollowsMaxmemory(t *testing.T) {
	const gb = 1 << 30
	own := debug.SetMemoryLimit(64 * gb) // as GOMEMLIMIT does
	defer debug.SetMemoryLimit(own)
	runtime.GC() // before the first, nothing is known to be in use
	limit := NewLimit(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		limit.Follow(stop)
	}()
	for _, step := range []struct {
		maxMemory, want int64
	}{
		{4 * gb, 5*gb + 16<<20}, {gb, 5*gb/4 + 16<<20}, {0, 64 * gb}, {gb, 5*gb/4 + 16<<20},
		{100 * gb, 64 * gb}, {4 * gb, 5*gb + 16<<20}, {1, 64 * gb}, {4 * gb, 5*gb + 16<<20},
	} {
		limit.Set(step.maxMemory)
		awaitLimit(t, step.want)
	}
	close(stop)
	<-done
	if got := debug.SetMemoryLimit(-1); got != 64*gb {
		t.Errorf("the limit at the end is %d", got)
	}
}

func awaitLimit(t *testing.T, want int64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); debug.SetMemoryLimit(-1) != want; {
		if time.Now().After(end) {
			t.Fatalf("the limit is %d, want %d", debug.SetMemoryLimit(-1), want)
		}
		<-time.After(time.Millisecond)
	}
}

func TestTheLimitOfMemoryGivesWayWhileTheCollectorTakesLong(t *testing.T) {
	const mb = 1 << 20
	var a allowance
	now := processor{total: 100, collector: 30}
	for i, step := range []struct {
		total, collector float64 // seconds, since the step before
		maxMemory, want  int64
	}{
		{50, 25, 80 * mb, 0}, // before the limit
		{0.5, 0.4, 80 * mb, 0},
		{0.6, 0.4, 80 * mb, 10 * mb},
		{2, 0.3, 80 * mb, 20 * mb},
		{2, 0.2, 80 * mb, 20 * mb},
		{2, 0.01, 80 * mb, 15 * mb},
		{2, 1, 800 * mb, 0}, // another limit
		{2, 1, 800 * mb, 100 * mb},
		{100, 1, 800 * mb, 50 * mb},
		{100, 1, 800 * mb, 0},
		{100, 1, 800 * mb, 0},
	} {
		now.total += step.total
		now.collector += step.collector
		if a.adapt(now, step.maxMemory); a.bytes != step.want {
			t.Errorf("step %d: %d bytes, want %d", i, a.bytes, step.want)
		}
	}
	for range 20 {
		now.total, now.collector = now.total+2, now.collector+1
		a.adapt(now, 800*mb)
	}
	if a.bytes != 800*mb {
		t.Errorf("at most %d bytes", a.bytes)
	}
	if p := readProcessor(); p.total < p.collector || p.collector < 0 {
		t.Errorf("the runtime reports %+v", p)
	}
}
