package memory

import (
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/store"
)

func TestAUnitEvictsForALimitedTimeAndTheTimerGoesOn(t *testing.T) {
	h := newHost(t)
	h.fill(1000)
	h.follow(1<<30, "allkeys-lru")
	limit := h.env.Space.CountedBytes() / 2
	h.follow(command.StartupBytes+limit, "allkeys-lru")
	if n := h.keys(); n != 1000 {
		t.Fatalf("the new limit itself left %d keys", n)
	}
	if h.limit.Due() == 0 {
		t.Fatal("the timer has nothing to do")
	}
	if h.exceeded() {
		t.Error("the limit is exceeded, and keys can be evicted")
	}
	if n := h.keys(); n > 1000-evictBetween || n < 1000-3*evictBetween {
		t.Fatalf("the unit left %d keys", n)
	}
	if h.env.Stats.Exceeded.Since == 0 {
		t.Error("maxmemory is exceeded, and INFO does not know since when")
	}
	units, used, left := h.fire(), h.env.Space.CountedBytes(), h.keys()
	if used > limit || used < limit-1000 || units < 10 || left < 400 {
		t.Errorf("%d units left %d keys of %d bytes, the limit is %d", units, left, used, limit)
	}
	if x := h.env.Stats.Exceeded; x.Since != 0 || x.Total == 0 {
		t.Errorf("the limit was exceeded since %d and for %d µs", x.Since, x.Total)
	}
	if h.limit.Due() != 0 {
		t.Error("the timer has something to do")
	}
}

func TestNothingIsEvictedWhileTheDataIsFrozenOrWithoutAPolicy(t *testing.T) {
	for policy, exceeded := range map[string]bool{"allkeys-lru": false, "noeviction": true} {
		h := newHost(t)
		h.fill(100)
		h.follow(1, policy)
		h.frozen = policy != "noeviction"
		if h.exceeded() != exceeded || h.keys() != 100 {
			t.Errorf("%s: %d keys are left", policy, h.keys())
		}
	}
}

func TestOverheadThatExceedsTheLimitEvictsAllKeys(t *testing.T) {
	h := newHost(t)
	h.fill(100)
	h.follow(command.StartupBytes+1<<20, "allkeys-random")
	h.overhead = 2 << 20
	for range 100 {
		h.exceeded()
	}
	if !h.exceeded() || h.keys() != 0 {
		t.Errorf("%d keys are left", h.keys())
	}
	if peak := h.limit.Peak(); peak < command.StartupBytes+h.overhead {
		t.Errorf("the peak is %d", peak)
	}
}

func TestExceededMeasuresOnceInAUnit(t *testing.T) {
	h := newHost(t)
	h.follow(command.StartupBytes+1<<20, "noeviction")
	if h.exceeded() {
		t.Fatal("the limit is exceeded")
	}
	h.overhead = 2 << 20
	if h.limit.Exceeded() {
		t.Error("the unit is refused halfway")
	}
	if !h.exceeded() {
		t.Error("the next unit is not refused")
	}
}

func TestTenacityLimitsTheTimeOfAnEviction(t *testing.T) {
	for tenacity, want := range map[int]time.Duration{
		0: 0, 1: 50 * time.Microsecond, 10: 500 * time.Microsecond, 11: 575 * time.Microsecond,
	} {
		if got := evictionTime(tenacity); got != want {
			t.Errorf("tenacity %d: %v, want %v", tenacity, got, want)
		}
	}
	if most := evictionTime(99); most < time.Minute || most > 3*time.Minute {
		t.Errorf("tenacity 99: %v", most)
	}
	if evictionTime(100) < time.Hour {
		t.Error("tenacity 100 has a limit")
	}
}

func TestWithoutMaxmemoryTheKeysAreEstimatedAsTheyAreCounted(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 3 * countBatch} {
		h := newHost(t)
		h.fill(n)
		h.env.Space.DB(3).Set([]byte("other"), store.ParseString([]byte("value")))
		estimate := h.limit.Used()
		h.follow(1<<30, "noeviction")
		h.fire()
		if used := h.limit.Used(); used != estimate {
			t.Errorf("%d keys: %d bytes are in use, estimated as %d", n, used, estimate)
		}
	}
}

func TestMillionsOfKeysAreCountedInBatches(t *testing.T) {
	h := newHost(t)
	const n = 3 * countBatch
	h.fill(n)
	h.follow(1<<30, "allkeys-random")
	first := h.env.Space.CountedBytes()
	if h.limit.Due() == 0 {
		t.Fatal("the timer has nothing to do")
	}
	h.fire()
	all := h.env.Space.CountedBytes()
	if all < 2*first || all%n != 0 || first == 0 || first%(all/n) != 0 {
		t.Fatalf("%d bytes, and %d of %d keys after some units of the timer", first, all, n)
	}
	h.follow(0, "allkeys-random")
	if h.limit.Due() != 0 || h.env.Space.CountedBytes() != 0 {
		t.Error("without maxmemory the timer has something to do, or bytes are counted")
	}
	h.follow(command.StartupBytes+first, "allkeys-random")
	h.fire()
	if used, left := h.env.Space.CountedBytes(), h.keys(); used > first || left < countBatch-200 {
		t.Errorf("%d keys of %d bytes are left, the limit is %d", left, used, first)
	}
}

func TestAScriptMayAllocateAQuarterOfTheProcess(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		process, maxMemory int64
		heap, want         uint64
	}{
		{0, 0, 0, defaultGrowth},
		{0, mb, 0, leastGrowth},
		{800 * mb, 0, 100 * mb, 200 * mb},
		{800 * mb, 0, 600 * mb, 100 * mb},
		{800 * mb, 0, 900 * mb, fullGrowth},
	} {
		h := newHost(t)
		h.env.Config.MaxMemory = c.maxMemory
		if got := NewLimit(h, &h.env, c.process).ScriptGrowth(c.heap); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
