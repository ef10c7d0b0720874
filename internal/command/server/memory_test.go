package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commandtest"
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/resp"
)

// sizedServer has a process with memory.
type sizedServer struct {
	commandtest.Server
	memory command.ProcessMemory
}

func (s *sizedServer) Usage() command.Usage { return command.Usage{Memory: s.memory} }

// inUse is the bytes in use. There were at most 50,000 more.
type inUse struct {
	command.Memory
	bytes int64
}

func (m inUse) Used() int64 { return m.bytes }
func (m inUse) Peak() int64 { return m.bytes + 50_000 }

// newMemoryHarness returns a harness whose process has the memory.
func newMemoryHarness(t *testing.T, used int64, m command.ProcessMemory) *commandtest.Harness {
	h := commandtest.New(t)
	h.Ctx.Server, h.Ctx.Memory = &sizedServer{memory: m}, inUse{bytes: used}
	h.Ctx.Clients, h.Ctx.Scripts = noClients{}, luaexec.New(luaexec.Options{})
	return h
}

// statsOf returns the fields of MEMORY STATS.
func statsOf(h *commandtest.Harness) map[string]resp.Reply {
	fields, elems := map[string]resp.Reply{}, h.Run("memory stats").Elems()
	for i := 0; i < len(elems); i += 2 {
		fields[elems[i].Text()] = elems[i+1]
	}
	return fields
}

// inPercent returns a part in percent, with 24 bits.
func inPercent(part, whole int64) float64 { return float64(float32(part) * 100 / float32(whole)) }

func TestMemoryStatsTellsWhatTheMemoryIsUsedFor(t *testing.T) {
	const used = command.StartupBytes + 200_000
	h := newMemoryHarness(t, used, command.ProcessMemory{
		Heap: 40_000, Active: 50_000, Resident: 75_000, Process: used + 20_000,
	})
	h.Run("set a 1")
	h.Run("set b 1 px 1000")
	got := statsOf(h)
	keys := h.Ctx.DB.Overhead()
	for name, want := range map[string]int64{
		"peak.allocated": used + 50_000, "total.allocated": used, "startup.allocated": command.StartupBytes,
		"overhead.total": command.StartupBytes + keys.Sum(), "keys.count": 2, "keys.bytes-per-key": 100_000,
		"dataset.bytes": 200_000 - keys.Sum(), "allocator.allocated": 40_000, "allocator.active": 50_000,
		"allocator.resident": 75_000, "allocator-fragmentation.bytes": 10_000,
		"allocator-rss.bytes": 25_000, "rss-overhead.bytes": used - 55_000, "fragmentation.bytes": 20_000,
	} {
		if n := got[name].Int(); n != want {
			t.Errorf("%s is %d, want %d", name, n, want)
		}
	}
	for name, want := range map[string]float64{
		"peak.percentage": inPercent(used, used+50_000), "allocator-fragmentation.ratio": 1.25,
		"allocator-rss.ratio": 1.5, "dataset.percentage": inPercent(200_000-keys.Sum(), 200_000),
		"rss-overhead.ratio": float64(float32(used+20_000) / 75_000),
		"fragmentation":      float64(float32(used+20_000) / float32(used)),
	} {
		if f := got[name].Double(); f != want {
			t.Errorf("%s is %v, want %v", name, f, want)
		}
	}
	db := got["db.0"].Elems()
	if db[1].Int() != keys.Keys || db[3].Int() != keys.Deadlines || db[5].Int() != 0 || keys.Deadlines == 0 {
		t.Errorf("db.0 is %v, want %+v", db, keys)
	}
}

// Figures are estimates: none may make another one negative.
func TestMemoryStatsAddUpWithFiguresOfAnySize(t *testing.T) {
	for _, used := range []int64{0, 100, command.StartupBytes - 1, command.StartupBytes, command.StartupBytes + 100, 1 << 40} {
		h := newMemoryHarness(t, used, command.ProcessMemory{Heap: 5_000})
		h.Run("set a 1")
		got := statsOf(h)
		n := func(name string) int64 { return got[name].Int() }
		if n("peak.allocated") < n("total.allocated") || n("startup.allocated") < 0 || n("dataset.bytes") < 0 ||
			n("dataset.bytes") != n("total.allocated")-n("overhead.total") ||
			n("overhead.total") < n("startup.allocated") {
			t.Errorf("%d bytes: %v", used, got)
		}
	}
}

func TestInfoMemoryAgreesWithMemoryStats(t *testing.T) {
	h := newMemoryHarness(t, command.StartupBytes+40_000, command.ProcessMemory{
		Heap: 40_000, Active: 50_000, Resident: 75_000, Process: 60_000,
	})
	h.Run("set a 1")
	got, lines := statsOf(h), strings.Split(h.Run("info memory").Text(), "\r\n")
	for field, line := range map[string]string{
		"peak.allocated": "used_memory_peak", "total.allocated": "used_memory",
		"startup.allocated": "used_memory_startup", "overhead.total": "used_memory_overhead",
		"dataset.bytes": "used_memory_dataset", "dataset.percentage": "used_memory_dataset_perc",
		"peak.percentage": "used_memory_peak_perc", "clients.normal": "mem_clients_normal",
		"lua.caches": "used_memory_scripts_eval", "functions.caches": "used_memory_functions",
		"allocator.allocated": "allocator_allocated", "allocator.active": "allocator_active",
		"allocator.resident": "allocator_resident", "allocator-fragmentation.ratio": "allocator_frag_ratio",
		"allocator-fragmentation.bytes": "allocator_frag_bytes", "allocator-rss.ratio": "allocator_rss_ratio",
		"allocator-rss.bytes": "allocator_rss_bytes", "rss-overhead.ratio": "rss_overhead_ratio",
		"rss-overhead.bytes": "rss_overhead_bytes", "fragmentation": "mem_fragmentation_ratio",
		"fragmentation.bytes": "mem_fragmentation_bytes",
	} {
		want := fmt.Sprintf("%s:%d", line, got[field].Int())
		switch {
		case strings.HasSuffix(line, "_perc"):
			want = fmt.Sprintf("%s:%.2f%%", line, got[field].Double())
		case strings.HasSuffix(line, "_ratio"):
			want = fmt.Sprintf("%s:%.2f", line, got[field].Double())
		}
		if !slices.Contains(lines, want) {
			t.Errorf("INFO has no line %s", want)
		}
	}
}

func TestTheMemorysDoctorTellsWhatIsInUse(t *testing.T) {
	h := newMemoryHarness(t, 2<<20, command.ProcessMemory{Process: 3 << 20})
	want := "2.00M are in use, the process has 3.00M: INFO memory has more figures.\n"
	if got := h.Run("memory doctor").Text(); got != want {
		t.Errorf("MEMORY DOCTOR is %q", got)
	}
	h.Ctx.Proto = 3
	h.Check(`memory malloc-stats => =49 txt:Stats not supported for the current allocator`)
}
