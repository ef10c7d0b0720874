package latency

import (
	"slices"
	"testing"
)

// The durations and figures of these tests are from redis-server: a percentile that INFO
// shows is the end of the bucket that holds the duration.
func TestAPercentileIsTheEndOfItsBucket(t *testing.T) {
	for _, one := range []struct{ duration, low, high int64 }{
		{0, 1, 1}, {1, 1, 1}, {127, 127, 127}, {128, 128, 128}, {255, 255, 255}, {256, 256, 257},
		{1000, 1000, 1003}, {6000, 5984, 6015}, {11000, 10944, 11007}, {12000, 11968, 12031},
		{77000, 76800, 77311}, {138000, 137216, 138239}, {158000, 157696, 158719},
		{1_280_000, 1277952, 1286143}, {3_172_000, 3162112, 3178495},
		{1_000_000_000, 998244352, 1002438655}, {5_000_000_000, 998244352, 1002438655},
	} {
		var h Histogram
		h.Record(one.duration, 1)
		if low, high := h.Percentile(0), h.Percentile(50); low != one.low || high != one.high {
			t.Errorf("%d ns are in the bucket from %d to %d, not from %d to %d",
				one.duration, low, high, one.low, one.high)
		}
	}
}

func TestPercentilesFollowTheOrderOfTheDurations(t *testing.T) {
	var h Histogram
	for n := int64(100); n >= 1; n-- {
		h.Record(n, 1)
	}
	for p, want := range map[float64]int64{0: 1, 1: 1, 50: 50, 99: 99, 99.9: 100, 100: 100} {
		if got := h.Percentile(p); got != want {
			t.Errorf("the percentile %v is %d, not %d", p, got, want)
		}
	}
}

func TestStepsEndAtPowersOfTwoAndAreCumulative(t *testing.T) {
	var h Histogram
	for _, n := range []int64{1, 1024, 1032, 6000, 11000, 20000, 77000, 138000, 3_172_000, 1_500_000_000} {
		h.Record(n, 1)
	}
	want := []Step{{1, 2}, {2, 3}, {8, 4}, {16, 5}, {33, 6}, {132, 7}, {264, 8}, {4227, 9}, {1073741, 10}}
	if got := h.Steps(); !slices.Equal(got, want) {
		t.Errorf("the steps are %v, not %v", got, want)
	}
}

func TestAnEmptyHistogramHasNoSteps(t *testing.T) {
	var h Histogram
	if h.Total() != 0 || h.Steps() != nil {
		t.Errorf("%d durations, steps %v", h.Total(), h.Steps())
	}
}

func TestRecordAllocatesOnlyForANewRow(t *testing.T) {
	var h Histogram
	h.Record(1000, 1)
	if n := testing.AllocsPerRun(100, func() { h.Record(1001, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
