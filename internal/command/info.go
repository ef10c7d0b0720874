package command

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// infoSection is a section of INFO. extra ones are only shown when they are
// asked for, by name, "all" or "everything".
type infoSection struct {
	name, title string
	extra       bool
	write       func(c *Ctx, w *infoWriter)
}

func infoSections() []infoSection {
	return []infoSection{
		{"server", "Server", false, infoServer},
		{"clients", "Clients", false, infoClients},
		{"memory", "Memory", false, infoMemory},
		{"persistence", "Persistence", false, infoPersistence},
		{"stats", "Stats", false, infoStats},
		{"replication", "Replication", false, infoReplication},
		{"cpu", "CPU", false, infoCPU},
		{"modules", "Modules", false, func(*Ctx, *infoWriter) {}},
		{"commandstats", "Commandstats", true, infoCommandstats},
		{"errorstats", "Errorstats", false, infoErrorstats},
		{"latencystats", "Latencystats", true, func(*Ctx, *infoWriter) {}},
		{"cluster", "Cluster", false, infoCluster},
		{"keyspace", "Keyspace", false, infoKeyspace},
	}
}

// infoWriter collects INFO's lines.
type infoWriter struct{ strings.Builder }

func (w *infoWriter) line(name string, value any) { fmt.Fprintf(w, "%s:%v\r\n", name, value) }

// zero writes figures of things that there are none of here.
func (w *infoWriter) zero(names ...string) {
	for _, name := range names {
		w.line(name, 0)
	}
}

func info(c *Ctx, args resp.Args) resp.Reply {
	return resp.Verbatim(writeInfo(c, infoSections(), args))
}

// writeInfo returns the sections that the arguments of INFO ask for.
func writeInfo(c *Ctx, sections []infoSection, args resp.Args) string {
	asked := map[string]bool{}
	for i := range args[1:] {
		asked[strings.ToLower(args.String(i+1))] = true
	}
	everything := asked["all"] || asked["everything"]
	usual := len(args) == 1 || asked["default"]
	var w infoWriter
	for _, s := range sections {
		if !everything && !asked[s.name] && (!usual || s.extra) {
			continue
		}
		if w.Len() > 0 {
			w.WriteString("\r\n")
		}
		w.WriteString("# " + s.title + "\r\n")
		s.write(c, &w)
	}
	return w.String()
}

func infoServer(c *Ctx, w *infoWriter) {
	facts := c.Server.Identity()
	uptime := max(0, c.Now()-facts.StartMillis) / 1000
	w.line("redis_version", config.RedisVersion)
	w.line("lockredis_release", config.Version)
	w.line("redis_git_sha1", "00000000")
	w.line("redis_git_dirty", 0)
	w.line("redis_build_id", "0000000000000000")
	w.line("redis_mode", c.mode())
	w.line("os", runtime.GOOS+" "+runtime.GOARCH)
	w.line("arch_bits", strconv.IntSize)
	w.line("go_version", runtime.Version())
	w.line("process_id", facts.ProcessID)
	w.line("process_supervised", "no")
	w.line("run_id", facts.RunID)
	w.line("tcp_port", facts.Port)
	w.line("server_time_usec", c.Micros)
	w.line("uptime_in_seconds", uptime)
	w.line("uptime_in_days", uptime/86400)
	w.line("hz", c.Config.Get("hz"))
	w.line("configured_hz", c.Config.Get("hz"))
	w.line("lru_clock", c.Now()/1000&(1<<24-1))
	w.line("executable", facts.Executable)
	w.line("config_file", facts.ConfigFile)
	w.line("io_threads_active", 0)
}

func infoClients(c *Ctx, w *infoWriter) {
	w.line("connected_clients", c.Clients.Open())
	w.line("cluster_connections", 0)
	w.line("maxclients", c.Config.MaxClients)
	w.line("client_recent_max_input_buffer", 0)
	w.line("client_recent_max_output_buffer", 0)
	w.line("blocked_clients", c.Parking.Waiting()+c.Pausing.Held())
	w.line("tracking_clients", 0)
	w.line("clients_in_timeout_table", 0)
}

