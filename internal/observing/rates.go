package observing

import "github.com/lockredis/lockredis/internal/command"

// Rates are the rates of INFO: commands and bytes in a second. As in Redis, a rate is the
// mean of 16 samples of 100 ms.
//
// Redis takes a sample ten times a second. Here the first unit that begins after a sample's
// end takes it. All that the unit finds new happened within that sample: otherwise an earlier
// unit would have taken it. The samples that have ended since then are 0. So an idle server
// needs no timer.
type Rates struct {
	Ends int64 // the present sample ends at this reading of the stopwatch: Sample is due

	env     *command.Env
	watch   *Stopwatch
	last    [rateCount]int64
	samples [sampleCount][rateCount]int64 // for a second
	at      int                           // the oldest sample
}

// NewRates returns the rates of env's server.
func NewRates(env *command.Env, watch *Stopwatch) *Rates {
	return &Rates{Ends: watch.Now + sampleTime, env: env, watch: watch}
}

const (
	sampleTime  = 100e6 // ns
	sampleCount = 16
	rateCount   = 3
)

// totals returns the present values of the counters.
func (r *Rates) totals() [rateCount]int64 {
	moved := r.env.Traffic()
	return [rateCount]int64{r.env.Stats.Commands, moved.In, moved.Out}
}

// Sample takes the samples that have ended. It is called when a unit begins and Ends has come.
func (r *Rates) Sample() {
	totals := r.totals()
	var sample [rateCount]int64
	for i, n := range totals {
		sample[i] = (n - r.last[i]) * (1e9 / sampleTime)
	}
	r.last = totals
	ended := (r.watch.Now-r.Ends)/sampleTime + 1
	r.Ends += ended * sampleTime
	for range min(ended, sampleCount+1) {
		r.samples[r.at] = sample
		r.at = (r.at + 1) % sampleCount
		sample = [rateCount]int64{}
	}
}

// PerSecond returns the means of the samples.
func (r *Rates) PerSecond() (commands, in, out int64) {
	if now := r.watch.Now; r.Ends > now+sampleTime { // a manual clock was set back
		r.Ends, r.last = now+sampleTime, r.totals()
	}
	for _, sample := range r.samples {
		commands += sample[0]
		in += sample[1]
		out += sample[2]
	}
	return commands / sampleCount, in / sampleCount, out / sampleCount
}

// Reset forgets the samples.
func (r *Rates) Reset() {
	*r = *NewRates(r.env, r.watch)
	r.last = r.totals()
}
