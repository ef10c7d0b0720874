package server

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
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
	write       func(c *command.Ctx, w *command.InfoWriter)
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

func info(c *command.Ctx, args resp.Args) resp.Reply {
	return resp.Verbatim(writeInfo(c, infoSections(), args))
}

// writeInfo returns the sections that the arguments of INFO ask for.
func writeInfo(c *command.Ctx, sections []infoSection, args resp.Args) string {
	asked := map[string]bool{}
	for i := range args[1:] {
		asked[strings.ToLower(args.String(i+1))] = true
	}
	everything := asked["all"] || asked["everything"]
	usual := len(args) == 1 || asked["default"]
	var w command.InfoWriter
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

func infoServer(c *command.Ctx, w *command.InfoWriter) {
	facts, usage := c.Server.Identity(), c.Server.Usage()
	uptime := max(0, c.Now()-facts.StartMillis) / 1000
	w.Line("redis_version", c.Config.ReportedVersion())
	if c.Config.Valkey() {
		w.Line("server_name", "valkey")
		w.Line("valkey_version", config.ValkeyVersion)
		w.Line("valkey_release_stage", "ga")
	}
	w.Line("lockredis_release", config.Version)
	w.Line("redis_git_sha1", "00000000")
	w.Line("redis_git_dirty", 0)
	w.Line("redis_build_id", "0000000000000000")
	w.Line("redis_mode", c.Mode())
	w.Line("os", usage.System)
	w.Line("arch_bits", strconv.IntSize)
	w.Line("monotonic_clock", usage.Monotonic)
	w.Line("multiplexing_api", usage.Multiplexing)
	w.Line("atomicvar_api", "go-builtin")
	w.Line("gcc_version", "0.0.0") // as Redis that another compiler has built
	w.Line("go_version", runtime.Version())
	w.Line("process_id", facts.ProcessID)
	w.Line("process_supervised", "no")
	w.Line("run_id", facts.RunID)
	w.Line("tcp_port", facts.Port)
	w.Line("server_time_usec", c.Micros)
	w.Line("uptime_in_seconds", uptime)
	w.Line("uptime_in_days", uptime/86400)
	w.Line("hz", c.Config.Get("hz"))
	w.Line("configured_hz", c.Config.Get("hz"))
	w.Line("lru_clock", c.Now()/1000&(1<<24-1))
	w.Line("executable", facts.Executable)
	w.Line("config_file", facts.ConfigFile)
	w.Line("io_threads_active", 0)
}

func infoClients(c *command.Ctx, w *command.InfoWriter) {
	w.Line("connected_clients", c.Clients.Open())
	w.Line("cluster_connections", 0)
	w.Line("maxclients", c.Config.MaxClients)
	input, output := c.LargestBuffers()
	w.Line("client_recent_max_input_buffer", input)
	w.Line("client_recent_max_output_buffer", output)
	w.Line("blocked_clients", c.Parking.Waiting()+c.Pausing.Postponed())
	w.Line("tracking_clients", c.Tracking.Counts().Clients)
	w.Line("clients_in_timeout_table", 0)
}

func infoPersistence(c *command.Ctx, w *command.InfoWriter) {
	saving, status, since := c.Saving.Stats(), "ok", int64(-1)
	loading, aside := saving.Loading, false
	if p := c.Replicas.Status().Primary; loading == nil && p != nil && p.Load != command.NoLoad {
		loading, aside = &command.LoadStats{Begun: p.LoadBegun, Total: max(p.FileBytes, p.FileRead), Read: p.FileRead}, p.Load == command.LoadAside
	}
	w.Line("loading", digit(loading != nil && !aside))
	w.Line("async_loading", digit(aside))
	w.Zero("current_cow_peak", "current_cow_size", "current_cow_size_age")
	w.Line("current_fork_perc", fmt.Sprintf("%.2f", percent(saving.KeysDone, saving.Keys)))
	w.Line("current_save_keys_processed", saving.KeysDone)
	w.Line("current_save_keys_total", saving.Keys)
	w.Line("rdb_changes_since_last_save", c.Dirty)
	if saving.Failed {
		status = "err"
	}
	running := 0
	switch { // as in Redis, a file for a replica counts
	case saving.Running && saving.InBackground:
		running, since = 1, (c.Now()-saving.Begun)/1000
	case saving.Copying != 0:
		running, since = 1, (c.Now()-saving.Copying)/1000
	}
	w.Line("rdb_bgsave_in_progress", running)
	w.Line("rdb_last_save_time", c.LastSaved())
	w.Line("rdb_last_bgsave_status", status)
	w.Line("rdb_last_bgsave_time_sec", saving.LastSeconds)
	w.Line("rdb_current_bgsave_time_sec", since)
	w.Line("rdb_saves", c.Stats.Saves)
	w.Zero("rdb_last_cow_size")
	w.Line("rdb_last_load_keys_expired", saving.KeysExpired)
	w.Line("rdb_last_load_keys_loaded", saving.KeysLoaded)
	w.Zero("aof_enabled", "aof_rewrite_in_progress", "aof_rewrite_scheduled")
	w.Line("aof_last_rewrite_time_sec", -1)
	w.Line("aof_current_rewrite_time_sec", -1)
	w.Line("aof_last_bgrewrite_status", "ok")
	w.Zero("aof_rewrites", "aof_rewrites_consecutive_failures")
	w.Line("aof_last_write_status", "ok")
	w.Zero("aof_last_cow_size", "module_fork_in_progress", "module_fork_last_cow_size")
	if loading != nil {
		infoLoading(c, w, loading)
	}
}

// infoLoading writes how far a file is read.
func infoLoading(c *command.Ctx, w *command.InfoWriter, l *command.LoadStats) {
	left := int64(1) // seconds; 1 while there is nothing to estimate with
	if took := c.Now()/1000 - l.Begun; took > 0 {
		left = took * (l.Total - l.Read) / (l.Read + 1)
	}
	w.Line("loading_start_time", l.Begun)
	w.Line("loading_total_bytes", l.Total)
	w.Line("loading_rdb_used_mem", l.Memory)
	w.Line("loading_loaded_bytes", l.Read)
	w.Line("loading_loaded_perc", fmt.Sprintf("%.2f", percent(l.Read, l.Total)))
	w.Line("loading_eta_seconds", left)
}

func infoStats(c *command.Ctx, w *command.InfoWriter) {
	errors := int64(0)
	for _, n := range c.Stats.Errors {
		errors += n
	}
	w.Line("total_connections_received", c.Stats.Connections)
	w.Line("total_commands_processed", c.Stats.Commands)
	moved := c.Traffic()
	commands, in, out := c.Rates.PerSecond()
	kilobytes := func(bytes int64) string { return fmt.Sprintf("%.2f", float64(bytes)/1024) }
	w.Line("instantaneous_ops_per_sec", commands)
	w.Line("total_net_input_bytes", moved.In)
	w.Line("total_net_output_bytes", moved.Out)
	w.Zero("total_net_repl_input_bytes", "total_net_repl_output_bytes")
	w.Line("instantaneous_input_kbps", kilobytes(in))
	w.Line("instantaneous_output_kbps", kilobytes(out))
	w.Line("instantaneous_input_repl_kbps", "0.00")
	w.Line("instantaneous_output_repl_kbps", "0.00")
	w.Line("rejected_connections", c.Stats.Rejected)
	w.Line("sync_full", c.Stats.Full)
	w.Line("sync_partial_ok", c.Stats.Partial)
	w.Line("sync_partial_err", c.Stats.NotPartial)
	w.Line("expired_keys", c.Space.Stats.Expired)
	w.Line("expired_stale_perc", "0.00")
	w.Zero("expired_time_cap_reached_count", "expire_cycle_cpu_milliseconds")
	w.Line("evicted_keys", c.Space.Stats.Evicted)
	w.Zero("evicted_clients")
	since := int64(0)
	if c.Stats.Exceeded.Since != 0 {
		since = max(0, c.Micros-c.Stats.Exceeded.Since)
	}
	w.Line("total_eviction_exceeded_time", (c.Stats.Exceeded.Total+since)/1000)
	w.Line("current_eviction_exceeded_time", since/1000)
	w.Line("keyspace_hits", c.Space.Stats.Hits)
	w.Line("keyspace_misses", c.Space.Stats.Misses)
	w.Line("pubsub_channels", c.PubSub.Count(pubsub.Channel))
	w.Line("pubsub_patterns", c.PubSub.Patterns())
	w.Line("pubsubshard_channels", c.PubSub.Count(pubsub.Shard))
	w.Zero("latest_fork_usec", "total_forks", "migrate_cached_sockets", "slave_expires_tracked_keys",
		"active_defrag_hits", "active_defrag_misses", "active_defrag_key_hits",
		"active_defrag_key_misses", "total_active_defrag_time", "current_active_defrag_time")
	tracking := c.Tracking.Counts()
	w.Line("tracking_total_keys", tracking.Keys)
	w.Line("tracking_total_items", tracking.Items)
	w.Line("tracking_total_prefixes", tracking.Prefixes)
	w.Line("unexpected_error_replies", c.Stats.Unexpected)
	w.Line("total_error_replies", errors)
	w.Zero("dump_payload_sanitizations")
	w.Line("total_reads_processed", moved.Reads)
	w.Line("total_writes_processed", moved.Writes)
	w.Zero("io_threaded_reads_processed", "io_threaded_writes_processed", "reply_buffer_shrinks",
		"reply_buffer_expands")
}

func infoReplication(c *command.Ctx, w *command.InfoWriter) {
	status := c.Replicas.Status()
	if status.Primary == nil {
		w.Line("role", "master")
	} else {
		w.Line("role", "slave")
		infoPrimary(c, w, status.Primary)
	}
	w.Line("connected_slaves", len(status.Replicas))
	if c.Config.RequiresReplicas() {
		w.Line("min_slaves_good_slaves", c.Replicas.Good())
	}
	for i, s := range status.Replicas {
		w.Line(fmt.Sprintf("slave%d", i), fmt.Sprintf("ip=%s,port=%d,state=%s,offset=%d,lag=%d",
			s.ReplicaIP(), s.Replica.Port, s.Replica.State, s.Replica.Acked, s.Replica.Lag))
	}
	w.Line("master_failover_state", status.Failover)
	w.Line("master_replid", status.ID)
	w.Line("master_replid2", status.ID2)
	w.Line("master_repl_offset", status.Offset)
	w.Line("second_repl_offset", status.Offset2)
	w.Line("repl_backlog_active", digit(status.Backlog))
	w.Line("repl_backlog_size", c.Config.Get("repl-backlog-size"))
	w.Line("repl_backlog_first_byte_offset", status.First)
	w.Line("repl_backlog_histlen", status.Kept)
}

// infoPrimary writes the lines of a replica about its primary.
func infoPrimary(c *command.Ctx, w *command.InfoWriter, p *command.PrimaryStatus) {
	link := "down"
	if p.Up {
		link = "up"
	}
	w.Line("master_host", p.Host)
	w.Line("master_port", p.Port)
	w.Line("master_link_status", link)
	w.Line("master_last_io_seconds_ago", p.Silence)
	w.Line("master_sync_in_progress", digit(p.Syncing))
	offset := p.Offset
	if offset < 0 {
		offset = 1 // as in Redis
	}
	w.Line("slave_read_repl_offset", offset)
	w.Line("slave_repl_offset", offset)
	if p.Syncing {
		percent := 0.0
		if p.FileBytes > 0 {
			percent = float64(p.FileRead) / float64(p.FileBytes) * 100
		}
		w.Line("master_sync_total_bytes", p.FileBytes)
		w.Line("master_sync_read_bytes", p.FileRead)
		w.Line("master_sync_left_bytes", max(p.FileBytes-p.FileRead, 0))
		w.Line("master_sync_perc", fmt.Sprintf("%.2f", percent))
		w.Line("master_sync_last_io_seconds_ago", max(p.Silence, 0))
	}
	if !p.Up {
		w.Line("master_link_down_since_seconds", p.Down)
	}
	cfg := &c.Config.Replication
	w.Line("slave_priority", cfg.Priority)
	w.Line("slave_read_only", digit(cfg.ReadOnly))
	w.Line("replica_announced", digit(cfg.Announced))
}

// digit returns 1 or 0.
func digit(on bool) int {
	if on {
		return 1
	}
	return 0
}

func infoCluster(c *command.Ctx, w *command.InfoWriter) {
	enabled := 0
	if c.Cluster != nil {
		enabled = 1
	}
	w.Line("cluster_enabled", enabled)
}

func infoCPU(c *command.Ctx, w *command.InfoWriter) {
	facts := c.Server.Usage()
	seconds := func(micros int64) string { return fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6) }
	w.Line("used_cpu_sys", seconds(facts.SystemMicros))
	w.Line("used_cpu_user", seconds(facts.UserMicros))
	w.Line("used_cpu_sys_children", seconds(0))
	w.Line("used_cpu_user_children", seconds(0))
	// Goroutines move from thread to thread: there is no main one.
	w.Line("used_cpu_sys_main_thread", seconds(facts.SystemMicros))
	w.Line("used_cpu_user_main_thread", seconds(facts.UserMicros))
}

// unbroken replaces what would end a line of INFO, or its name.
var unbroken = strings.NewReplacer("#", "_", ":", "_", "\r", "_", "\n", "_")

func infoErrorstats(c *command.Ctx, w *command.InfoWriter) {
	for _, class := range slices.Sorted(maps.Keys(c.Stats.Errors)) {
		w.Line("errorstat_"+unbroken.Replace(class), fmt.Sprintf("count=%d", c.Stats.Errors[class]))
	}
}

func infoKeyspace(c *command.Ctx, w *command.InfoWriter) {
	for i, db := range c.Space.Opened() {
		if db.Len() > 0 {
			w.Line(fmt.Sprintf("db%d", i),
				fmt.Sprintf("keys=%d,expires=%d,avg_ttl=%d", db.Len(), db.Expires(), averageTTL(c, i)))
		}
	}
}

// averageTTL looks at a few of the keys that have a deadline, in ms.
func averageTTL(c *command.Ctx, db int) int64 {
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
func infoModules(c *command.Ctx, w *command.InfoWriter) {
	if c.Config.Valkey() {
		w.Line("module", "name=lua,ver=1,api=1,filters=0,usedby=[],using=[],"+
			"options=[handle-repl-async-load|handle-atomic-slot-migration]")
	}
}
