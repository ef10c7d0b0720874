package server

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
)

// allocatorReport describes Go's allocator: what memory it has from the system, and the
// objects of each size in its heap.
func allocatorReport() string {
	var w strings.Builder
	fmt.Fprintf(&w, "Memory of %s in bytes:\n", runtime.Version())
	for _, row := range []struct{ about, name string }{
		{"objects, with garbage", "/memory/classes/heap/objects:bytes"},
		{"objects that the last collection found in use", "/gc/heap/live:bytes"},
		{"objects when the next collection ends", "/gc/heap/goal:bytes"},
		{"free room beside the objects", "/memory/classes/heap/unused:bytes"},
		{"free pages", "/memory/classes/heap/free:bytes"},
		{"pages that were given back to the system", "/memory/classes/heap/released:bytes"},
		{"stacks of goroutines", "/memory/classes/heap/stacks:bytes"},
		{"stacks of threads", "/memory/classes/os-stacks:bytes"},
		{"all, with the runtime's own and with what was given back", "/memory/classes/total:bytes"},
	} {
		fmt.Fprintf(&w, "%14d  %s\n", readMetrics(row.name)[0], row.about)
	}
	n := readMetrics("/gc/heap/allocs:objects", "/gc/heap/frees:objects",
		"/gc/cycles/total:gc-cycles", "/gc/cycles/forced:gc-cycles")
	fmt.Fprintf(&w, "%d objects were allocated, %d freed. %d collections, %d of them on request.\n",
		n[0], n[1], n[2], n[3])
	reportSizes(&w)
	return w.String()
}

// reportSizes writes how many objects of each size there are.
func reportSizes(w *strings.Builder) {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs-by-size:bytes"}, {Name: "/gc/heap/frees-by-size:bytes"}}
	metrics.Read(samples)
	made, freed := samples[0].Value.Float64Histogram(), samples[1].Value.Float64Histogram()
	w.WriteString("Objects by their size, with garbage:\n")
	for i, n := range made.Counts {
		// A bucket begins at the size of the class below, plus 1, and ends above its own.
		if n -= freed.Counts[i]; n > 0 && n < 1<<63 {
			size := fmt.Sprintf("to %.0f bytes", made.Buckets[i+1]-1)
			if i+1 == len(made.Counts) {
				size = fmt.Sprintf("from %.0f bytes", made.Buckets[i])
			}
			fmt.Fprintf(w, "%14d  %s\n", n, size)
		}
	}
}
