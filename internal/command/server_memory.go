package command

import (
	"fmt"
	"math"

	"github.com/lockredis/lockredis/resp"
)

func memoryUsage(c *Ctx, args resp.Args) resp.Reply {
	samples := int64(5)
	for i := 3; i < len(args); i += 2 {
		if !isWord(args[i], "samples") || i+1 == len(args) {
			return resp.ErrSyntax
		}
		var ok bool
		if samples, ok = resp.ParseInt(args[i+1]); !ok {
			return resp.ErrNotInt
		}
		if samples < 0 {
			return resp.ErrSyntax
		}
	}
	e := c.DB.Peek(args[2])
	if e == nil {
		return resp.Nil
	}
	return resp.Int(c.DB.MemoryUsage(e, int(min(samples, math.MaxInt32))))
}

func memoryHelp(*Ctx, resp.Args) resp.Reply {
	return helpReply("MEMORY", []helpTopic{
		{"DOCTOR", "Report problems with the memory of the server."},
		{"MALLOC-STATS", "Return figures of Go's allocator."},
		{"PURGE", "Collect garbage, and give free memory back to the system."},
		{"STATS", "Return what the memory of the server is used for."},
		{"USAGE <key> [SAMPLES <count>]", "Return the bytes that a key takes with its value. The size of " +
			"a large value is estimated from <count> elements (default: 5; 0: from all)."},
	})
}

func memoryMallocStats(c *Ctx, _ resp.Args) resp.Reply {
	return resp.Verbatim(c.Server.AllocatorReport())
}

func memoryPurge(c *Ctx, _ resp.Args) resp.Reply {
	if c.DenyBlocking() {
		c.Purging.Schedule()
		return resp.OK
	}
	c.Purging.Begin(c)
	return resp.NoReply
}

// statsReply collects the fields of MEMORY STATS.
type statsReply []resp.Reply

func (r *statsReply) count(name string, n int64) {
	*r = append(*r, resp.BulkString(name), resp.Int(n))
}

func (r *statsReply) ratio(name string, f float64) {
	*r = append(*r, resp.BulkString(name), resp.Double(f))
}

func (r *statsReply) excess(ratio, bytes string, e excess) {
	r.ratio(ratio, e.ratio)
	r.count(bytes, e.bytes)
}

// memoryStats uses Redis's names. What lockredis does not have takes no memory.
func memoryStats(c *Ctx, _ resp.Args) resp.Reply {
	m, r := readMemory(c), statsReply{}
	r.count("peak.allocated", m.peak)
	r.count("total.allocated", m.total)
	r.count("startup.allocated", m.startup)
	r.count("replication.backlog", 0)
	r.count("clients.slaves", 0)
	r.count("clients.normal", m.clients)
	r.count("cluster.links", 0)
	r.count("aof.buffer", 0)
	r.count("lua.caches", m.scripts)
	r.count("functions.caches", m.functions)
	for _, db := range m.databases {
		var o statsReply
		o.count("overhead.hashtable.main", db.Keys)
		o.count("overhead.hashtable.expires", db.Deadlines)
		o.count("overhead.hashtable.slot-to-keys", db.Slots)
		r = append(r, resp.BulkString(fmt.Sprintf("db.%d", db.number)), resp.Map(o...))
	}
	r.count("overhead.total", m.overhead)
	r.count("keys.count", m.keys)
	r.count("keys.bytes-per-key", m.perKey())
	r.count("dataset.bytes", m.dataset)
	r.ratio("dataset.percentage", m.datasetPercent())
	r.ratio("peak.percentage", m.peakPercent())
	r.count("allocator.allocated", m.Heap)
	r.count("allocator.active", m.Active)
	r.count("allocator.resident", m.Resident)
	r.excess("allocator-fragmentation.ratio", "allocator-fragmentation.bytes", m.unused())
	r.excess("allocator-rss.ratio", "allocator-rss.bytes", m.kept())
	r.excess("rss-overhead.ratio", "rss-overhead.bytes", m.outside())
	r.excess("fragmentation", "fragmentation.bytes", m.resident())
	return resp.Map(r...)
}

func infoMemory(c *Ctx, w *infoWriter) {
	m := readMemory(c)
	sized := func(name string, bytes int64) {
		w.line(name, bytes)
		w.line(name+"_human", human(bytes))
	}
	above := func(name string, e excess) {
		w.line(name+"_ratio", fmt.Sprintf("%.2f", e.ratio))
		w.line(name+"_bytes", e.bytes)
	}
	sized("used_memory", m.total)
	sized("used_memory_rss", m.Process)
	sized("used_memory_peak", m.peak)
	w.line("used_memory_peak_perc", fmt.Sprintf("%.2f%%", m.peakPercent()))
	w.line("used_memory_overhead", m.overhead)
	w.line("used_memory_startup", m.startup)
	w.line("used_memory_dataset", m.dataset)
	w.line("used_memory_dataset_perc", fmt.Sprintf("%.2f%%", m.datasetPercent()))
	w.line("allocator_allocated", m.Heap)
	w.line("allocator_active", m.Active)
	w.line("allocator_resident", m.Resident)
	sized("total_system_memory", c.Server.Usage().MachineBytes)
	infoScriptMemory(c, w, m)
	sized("maxmemory", c.Config.MaxMemory)
	w.line("maxmemory_policy", c.Config.Eviction.Policy)
	above("allocator_frag", m.unused())
	above("allocator_rss", m.kept())
	above("rss_overhead", m.outside())
	above("mem_fragmentation", m.resident())
	w.zero("mem_not_counted_for_evict", "mem_replication_backlog", "mem_total_replication_buffers",
		"mem_clients_slaves")
	w.line("mem_clients_normal", m.clients)
	w.zero("mem_cluster_links", "mem_aof_buffer")
	w.line("mem_allocator", "go")
	w.zero("active_defrag_running", "lazyfree_pending_objects", "lazyfreed_objects")
}

// infoScriptMemory writes the lines about scripts and functions. The objects of the Lua machines
// are in Go's heap. They are not counted apart.
func infoScriptMemory(c *Ctx, w *infoWriter, m *memoryFigures) {
	w.zero("used_memory_lua", "used_memory_vm_eval")
	w.line("used_memory_lua_human", human(0))
	libraries, functions, _ := c.Scripts.FunctionCounts()
	w.line("used_memory_scripts_eval", m.scripts)
	w.line("number_of_cached_scripts", c.Scripts.Len())
	w.line("number_of_functions", functions)
	w.line("number_of_libraries", libraries)
	w.zero("used_memory_vm_functions")
	w.line("used_memory_vm_total", 0)
	w.line("used_memory_vm_total_human", human(0))
	w.line("used_memory_functions", m.functions)
	w.line("used_memory_scripts", m.scripts+m.functions)
	w.line("used_memory_scripts_human", human(m.scripts+m.functions))
}