func infoMemory(c *Ctx, w *infoWriter) {
	facts := c.Server.Usage()
	sized := func(name string, bytes int64) {
		w.line(name, bytes)
		w.line(name+"_human", human(bytes))
	}
	overhead := int64(0)
	for i := range c.Space.Len() {
		overhead += int64(c.Space.DB(i).Len()) * entryOverhead
	}
	dataset := max(0, facts.HeapBytes-overhead)
	share := func(part, whole int64) string {
		return fmt.Sprintf("%.2f%%", 100*float64(part)/float64(max(whole, 1)))
	}
	sized("used_memory", facts.HeapBytes)
	sized("used_memory_rss", facts.SystemBytes)
	sized("used_memory_peak", facts.PeakBytes)
	w.line("used_memory_peak_perc", share(facts.HeapBytes, facts.PeakBytes))
	w.line("used_memory_overhead", overhead)
	w.line("used_memory_startup", 0)
	w.line("used_memory_dataset", dataset)
	w.line("used_memory_dataset_perc", share(dataset, facts.HeapBytes))
	w.line("allocator_allocated", facts.HeapBytes)
	w.line("allocator_active", facts.HeapBytes)
	w.line("allocator_resident", facts.SystemBytes)
	libraries, functions, _ := c.Scripts.FunctionCounts()
	w.line("used_memory_scripts_eval", c.Scripts.MemoryUsed())
	w.line("number_of_cached_scripts", c.Scripts.Len())
	w.line("number_of_functions", functions)
	w.line("number_of_libraries", libraries)
	w.line("used_memory_functions", c.Scripts.FunctionMemory())
	sized("used_memory_scripts", int64(c.Scripts.MemoryUsed()+c.Scripts.FunctionMemory()))
	sized("maxmemory", c.Config.MaxMemory)
	w.line("maxmemory_policy", "noeviction")
	w.line("mem_fragmentation_ratio",
		fmt.Sprintf("%.2f", float64(facts.SystemBytes)/float64(max(facts.HeapBytes, 1))))
	w.line("mem_fragmentation_bytes", facts.SystemBytes-facts.HeapBytes)
	w.zero("mem_not_counted_for_evict", "mem_replication_backlog", "mem_total_replication_buffers",
		"mem_clients_slaves")
	w.line("mem_clients_normal", clientBytes(c))
	w.zero("mem_cluster_links", "mem_aof_buffer")
	w.line("mem_allocator", "go")
	w.zero("active_defrag_running", "lazyfree_pending_objects", "lazyfreed_objects")
}

func infoPersistence(c *Ctx, w *infoWriter) {
	w.zero("loading", "async_loading")
	w.line("rdb_changes_since_last_save", c.Dirty)
	saving, status, since := c.Saving.Stats(), "ok", int64(-1)
	if saving.Failed {
		status = "err"
	}
	running := 0
	if saving.Running && saving.InBackground {
		running, since = 1, (c.Now()-saving.Begun)/1000
	}
	w.line("rdb_bgsave_in_progress", running)
	w.line("rdb_last_save_time", c.LastSaved())
	w.line("rdb_last_bgsave_status", status)
	w.line("rdb_last_bgsave_time_sec", saving.LastSeconds)
	w.line("rdb_current_bgsave_time_sec", since)
	w.line("rdb_saves", saving.Saves)
	w.zero("rdb_last_cow_size")
	w.line("rdb_last_load_keys_expired", saving.KeysExpired)
	w.line("rdb_last_load_keys_loaded", saving.KeysLoaded)
	w.zero("aof_enabled", "aof_rewrite_in_progress", "aof_rewrite_scheduled")
	w.line("aof_last_rewrite_time_sec", -1)
	w.line("aof_current_rewrite_time_sec", -1)
	w.line("aof_last_bgrewrite_status", "ok")
	w.zero("aof_rewrites", "aof_rewrites_consecutive_failures")
	w.line("aof_last_write_status", "ok")
	w.zero("aof_last_cow_size", "module_fork_in_progress", "module_fork_last_cow_size")
}

