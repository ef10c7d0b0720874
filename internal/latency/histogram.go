package latency

import "math/bits"

// slots is the number of buckets in a row of a histogram. 128 keeps two decimal digits of
// every duration, as Redis's histograms do.
const slots = 128

// rows is the number of rows: the last row holds longest.
const rows = 24

// longest is the longest duration that a histogram tells apart, in nanoseconds. A longer
// duration counts as longest.
const longest = 1_000_000_000

// Histogram counts durations of 1 ns to 1 s in buckets. A bucket's width is at most 1/128 of
// its durations. The zero value is empty. A row of 1 KB is allocated when the first duration
// falls into it, so a histogram takes a few KB and 24 KB at most.
type Histogram struct {
	total int64
	rows  [rows]*[slots]int64
}

// Record adds a duration of n nanoseconds, several times.
func (h *Histogram) Record(n, times int64) {
	n = min(max(n, 1), longest)
	row, slot := place(n)
	if h.rows[row] == nil {
		h.rows[row] = new([slots]int64)
	}
	h.rows[row][slot] += times
	h.total += times
}

// place returns the bucket of n. Row 0 has the durations below 128 ns. Each later row begins
// at a power of two and ends at the next one.
func place(n int64) (row, slot int) {
	row = max(bits.Len64(uint64(n))-7, 0)
	return row, int(n>>width(row)) % slots
}

// width returns the binary logarithm of the width of a row's buckets.
func width(row int) int { return max(row-1, 0) }

// bounds returns the least and the largest duration of a bucket.
func bounds(row, slot int) (low, high int64) {
	low = int64(slot) << width(row)
	if row > 0 {
		low += slots << width(row)
	}
	return low, low + 1<<width(row) - 1
}

// Total returns the number of recorded durations.
func (h *Histogram) Total() int64 { return h.total }

// Percentile returns a duration in nanoseconds that p percent of the recorded durations
// do not exceed: the largest duration of its bucket, or for p = 0 the least. h is not empty.
func (h *Histogram) Percentile(p float64) int64 {
	rank := max(int64(p/100*float64(h.total)+0.5), 1)
	var value int64
	h.buckets(func(low, high, count int64) bool {
		if value = high; p == 0 {
			value = low
		}
		rank -= count
		return rank > 0
	})
	return value
}

// buckets visits the buckets that are not empty, shortest durations first, until do returns
// false.
func (h *Histogram) buckets(do func(low, high, count int64) bool) {
	for i, row := range h.rows {
		if row == nil {
			continue
		}
		for slot, count := range row {
			if count == 0 {
				continue
			}
			if low, high := bounds(i, slot); !do(low, high, count) {
				return
			}
		}
	}
}

// Step is a line of LATENCY HISTOGRAM: Count durations took at most Micros microseconds.
type Step struct{ Micros, Count int64 }

// lastEnd is the end of the last row in nanoseconds. No step ends later.
const lastEnd = 1 << 30

// firstStep is the end of the first step in nanoseconds. Each step is twice as long as the
// step before.
const firstStep = 1024

// Steps returns the distribution, cumulative, without the steps that add no durations. The
// end of a step is the end of the bucket that begins at a power of two.
func (h *Histogram) Steps() (steps []Step) {
	end, sum := int64(firstStep), int64(0)
	add := func() {
		last := int64(0)
		if len(steps) > 0 {
			last = steps[len(steps)-1].Count
		}
		if sum > last {
			_, high := bounds(place(end))
			steps = append(steps, Step{min(high, lastEnd-1) / 1000, sum})
		}
	}
	h.buckets(func(low, _, count int64) bool {
		for low > end {
			add()
			end *= 2
		}
		sum += count
		return true
	})
	add()
	return steps
}
