package engine

// rates are the rates of INFO: commands and bytes in a second. As in Redis, a rate is the
// mean of 16 samples of 100 ms.
//
// Redis takes a sample ten times a second. Here the first unit that begins after a sample's
// end takes it. All that the unit finds new happened within that sample: otherwise an earlier
// unit would have taken it. The samples that have ended since then are 0. So an idle server
// needs no timer.
type rates struct {
	e       *Engine
	ends    int64 // the present sample ends at this time of the stopwatch, in ns
	last    [rateCount]int64
	samples [sampleCount][rateCount]int64 // for a second
	at      int                           // the oldest sample
}

const (
	sampleTime  = 100e6 // ns
	sampleCount = 16
	rateCount   = 3
)

// totals returns the present values of the counters.
func (r *rates) totals() [rateCount]int64 {
	moved := r.e.env.Traffic()
	return [rateCount]int64{r.e.env.Stats.Commands, moved.In, moved.Out}
}

// sample takes the samples that have ended at now.
func (r *rates) sample(now int64) {
	totals := r.totals()
	var sample [rateCount]int64
	for i, n := range totals {
		sample[i] = (n - r.last[i]) * (1e9 / sampleTime)
	}
	r.last = totals
	ended := (now-r.ends)/sampleTime + 1
	r.ends += ended * sampleTime
	for range min(ended, sampleCount+1) {
		r.samples[r.at] = sample
		r.at = (r.at + 1) % sampleCount
		sample = [rateCount]int64{}
	}
}

// PerSecond returns the means of the samples.
func (r *rates) PerSecond() (commands, in, out int64) {
	if now := r.e.stopwatch.now; r.ends > now+sampleTime { // a manual clock was set back
		r.ends, r.last = now+sampleTime, r.totals()
	}
	for _, sample := range r.samples {
		commands += sample[0]
		in += sample[1]
		out += sample[2]
	}
	return commands / sampleCount, in / sampleCount, out / sampleCount
}

// Reset forgets the samples. The counters are 0 now.
func (r *rates) Reset() {
	*r = rates{e: r.e, ends: r.e.stopwatch.now + sampleTime, last: r.totals()}
}
