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
		{Usage: "DOCTOR", About: "Return the memory in use and that of the process."},
		{Usage: "MALLOC-STATS", About: "Return that there are no statistics of Go's allocator."},
		{Usage: "PURGE", About: "Collect garbage, and give free memory back to the system."},
		{Usage: "STATS", About: "Return what the memory of the server is used for."},
		{Usage: "USAGE <key> [SAMPLES <count>]", About: "Return the bytes that a key takes with its value. The size of " +
			"a large value is estimated from <count> elements (default: 5; 0: from all)."},
	})
}

func memoryDoctor(c *Ctx, _ resp.Args) resp.Reply {
	m := readMemory(c)
	return resp.Verbatim(fmt.Sprintf("%s are in use, the process has %s: INFO memory has more figures.\n",
		human(m.total), human(m.Process)))
}

func memoryMallocStats(*Ctx, resp.Args) resp.Reply {
	return resp.Verbatim("Stats not supported for the current allocator")
}

func memoryPurge(c *Ctx, _ resp.Args) resp.Reply {
	if c.DenyBlocking() {
		c.Purging.Schedule()
		return resp.OK
	}
	c.Purging.Begin(c)
	return resp.NoReply
}

// memoryStats uses Redis's names. What lockredis does not have takes no memory.
func memoryStats(c *Ctx, _ resp.Args) resp.Reply {
	m, r := readMemory(c), mapReply{}
	above := func(ratio, bytes string, e excess) {
		r.double(ratio, e.ratio)
		r.int64(bytes, e.bytes)
	}
	r.int64("peak.allocated", m.peak)
	r.int64("total.allocated", m.total)
	r.int64("startup.allocated", m.startup)
	r.int64("replication.backlog", 0)
	r.int64("clients.slaves", 0)
	r.int64("clients.normal", m.clients)
	r.int64("cluster.links", 0)
	r.int64("aof.buffer", 0)
	r.int64("lua.caches", m.scripts)
	r.int64("functions.caches", m.functions)
	for _, db := range m.databases {
		var o mapReply
		o.int64("overhead.hashtable.main", db.Keys)
		o.int64("overhead.hashtable.expires", db.Deadlines)
		o.int64("overhead.hashtable.slot-to-keys", db.Slots)
		r.add(fmt.Sprintf("db.%d", db.number), o.reply())
	}
	r.int64("overhead.total", m.overhead)
	r.int64("keys.count", m.keys)
	r.int64("keys.bytes-per-key", m.perKey())
	r.int64("dataset.bytes", m.dataset)
	r.double("dataset.percentage", m.datasetPercent())
	r.double("peak.percentage", m.peakPercent())
	r.int64("allocator.allocated", m.Heap)
	r.int64("allocator.active", m.Active)
	r.int64("allocator.resident", m.Resident)
	above("allocator-fragmentation.ratio", "allocator-fragmentation.bytes", m.unused())
	above("allocator-rss.ratio", "allocator-rss.bytes", m.kept())
	above("rss-overhead.ratio", "rss-overhead.bytes", m.outside())
	above("fragmentation", "fragmentation.bytes", m.resident())
	return r.reply()
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
	w.zero("active_defrag_running", "lazyfree_pending_objects")
	w.line("lazyfreed_objects", c.Space.Stats.LazyFreed)
}

// infoScriptMemory writes the lines about scripts and functions.
func infoScriptMemory(c *Ctx, w *infoWriter, m *memoryFigures) {
	w.line("used_memory_lua", m.codes)
	w.line("used_memory_vm_eval", m.codes)
	w.line("used_memory_lua_human", human(m.codes))
	libraries, functions, _ := c.Scripts.FunctionCounts()
	w.line("used_memory_scripts_eval", m.scripts)
	w.line("number_of_cached_scripts", c.Scripts.Len())
	w.line("number_of_functions", functions)
	w.line("number_of_libraries", libraries)
	w.line("used_memory_vm_functions", m.libraryCodes)
	w.line("used_memory_vm_total", m.codes+m.libraryCodes)
	w.line("used_memory_vm_total_human", human(m.codes+m.libraryCodes))
	w.line("used_memory_functions", m.functions)
	w.line("used_memory_scripts", m.scripts+m.functions)
	w.line("used_memory_scripts_human", human(m.scripts+m.functions))
}
