package server

import (
	"fmt"
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

func memoryUsage(c *command.Ctx, args resp.Args) resp.Reply {
	samples := int64(5)
	for i := 3; i < len(args); i += 2 {
		if !command.IsWord(args[i], "samples") || i+1 == len(args) {
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

func memoryHelp(*command.Ctx, resp.Args) resp.Reply {
	return command.HelpReply("MEMORY", []command.HelpTopic{
		{Usage: "DOCTOR", About: "Return the memory in use and that of the process."},
		{Usage: "MALLOC-STATS", About: "Return that there are no statistics of Go's allocator."},
		{Usage: "PURGE", About: "Collect garbage, and give free memory back to the system."},
		{Usage: "STATS", About: "Return what the memory of the server is used for."},
		{Usage: "USAGE <key> [SAMPLES <count>]", About: "Return the bytes that a key takes with its value. " +
			"The size of a large value is estimated from <count> elements (default: 5; 0: from all)."},
	})
}

func memoryDoctor(c *command.Ctx, _ resp.Args) resp.Reply {
	m := readMemory(c)
	return resp.Verbatim(fmt.Sprintf("%s are in use, the process has %s: INFO memory has more figures.\n",
		human(m.total), human(m.Process)))
}

func memoryMallocStats(*command.Ctx, resp.Args) resp.Reply {
	return resp.Verbatim("Stats not supported for the current allocator")
}

func memoryPurge(c *command.Ctx, _ resp.Args) resp.Reply {
	if c.DenyBlocking() {
		c.Purging.Schedule()
		return resp.OK
	}
	c.Purging.Begin(c)
	return resp.NoReply
}

// memoryStats uses Redis's names. What lockredis does not have takes no memory.
func memoryStats(c *command.Ctx, _ resp.Args) resp.Reply {
	m, r := readMemory(c), command.MapReply{}
	above := func(ratio, bytes string, e excess) {
		r.Double(ratio, e.ratio)
		r.Int64(bytes, e.bytes)
	}
	r.Int64("peak.allocated", m.peak)
	r.Int64("total.allocated", m.total)
	r.Int64("startup.allocated", m.startup)
	r.Int64("replication.backlog", m.backlog)
	r.Int64("clients.slaves", m.replicas)
	r.Int64("clients.normal", m.clients)
	r.Int64("cluster.links", 0)
	r.Int64("aof.buffer", 0)
	r.Int64("lua.caches", m.scripts)
	r.Int64("functions.caches", m.functions)
	for _, db := range m.databases {
		var o command.MapReply
		o.Int64("overhead.hashtable.main", db.Keys)
		o.Int64("overhead.hashtable.expires", db.Deadlines)
		o.Int64("overhead.hashtable.slot-to-keys", db.Slots)
		r.Add(fmt.Sprintf("db.%d", db.number), o.Reply())
	}
	r.Int64("overhead.total", m.overhead)
	r.Int64("keys.count", m.keys)
	r.Int64("keys.bytes-per-key", m.perKey())
	r.Int64("dataset.bytes", m.dataset)
	r.Double("dataset.percentage", m.datasetPercent())
	r.Double("peak.percentage", m.peakPercent())
	r.Int64("allocator.allocated", m.Heap)
	r.Int64("allocator.active", m.Active)
	r.Int64("allocator.resident", m.Resident)
	above("allocator-fragmentation.ratio", "allocator-fragmentation.bytes", m.unused())
	above("allocator-rss.ratio", "allocator-rss.bytes", m.kept())
	above("rss-overhead.ratio", "rss-overhead.bytes", m.outside())
	above("fragmentation", "fragmentation.bytes", m.resident())
	return r.Reply()
}

func infoMemory(c *command.Ctx, w *command.InfoWriter) {
	m := readMemory(c)
	sized := func(name string, bytes int64) {
		w.Line(name, bytes)
		w.Line(name+"_human", human(bytes))
	}
	above := func(name string, e excess) {
		w.Line(name+"_ratio", fmt.Sprintf("%.2f", e.ratio))
		w.Line(name+"_bytes", e.bytes)
	}
	sized("used_memory", m.total)
	sized("used_memory_rss", m.Process)
	sized("used_memory_peak", m.peak)
	w.Line("used_memory_peak_perc", fmt.Sprintf("%.2f%%", m.peakPercent()))
	w.Line("used_memory_overhead", m.overhead)
	w.Line("used_memory_startup", m.startup)
	w.Line("used_memory_dataset", m.dataset)
	w.Line("used_memory_dataset_perc", fmt.Sprintf("%.2f%%", m.datasetPercent()))
	w.Line("allocator_allocated", m.Heap)
	w.Line("allocator_active", m.Active)
	w.Line("allocator_resident", m.Resident)
	sized("total_system_memory", c.Server.Usage().MachineBytes)
	infoScriptMemory(c, w, m)
	sized("maxmemory", c.Config.MaxMemory)
	w.Line("maxmemory_policy", c.Config.Eviction.Policy)
	above("allocator_frag", m.unused())
	above("allocator_rss", m.kept())
	above("rss_overhead", m.outside())
	above("mem_fragmentation", m.resident())
	w.Line("mem_not_counted_for_evict", m.buffers)
	w.Line("mem_replication_backlog", m.backlog)
	w.Line("mem_total_replication_buffers", m.buffers)
	w.Line("mem_clients_slaves", m.replicas)
	w.Line("mem_clients_normal", m.clients)
	w.Zero("mem_cluster_links", "mem_aof_buffer")
	w.Line("mem_allocator", "go")
	w.Zero("active_defrag_running", "lazyfree_pending_objects")
	w.Line("lazyfreed_objects", c.Space.Stats.LazyFreed)
}

// infoScriptMemory writes the lines about scripts and functions.
func infoScriptMemory(c *command.Ctx, w *command.InfoWriter, m *memoryFigures) {
	w.Line("used_memory_lua", m.codes)
	w.Line("used_memory_vm_eval", m.codes)
	w.Line("used_memory_lua_human", human(m.codes))
	libraries, functions, _ := c.Scripts.FunctionCounts()
	w.Line("used_memory_scripts_eval", m.scripts)
	w.Line("number_of_cached_scripts", c.Scripts.Len())
	w.Line("number_of_functions", functions)
	w.Line("number_of_libraries", libraries)
	w.Line("used_memory_vm_functions", m.libraryCodes)
	w.Line("used_memory_vm_total", m.codes+m.libraryCodes)
	w.Line("used_memory_vm_total_human", human(m.codes+m.libraryCodes))
	w.Line("used_memory_functions", m.functions)
	w.Line("used_memory_scripts", m.scripts+m.functions)
	w.Line("used_memory_scripts_human", human(m.scripts+m.functions))
}
