package command

import (
	"github.com/lockredis/lockredis/internal/latency"
)

// ResetStats sets the counters of INFO to 0.
func ResetStats(env *Env) {
	env.Stats = Stats{Errors: map[string]int64{}, Before: env.Server.Traffic()}
	env.Rates.Reset()
	env.Space.ResetStats()
	env.Table.ResetCalls()
}

// CallStats is a line of INFO commandstats, and of INFO latencystats.
type CallStats struct {
	Calls, Rejected, Failed int64

	nanos   int64 // all calls together
	times   latency.Histogram
	sample  int64 // the last measured call in a script, in ns
	skipped uint8 // calls in scripts since then; they count with its duration
	brief   bool  // sample may stand for other calls
}

// sampleOf is how many calls of a command in scripts one measured call stands for. Reading the
// clock twice costs as much as a small command of a lock script.
const sampleOf = 32

// longestSample is the longest duration, in ns, of a call that stands for others.
const longestSample = 20_000

// Skip reports whether the next call in a script need not be measured, and counts its time.
func (s *CallStats) Skip() bool {
	if !s.brief || s.skipped == sampleOf-1 {
		return false
	}
	s.skipped++
	return true
}

// Sampled notes that a call in a script took n nanoseconds. tracking says that durations count
// in latencystats. The caller calls Took, too.
func (s *CallStats) Sampled(n int64, tracking bool) {
	s.settle(tracking)
	s.sample, s.brief = n, n < longestSample
}

// settle counts the time of the skipped calls.
func (s *CallStats) settle(tracking bool) {
	if s.skipped == 0 {
		return
	}
	s.nanos += int64(s.skipped) * s.sample
	if tracking {
		s.times.Record(s.sample, int64(s.skipped))
	}
	s.skipped = 0
}

// Took adds n nanoseconds to the time of all calls. tracking says that the call counts in
// latencystats.
func (s *CallStats) Took(n int64, tracking bool) {
	s.nanos += n
	if tracking {
		s.times.Record(n, 1)
	}
}

// Served adds n nanoseconds to the time of all calls. In them a call was served that had run for before
// nanoseconds until its wait. tracking says that the call counts in latencystats, with both.
func (s *CallStats) Served(n, before int64, tracking bool) {
	s.nanos += n
	if tracking {
		s.times.Record(before+n, 1)
	}
}

// Micros returns the time of all calls in µs. tracking is Sampled's.
func (s *CallStats) Micros(tracking bool) float64 {
	s.settle(tracking)
	return float64(s.nanos) / 1000
}

// Times returns the durations of the calls. tracking is Sampled's.
func (s *CallStats) Times(tracking bool) *latency.Histogram {
	s.settle(tracking)
	return &s.times
}
