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
	plain, ending timing // with context.Background, and with a context that can end
	used          usage  // with the context that can end
	allocations   float64
	rate          float64 // pairs a second, by many goroutines with a lock each
}

// timing is a distribution of durations.
type timing struct{ p50, p99 time.Duration }

// timingOf sorts d and returns its distribution.
func timingOf(d []time.Duration) timing {
	slices.Sort(d)
	return timing{quantile(d, 50), quantile(d, 99)}
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
	c             client
	plain, ending []time.Duration
	used          usage
	mallocs       uint64
	pairs         int // pairs in used and mallocs
	rates         []float64
}

// measurePairs lets the libraries take turns, so that other load on the machine affects
// all of them alike.
func measurePairs(ctx context.Context, srv *server, libraries []library, s settings) ([]pair,
	error) {
	rounds := make([]pairRounds, len(libraries))
	for i, l := range libraries {
		c, err := l.open(srv.addr)
		if err != nil {
			return nil, err
		}
		defer c.close()
		rounds[i].c = c
		if _, err := lockAndUnlock(ctx, c, "bench", s.pairs/4+1); err != nil {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
	}
	for range s.rounds {
		for i, l := range libraries {
			if err := rounds[i].measure(ctx, srv, s.pairs); err != nil {
				return nil, fmt.Errorf("%s: %w", l.name, err)
			}
		}
	}
	pairs := make([]pair, len(libraries))
	for i, r := range rounds {
		pairs[i] = pair{timingOf(r.plain), timingOf(r.ending), r.used.each(r.pairs),
			float64(r.mallocs) / float64(r.pairs), medianRate(r.rates)}
		log.Printf("%-40s p50 %v, p99 %v, with a context that can end %v, %v; %.0f pairs/s",
			libraries[i].name, pairs[i].plain.p50, pairs[i].plain.p99, pairs[i].ending.p50,
			pairs[i].ending.p99, pairs[i].rate)
	}
	return pairs, nil
}

// aftermath is how long a round waits for the libraries' work in the background.
const aftermath = 50 * time.Millisecond

func (r *pairRounds) measure(ctx context.Context, srv *server, n int) error {
	took, err := lockAndUnlock(ctx, r.c, "bench", n)
	if err != nil {
		return err
	}
	r.plain = append(r.plain, took...)
	time.Sleep(aftermath)
	ending, cancel := context.WithCancel(ctx)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := srv.usage()
	if took, err = lockAndUnlock(ending, r.c, "bench", n); err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	time.Sleep(aftermath)
	r.used = r.used.plus(srv.usage().since(used))
	r.ending = append(r.ending, took...)
	r.mallocs += after.Mallocs - before.Mallocs
	r.pairs += n
	rate, err := crowdRate(ending, r.c, n)
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
			_, err := lockAndUnlock(ctx, c, "bench"+strconv.Itoa(i), n/goroutines)
			failed <- err
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

// lockAndUnlock returns the time of each of n pairs.
func lockAndUnlock(ctx context.Context, c client, name string, n int) ([]time.Duration, error) {
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		unlock, err := c.lock(ctx, name)
		if err != nil {
			return nil, err
		}
		if err := unlock(ctx); err != nil {
			return nil, err
		}
		took[i] = time.Since(began)
	}
	return took, nil
}
