package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// pair is the cost of a lock and its unlock without contention.
type pair struct {
	turns
	used        usage // with a context that can end
	allocations float64
	rate        float64 // pairs a second, by many goroutines with a lock each
}

// quantile returns the smallest of the sorted durations that is at least as long as
// percent of them.
func quantile(d []time.Duration, percent int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	return d[(len(d)*percent+99)/100-1]
}

// pairRounds is the sum of a library's rounds so far.
type pairRounds struct {
	used    usage
	mallocs uint64
	pairs   int // pairs in used and mallocs
	rates   []float64
}

// measurePairs measures times in turns, pair by pair, and costs in rounds: they are the
// server's counters, which count one library at a time.
func measurePairs(ctx context.Context, srv *server, libraries []library, s settings) ([]pair,
	error) {
	clients := make([]client, len(libraries))
	for i, l := range libraries {
		c, err := l.open(srv.addr)
		if err != nil {
			return nil, err
		}
		defer c.close()
		clients[i] = c
		if err := lockAndUnlock(ctx, c, "bench", s.pairs); err != nil {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
	}
	times, err := measureTurns(ctx, clients, s.turns)
	if err != nil {
		return nil, err
	}
	rounds := make([]pairRounds, len(libraries))
	for range s.rounds {
		for i, l := range libraries {
			if err := rounds[i].measure(ctx, clients[i], srv, s.pairs); err != nil {
				return nil, fmt.Errorf("%s: %w", l.name, err)
			}
		}
	}
	pairs := make([]pair, len(libraries))
	for i, r := range rounds {
		p := pair{times[i], r.used.each(r.pairs), float64(r.mallocs) / float64(r.pairs),
			medianRate(r.rates)}
		log.Printf("%-25s p50 %v, p90 %v, more than rlock %v", libraries[i].name, p.plain.p50,
			p.plain.p90, p.more)
		log.Printf("%-25s p50 %v, p90 %v, more than rlock %v; %.1f allocations, %.0f pairs/s",
			"  context that can end", p.ending.p50, p.ending.p90, p.moreEnding, p.allocations, p.rate)
		pairs[i] = p
	}
	return pairs, nil
}

// aftermath is how long a round waits for the libraries' work in the background.
const aftermath = 50 * time.Millisecond

func (r *pairRounds) measure(ctx context.Context, c client, srv *server, n int) error {
	ending, cancel := context.WithCancel(ctx)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := srv.usage()
	if err := lockAndUnlock(ending, c, "bench", n); err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	time.Sleep(aftermath)
	r.used = r.used.plus(srv.usage().since(used))
	r.mallocs += after.Mallocs - before.Mallocs
	r.pairs += n
	rate, err := crowdRate(ending, c, n)
	r.rates = append(r.rates, rate)
	time.Sleep(aftermath)
	return err
}

// goroutines is how many goroutines lock at the same time when a rate is measured.
const goroutines = 16

// crowdRate returns the pairs a second of goroutines that do not contend.
func crowdRate(ctx context.Context, c client, n int) (float64, error) {
	began := time.Now()
	failed := make(chan error)
	for i := range goroutines {
		go func() {
			failed <- lockAndUnlock(ctx, c, "bench"+strconv.Itoa(i), n/goroutines)
		}()
	}
	var err error
	for range goroutines {
		err = errors.Join(err, <-failed)
	}
	return float64(n/goroutines*goroutines) / time.Since(began).Seconds(), err
}

func medianRate(rates []float64) float64 {
	slices.Sort(rates)
	return rates[len(rates)/2]
}

// lockAndUnlock runs n pairs.
func lockAndUnlock(ctx context.Context, c client, name string, n int) error {
	for range n {
		if _, err := timePair(ctx, c, name); err != nil {
			return err
		}
	}
	return nil
}
