package persist

import (
	"fmt"
	"github.com/lockredis/lockredis/internal/command"
	"slices"
	"testing"
	"time"

	"github.com/lockredis/lockredis/store"
)

// BenchmarkSaveBatches measures how long a save holds the engine's lock, for a million
// locks: the longest batch, and the one that 1 of 1,000 exceeds.
func BenchmarkSaveBatches(b *testing.B) {
	host := newHost(b)
	lim := store.DefaultLimits()
	for i := range 1000000 {
		h := &store.Hash{}
		h.Set(fmt.Append(nil, "6b0b5a3e-6f0e-4d4b-9d5c-0a4b7d5e1c2f:1", i), []byte("1"), &lim)
		db := host.env.Space.DB(0)
		db.SetDeadline(db.Set(fmt.Append(nil, "lock:", i), h), 1<<42)
	}
	var batches []time.Duration
	for b.Loop() {
		w := host.files.begin(command.FileParts{})
		for more := true; more; {
			start := time.Now()
			more = w.step()
			batches = append(batches, time.Since(start))
			w.out = w.out[:0]
		}
		w.snapshot.End()
	}
	slices.Sort(batches)
	b.ReportMetric(float64(batches[len(batches)/2].Microseconds()), "µs-median")
	b.ReportMetric(float64(batches[len(batches)*999/1000].Microseconds()), "µs-99.9%")
	b.ReportMetric(float64(batches[len(batches)-1].Microseconds()), "µs-longest")
}
