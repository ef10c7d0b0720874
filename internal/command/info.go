package command

import (
	"cmp"
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
		{"modules", "Modules", false, infoModules},
		{"commandstats", "Commandstats", true, infoCommandstats},
		{"errorstats", "Errorstats", false, infoErrorstats},
		{"latencystats", "Latencystats", true, infoLatencystats},
		{"cluster", "Cluster", false, infoCluster},
		{"keyspace", "Keyspace", false, infoKeyspace},
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
	facts, usage := c.Server.Identity(), c.Server.Usage()
	uptime := max(0, c.Now()-facts.StartMillis) / 1000
	w.line("redis_version", c.Config.ReportedVersion())
	if c.Config.Valkey() {
		w.line("server_name", "valkey")
		w.line("valkey_version", config.ValkeyVersion)
		w.line("valkey_release_stage", "ga")
	}
	w.line("lockredis_release", config.Version)
	w.line("redis_git_sha1", "00000000")
	w.line("redis_git_dirty", 0)
	w.line("redis_build_id", "0000000000000000")
	w.line("redis_mode", c.mode())
	w.line("os", usage.System)
	w.line("arch_bits", strconv.IntSize)
	w.line("monotonic_clock", usage.Monotonic)
	w.line("multiplexing_api", usage.Multiplexing)
	w.line("atomicvar_api", "go-builtin")
	w.line("gcc_version", "0.0.0") // as Redis that another compiler has built
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
	input, output := c.LargestBuffers()
	w.line("client_recent_max_input_buffer", input)
	w.line("client_recent_max_output_buffer", output)
	w.line("blocked_clients", c.Parking.Waiting()+c.Pausing.Postponed())
	w.line("tracking_clients", c.Tracking.Counts().Clients)
	w.line("clients_in_timeout_table", 0)
}

func infoPersistence(c *Ctx, w *infoWriter) {
	saving, status, since := c.Saving.Stats(), "ok", int64(-1)
	loading, isLoading := saving.Loading, 0
	if loading != nil {
		isLoading = 1
	}
	w.line("loading", isLoading)
	w.zero("async_loading", "current_cow_peak", "current_cow_size", "current_cow_size_age")
	w.line("current_fork_perc", fmt.Sprintf("%.2f", percent(saving.KeysDone, saving.Keys)))
	w.line("current_save_keys_processed", saving.KeysDone)
	w.line("current_save_keys_total", saving.Keys)
	w.line("rdb_changes_since_last_save", c.Dirty)
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
	w.line("rdb_saves", c.Stats.Saves)
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
	if loading != nil {
		infoLoading(c, w, loading)
	}
}

// infoLoading writes how far a file is read.
func infoLoading(c *Ctx, w *infoWriter, l *LoadStats) {
	left := int64(1) // seconds; 1 while there is nothing to estimate with
	if took := c.Now()/1000 - l.Begun; took > 0 {
		left = took * (l.Total - l.Read) / (l.Read + 1)
	}
	w.line("loading_start_time", l.Begun)
	w.line("loading_total_bytes", l.Total)
	w.line("loading_rdb_used_mem", l.Memory)
	w.line("loading_loaded_bytes", l.Read)
	w.line("loading_loaded_perc", fmt.Sprintf("%.2f", percent(l.Read, l.Total)))
	w.line("loading_eta_seconds", left)
}

