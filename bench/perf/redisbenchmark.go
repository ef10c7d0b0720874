//go:build linux

package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// redisBenchmark measures one command with redis-benchmark, over 50 connections.
// redis-benchmark counts commands, not time, so a short run first finds how many commands
// fill the span.
func (b *bench) redisBenchmark(s *server, pipeline int, span time.Duration,
	command ...string) (figures, error) {
	first := 20_000 * pipeline / 2
	rate, err := runRedisBenchmark(s, pipeline, max(first, 20_000), command)
	if err != nil {
		return nil, err
	}
	rate, err = runRedisBenchmark(s, pipeline, int(rate*span.Seconds()), command)
	return figures{"rate": rate}, err
}

func runRedisBenchmark(s *server, pipeline, requests int, command []string) (float64, error) {
	args := append([]string{
		"-p", s.port, "-c", strconv.Itoa(crowdSize), "-P", strconv.Itoa(pipeline),
		"-n", strconv.Itoa(requests), "-r", "1000", "--csv",
	}, command...)
	ctx, cancel := context.WithTimeout(context.Background(), childPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "redis-benchmark", args...).Output()
	if err != nil {
		return 0, fmt.Errorf("redis-benchmark: %w", err)
	}
	lines, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil || len(lines) != 2 {
		return 0, fmt.Errorf("redis-benchmark said %q, %w", out, err)
	}
	return strconv.ParseFloat(lines[1][1], 64)
}

// scriptAlone is lock.lua, run by the same owner over and over.
func scriptAlone(b *bench) error {
	for _, pipeline := range []int{1, 16} {
		all, err := b.onEach(b.rounds, func(s *server) (figures, error) {
			return b.redisBenchmark(s, pipeline, b.span,
				s.script("lock", "1", "lock:__rand_int__", lease, ownerPrefix+"1")...)
		})
		if err != nil {
			return err
		}
		b.add(fmt.Sprintf("lock script alone (redis-benchmark), %d connections, pipeline %d", crowdSize,
			pipeline), "/s", all["rate"], nil)
	}
	return nil
}
