package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// turns has the times of a library's uncontended pairs. The libraries take turns pair by
// pair, so the same moments of the machine are in the times of all libraries.
type turns struct {
	plain, ending timing
	// more is how much longer a pair takes than rlock's, as a difference of p50s. It is 0
	// for rlock itself.
	more, moreEnding difference
}

// timing is a distribution of durations.
type timing struct{ p50, p90, p99 time.Duration }

// timingOf returns the distribution of durations in any order.
func timingOf(d []time.Duration) timing {
	d = slices.Clone(d)
	slices.Sort(d)
	return timing{quantile(d, 50), quantile(d, 90), quantile(d, 99)}
}

// difference is a difference of two p50s.
type difference struct {
	all       time.Duration // of all turns
	low, high time.Duration // the least and the greatest difference in a tenth of the turns
}

// differenceOf returns how much greater a's p50 is than b's. Equal indexes in a
// and b are one turn.
func differenceOf(a, b []time.Duration) difference {
	p50 := func(d []time.Duration) time.Duration { return timingOf(d).p50 }
	d := difference{all: p50(a) - p50(b)}
	const parts = 10
	for i := range parts {
		from, to := len(a)*i/parts, len(a)*(i+1)/parts
		part := p50(a[from:to]) - p50(b[from:to])
		if i == 0 {
			d.low, d.high = part, part
		}
		d.low, d.high = min(d.low, part), max(d.high, part)
	}
	return d
}

// String formats d in µs, as "+1.2 µs (0.9 to 1.6)".
func (d difference) String() string {
	µs := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	return fmt.Sprintf("%+.1f µs (%.1f to %.1f)", µs(d.all), µs(d.low), µs(d.high))
}

// measureTurns measures n pairs of each client with context.Background, and n with a
// context that can end.
func measureTurns(ctx context.Context, clients []client, n int) ([]turns, error) {
	ending, cancel := context.WithCancel(ctx)
	defer cancel()
	var racers []racer
	for _, c := range clients {
		racers = append(racers, racer{c, ctx}, racer{c, ending})
	}
	took, err := takeTurns(racers, n)
	if err != nil {
		return nil, err
	}
	all := make([]turns, len(clients))
	for i := range clients {
		plain, ending := took[2*i], took[2*i+1]
		all[i] = turns{timingOf(plain), timingOf(ending),
			differenceOf(plain, took[0]), differenceOf(ending, took[1])}
	}
	return all, nil
}

// racer runs pairs of one client with one context.
type racer struct {
	c   client
	ctx context.Context
}

// takeTurns returns the times of n pairs of each racer. Each turn has an order of its own:
// otherwise the same library would always follow the same other one, and meet its work in
// the background.
func takeTurns(racers []racer, n int) ([][]time.Duration, error) {
	took := make([][]time.Duration, len(racers))
	order := make([]int, len(racers))
	for i := range racers {
		took[i], order[i] = make([]time.Duration, n), i
	}
	runtime.GC() // what was allocated before is not in the times
	for turn := range n {
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			var err error
			took[i][turn], err = timePair(racers[i].ctx, racers[i].c, "bench")
			if err != nil {
				return nil, err
			}
		}
	}
	return took, nil
}

// timePair returns the time of a lock and its unlock.
func timePair(ctx context.Context, c client, name string) (time.Duration, error) {
	began := time.Now()
	unlock, err := c.lock(ctx, name)
	if err == nil {
		err = unlock(ctx)
	}
	return time.Since(began), err
}
