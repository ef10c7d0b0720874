//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// engine runs the engine's own benchmark, without sockets or clients.
func engine(b *bench) error {
	rounds := strconv.Itoa(pick(b.short, 1, 5))
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", "^BenchmarkLockAndUnlock$", "-benchmem",
		"-count", rounds, "./internal/engine")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test: %w\n%s", err, out)
	}
	var rates, allocations []float64
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); strings.HasPrefix(line, "BenchmarkLockAndUnlock") {
			rates = append(rates, 1e9/before(f, "ns/op"))
			allocations = append(allocations, before(f, "allocs/op"))
		}
	}
	if len(rates) == 0 {
		return fmt.Errorf("no BenchmarkLockAndUnlock in %q", out)
	}
	b.add("the engine called directly: lock script and DEL", "pairs/s",
		map[string][]float64{lockredis: rates}, nil)
	b.add("the engine called directly: allocations of a pair", "allocations",
		map[string][]float64{lockredis: allocations}, stretched(valueAtMost(0, 0)))
	return nil
}

// before returns the number before a word.
func before(fields []string, word string) float64 {
	for i := 1; i < len(fields); i++ {
		if fields[i] == word {
			v, _ := strconv.ParseFloat(fields[i-1], 64)
			return v
		}
	}
	return 0
}