func infoStats(c *Ctx, w *infoWriter) {
	errors := int64(0)
	for _, n := range c.Stats.Errors {
		errors += n
	}
	w.line("total_connections_received", c.Stats.Connections)
	w.line("total_commands_processed", c.Stats.Commands)
	moved := c.Traffic()
	commands, in, out := c.Rates.PerSecond()
	kilobytes := func(bytes int64) string { return fmt.Sprintf("%.2f", float64(bytes)/1024) }
	w.line("instantaneous_ops_per_sec", commands)
	w.line("total_net_input_bytes", moved.In)
	w.line("total_net_output_bytes", moved.Out)
	w.zero("total_net_repl_input_bytes", "total_net_repl_output_bytes")
	w.line("instantaneous_input_kbps", kilobytes(in))
	w.line("instantaneous_output_kbps", kilobytes(out))
	w.line("instantaneous_input_repl_kbps", "0.00")
	w.line("instantaneous_output_repl_kbps", "0.00")
	w.line("rejected_connections", c.Stats.Rejected)
	w.zero("sync_full", "sync_partial_ok", "sync_partial_err")
	w.line("expired_keys", c.Space.Stats.Expired)
	w.line("expired_stale_perc", "0.00")
	w.zero("expired_time_cap_reached_count", "expire_cycle_cpu_milliseconds")
	w.line("evicted_keys", c.Space.Stats.Evicted)
	w.zero("evicted_clients")
	since := int64(0)
	if c.Stats.Exceeded.Since != 0 {
		since = max(0, c.Micros-c.Stats.Exceeded.Since)
	}
	w.line("total_eviction_exceeded_time", (c.Stats.Exceeded.Total+since)/1000)
	w.line("current_eviction_exceeded_time", since/1000)
	w.line("keyspace_hits", c.Space.Stats.Hits)
	w.line("keyspace_misses", c.Space.Stats.Misses)
	w.line("pubsub_channels", c.PubSub.Count(pubsub.Channel))
	w.line("pubsub_patterns", c.PubSub.Patterns())
	w.line("pubsubshard_channels", c.PubSub.Count(pubsub.Shard))
	w.zero("latest_fork_usec", "total_forks", "migrate_cached_sockets", "slave_expires_tracked_keys",
		"active_defrag_hits", "active_defrag_misses", "active_defrag_key_hits",
		"active_defrag_key_misses", "total_active_defrag_time", "current_active_defrag_time")
	tracking := c.Tracking.Counts()
	w.line("tracking_total_keys", tracking.Keys)
	w.line("tracking_total_items", tracking.Items)
	w.line("tracking_total_prefixes", tracking.Prefixes)
	w.line("unexpected_error_replies", c.Stats.Unexpected)
	w.line("total_error_replies", errors)
	w.zero("dump_payload_sanitizations")
	w.line("total_reads_processed", moved.Reads)
	w.line("total_writes_processed", moved.Writes)
	w.zero("io_threaded_reads_processed", "io_threaded_writes_processed", "reply_buffer_shrinks",
		"reply_buffer_expands")
}

func infoReplication(c *Ctx, w *infoWriter) {
	w.line("role", "master")
	w.line("connected_slaves", 0)
	if c.Config.LacksReplicas() {
		w.line("min_slaves_good_slaves", 0)
	}
	w.line("master_failover_state", "no-failover")
	w.line("master_replid", cmp.Or(c.replID, c.Server.Identity().RunID))
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
	// Goroutines move from thread to thread: there is no main one.
	w.line("used_cpu_sys_main_thread", seconds(facts.SystemMicros))
	w.line("used_cpu_user_main_thread", seconds(facts.UserMicros))
}

// unbroken replaces what would end a line of INFO, or its name.
var unbroken = strings.NewReplacer("#", "_", ":", "_", "\r", "_", "\n", "_")

func infoErrorstats(c *Ctx, w *infoWriter) {
	for _, class := range slices.Sorted(maps.Keys(c.Stats.Errors)) {
		w.line("errorstat_"+unbroken.Replace(class), fmt.Sprintf("count=%d", c.Stats.Errors[class]))
	}
}

func infoKeyspace(c *Ctx, w *infoWriter) {
	for i, db := range c.Space.Opened() {
		if db.Len() > 0 {
			w.line(fmt.Sprintf("db%d", i),
				fmt.Sprintf("keys=%d,expires=%d,avg_ttl=%d", db.Len(), db.Expires(), averageTTL(c, i)))
		}
	}
}

// averageTTL looks at a few of the keys that have a deadline, in ms.
func averageTTL(c *Ctx, db int) int64 {
	sum, n, seen := int64(0), int64(0), 0
	keys := c.Space.DB(db)
	keys.EachStored(func(e *store.Entry) bool {
		if left := keys.Deadline(e) - c.Now(); e.HasDeadline() && left > 0 {
			sum += left
			n++
		}
		seen++
		return seen < 100
	})
	return sum / max(n, 1)
}

// infoModules writes a line for each module.
func infoModules(c *Ctx, w *infoWriter) {
	if c.Config.Valkey() {
		w.line("module", "name=lua,ver=1,api=1,filters=0,usedby=[],using=[],"+
			"options=[handle-repl-async-load|handle-atomic-slot-migration]")
	}
}
