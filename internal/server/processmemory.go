package server

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"

	"github.com/lockredis/lockredis/internal/command"
)

// processMemoryFigures measures the memory of the process.
func processMemoryFigures() command.ProcessMemory {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/total:bytes"},
	}
	metrics.Read(samples)
	value := func(i int) int64 { return int64(samples[i].Value.Uint64()) }
	m := command.ProcessMemory{
		Heap: value(0), Active: value(0) + value(1), Resident: value(3) - value(2),
	}
	if m.Process = residentMemory(); m.Process == 0 {
		m.Process = m.Resident
	}
	return m
}

// processMemory returns how many bytes this process may use: GOMEMLIMIT, or else the
// smaller limit of its control group and the machine. 0 means unknown, as on systems
// other than Linux.
func processMemory() int64 {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return limit
	}
	return systemMemory()
}

// systemMemory returns the smaller limit of the process's control group and the machine. It reads
// them once: a process may start a server for each of a thousand tests.
var systemMemory = sync.OnceValue(func() int64 {
	return leastKnown(
		installedMemory(),
		memoryIn("/sys/fs/cgroup/memory.max"),
		memoryIn("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
	)
})

// leastKnown returns the smallest of the numbers. It ignores 0, which means unknown.
func leastKnown(numbers ...int64) (least int64) {
	for _, n := range numbers {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// memoryIn reads the number of bytes that a file holds; 0 if it holds no number.
func memoryIn(path string) int64 {
	text, _ := os.ReadFile(path)
	n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n
}

// installedMemory is machineMemory, which is read once.
var installedMemory = sync.OnceValue(machineMemory)

// machineMemory returns the machine's memory in bytes, or 0. /proc/meminfo has it in
// a line such as "MemTotal:  24679100 kB".
func machineMemory() int64 {
	text, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "MemTotal:" {
			kilobytes, _ := strconv.ParseInt(words[1], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}
