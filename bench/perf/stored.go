//go:build linux

package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

const leases = 100_000

// memory measures the memory of held locks, in a server that has no other data.
func memory(b *bench) error {
	all, err := b.onFresh(pick(b.short, 1, 3), func(s *server) (figures, error) {
		// Memory left over from the start does not count.
		if _, err := s.do("MEMORY", "PURGE"); err != nil {
			return nil, err
		}
		before, err := s.residentAfter(settle)
		if err != nil {
			return nil, err
		}
		usedBefore := s.allocated()
		if err := s.fill(leases, func(i int) [][]string {
			return [][]string{s.script("lock", "1", fmt.Sprintf("lock:%06d", i), "600000",
				ownerPrefix+strconv.Itoa(i%64))}
		}); err != nil {
			return nil, err
		}
		after, err := s.residentAfter(5 * settle)
		return figures{"rss": (after - before) / leases, "used": (s.allocated() - usedBefore) / leases}, err
	})
	if err != nil {
		return err
	}
	b.add("100,000 locks with leases: growth of resident memory, per lock", "bytes", all["rss"],
		ratioAtMost(1.0, 0.8))
	b.add("100,000 locks with leases: growth of allocated memory, per lock", "bytes", all["used"],
		ratioAtMost(1.0, 0.8))
	return nil
}

// allocated returns allocator_allocated of INFO, in bytes.
func (s *server) allocated() float64 {
	n, _ := strconv.ParseFloat(s.info("allocator_allocated"), 64)
	return n
}

// fill sends the commands for n items, a thousand items at a time.
func (s *server) fill(n int, commands func(i int) [][]string) error {
	for i := 0; i < n; i += 1000 {
		var batch [][]string
		for j := i; j < min(i+1000, n); j++ {
			batch = append(batch, commands(j)...)
		}
		if err := s.pipeline(batch); err != nil {
			return err
		}
	}
	return nil
}

// expiries measures 100,000 leases that end within one second: how late their events
// reach a subscriber, and how much they delay another client.
func expiries(b *bench) error {
	measure := func(lead time.Duration) (series, error) {
		return b.onFresh(pick(b.short, 1, 3), func(s *server) (figures,
			error) {
			return expiry(s, lead)
		}, "--notify-keyspace-events", "Ex")
	}
	all, err := measure(4 * time.Second)
	if errors.Is(err, errTooSlow) {
		all, err = measure(40 * time.Second)
	}
	if err != nil {
		return err
	}
	b.add("100,000 leases that end within a second: p50 lateness of the expired event", "ms",
		all["late p50"], nil)
	b.add("100,000 leases that end within a second: p99 lateness of the expired event", "ms",
		all["late p99"], valueAtMost(5, 2))
	b.add("100,000 leases that end within a second: p99 of another client's EVALSHA, 2,000 a second",
		"µs", all["p99"], only(ratioAtMost(1.0, 0)))
	return nil
}

// errTooSlow means that the machine is too busy.
var errTooSlow = errors.New("the first leases ended before all were there")

// expiry makes the first lease end after the lead.
func expiry(s *server, lead time.Duration) (figures, error) {
	listener, err := startChild("expired", expiredSpec{s.addr, leases})
	if err != nil {
		return nil, err
	}
	defer listener.end()
	other, err := startChild("latency", latencySpec{s.addr, s.lockSteps(), time.Second,
		500 * time.Microsecond})
	if err != nil {
		return nil, err
	}
	defer other.end()
	begin := time.Now().Add(lead)
	if err := s.fill(leases, func(i int) [][]string {
		ms := begin.Add(time.Second * time.Duration(i) / leases).UnixMilli()
		name := leasePrefix + strconv.FormatInt(ms, 10) + ":" + strconv.Itoa(i)
		return [][]string{{"HSET", name, ownerPrefix + "1", "1"},
			{"PEXPIREAT", name, strconv.FormatInt(ms, 10)}}
	}); err != nil {
		return nil, err
	}
	if time.Now().After(begin) {
		return nil, errTooSlow
	}
	if err := listener.start(); err != nil {
		return nil, err
	}
	time.Sleep(time.Until(begin))
	if err := other.start(); err != nil {
		return nil, err
	}
	var late expiredResult
	var latency latencyResult
	err = errors.Join(other.result(&latency), listener.result(&late))
	return figures{"late p50": late.P50 / 1000, "late p99": late.P99 / 1000, "p99": latency.P99}, err
}