func infoStats(c *Ctx, w *infoWriter) {
	errors := int64(0)
	for _, n := range c.Stats.Errors {
		errors += n
	}
	w.line("total_connections_received", c.Stats.Connections)
	w.line("total_commands_processed", c.Stats.Commands)
	w.line("instantaneous_ops_per_sec", 0)
	w.line("total_net_input_bytes", c.Stats.NetIn)
	w.line("total_net_output_bytes", c.Stats.NetOut)
	w.zero("total_net_repl_input_bytes", "total_net_repl_output_bytes")
	w.line("instantaneous_input_kbps", "0.00")
	w.line("instantaneous_output_kbps", "0.00")
	w.line("rejected_connections", c.Stats.Rejected)
	w.zero("sync_full", "sync_partial_ok", "sync_partial_err")
	w.line("expired_keys", c.Space.Stats.Expired)
	w.line("expired_stale_perc", "0.00")
	w.zero("expired_time_cap_reached_count", "expire_cycle_cpu_milliseconds", "evicted_keys",
		"evicted_clients", "total_eviction_exceeded_time", "current_eviction_exceeded_time")
	w.line("keyspace_hits", c.Space.Stats.Hits)
	w.line("keyspace_misses", c.Space.Stats.Misses)
	w.line("pubsub_channels", c.PubSub.Count(pubsub.Channel))
	w.line("pubsub_patterns", c.PubSub.Patterns())
	w.line("pubsubshard_channels", c.PubSub.Count(pubsub.Shard))
	w.zero("latest_fork_usec", "total_forks", "migrate_cached_sockets", "slave_expires_tracked_keys",
		"tracking_total_keys", "tracking_total_items", "tracking_total_prefixes")
	w.line("unexpected_error_replies", c.Stats.Unexpected)
	w.line("total_error_replies", errors)
	w.zero("dump_payload_sanitizations")
}

func infoReplication(c *Ctx, w *infoWriter) {
	w.line("role", "master")
	w.line("connected_slaves", 0)
	w.line("master_failover_state", "no-failover")
	w.line("master_replid", c.Server.Identity().RunID)
	w.line("master_replid2", strings.Repeat("0", 40))
	w.line("master_repl_offset", 0)
	w.line("second_repl_offset", -1)
	w.line("repl_backlog_active", 0)
	w.line("repl_backlog_size", c.Config.Get("repl-backlog-size"))
	w.zero("repl_backlog_first_byte_offset", "repl_backlog_histlen")
}

func infoCluster(c *Ctx, w *infoWriter) {
	enabled := 0
	if c.Cluster != nil {
		enabled = 1
	}
	w.line("cluster_enabled", enabled)
}

func infoCPU(c *Ctx, w *infoWriter) {
	facts := c.Server.Usage()
	seconds := func(micros int64) string { return fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6) }
	w.line("used_cpu_sys", seconds(facts.SystemMicros))
	w.line("used_cpu_user", seconds(facts.UserMicros))
	w.line("used_cpu_sys_children", seconds(0))
	w.line("used_cpu_user_children", seconds(0))
}

func infoCommandstats(c *Ctx, w *infoWriter) {
	for _, cmd := range c.Table.All() {
		for _, one := range append([]*Command{cmd}, cmd.Subs...) {
			s := one.Calls
			if s.Calls == 0 && s.Rejected == 0 && s.Failed == 0 {
				continue
			}
			w.line("cmdstat_"+one.Name, fmt.Sprintf(
				"calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
				s.Calls, s.Micros, float64(s.Micros)/float64(max(s.Calls, 1)), s.Rejected, s.Failed))
		}
	}
}

// unbroken replaces what would end a line of INFO, or its name.
var unbroken = strings.NewReplacer("#", "_", ":", "_", "\r", "_", "\n", "_")

func infoErrorstats(c *Ctx, w *infoWriter) {
	for _, class := range slices.Sorted(maps.Keys(c.Stats.Errors)) {
		w.line("errorstat_"+unbroken.Replace(class), fmt.Sprintf("count=%d", c.Stats.Errors[class]))
	}
}

func infoKeyspace(c *Ctx, w *infoWriter) {
	for i := range c.Space.Len() {
		if db := c.Space.DB(i); db.Len() > 0 {
			w.line(fmt.Sprintf("db%d", i),
				fmt.Sprintf("keys=%d,expires=%d,avg_ttl=%d", db.Len(), db.Expires(), averageTTL(c, i)))
		}
	}
}

// averageTTL looks at a few of the keys that have a deadline, in ms.
func averageTTL(c *Ctx, db int) int64 {
	sum, n := int64(0), int64(0)
	c.Space.DB(db).Scan(0, 100, func(e *store.Entry) {
		if e.HasDeadline() {
			sum += e.Deadline() - c.Now()
			n++
		}
	})
	return sum / max(n, 1)
}
