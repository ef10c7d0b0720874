package survey

import (
	"slices"
	"strings"
	"testing"
)

// own are the fields of INFO that lockredis adds.
var own = []string{"lockredis_release", "go_version"}

// fields returns the lines of INFO without their values: names and titles.
func fields(text string) (names []string) {
	for line := range strings.SplitSeq(text, "\r\n") {
		name, _, _ := strings.Cut(line, ":")
		if !slices.Contains(own, name) {
			names = append(names, name)
		}
	}
	return names
}

// sections of INFO whose lines depend on what has run before.
var counted = []string{"# Commandstats", "# Latencystats", "# Errorstats"}

// withoutCounts leaves out the lines of the sections that count.
func withoutCounts(names []string) (kept []string) {
	counts := false
	for _, name := range names {
		if strings.HasPrefix(name, "# ") || name == "" {
			counts = slices.Contains(counted, name)
		}
		if !counts || strings.HasPrefix(name, "# ") {
			kept = append(kept, name)
		}
	}
	return kept
}

func TestInfoHasTheFieldsOfRedisInItsOrder(t *testing.T) {
	oracle, target := start(t)
	for _, line := range [][]string{{"SET", "k", "v"}, {"CONFIG", "SET", "min-replicas-to-write", "1"},
		{"SET", "k", "v"}, {"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() end)"},
		{"GET", "k"}, {"LPUSH", "k", "v"}, {"NOSUCH"}, {"EVAL", "return 1", "0"}} {
		oracle.do(line...)
		target.do(line...)
	}
	for _, sections := range [][]string{{"everything"}, {"all"}, {}, {"default"}, {"server"}, {"clients"},
		{"memory"}, {"persistence"}, {"stats"}, {"replication"}, {"cpu"}, {"modules"}, {"errorstats"},
		{"cluster"}, {"keyspace"}, {"nosuch"}, {"CPU", "server", "cpu"}, {"default", "commandstats"}} {
		args := append([]string{"INFO"}, sections...)
		want := withoutCounts(fields(string(oracle.do(args...).Str)))
		got := withoutCounts(fields(string(target.do(args...).Str)))
		if !slices.Equal(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", args, got, want)
		}
		t.Logf("INFO %s: %d lines", strings.Join(sections, " "), len(want))
	}
}

// Values that do not depend on the process equal redis-server's.
func TestInfoOfAFreshServerHasRedissValues(t *testing.T) {
	oracle, target := start(t)
	differ := map[string]bool{}
	for _, name := range strings.Fields("lockredis_release go_version redis_build_id atomicvar_api gcc_version " +
		"process_id run_id tcp_port server_time_usec uptime_in_seconds executable config_file " +
		"client_recent_max_input_buffer lru_clock used_memory_startup mem_allocator mem_clients_normal " +
		"rdb_last_save_time master_replid mem_fragmentation_ratio mem_fragmentation_bytes " +
		"total_net_input_bytes total_net_output_bytes total_reads_processed total_writes_processed " +
		"instantaneous_ops_per_sec instantaneous_input_kbps instantaneous_output_kbps " +
		"expire_cycle_cpu_milliseconds total_commands_processed total_connections_received") {
		differ[name] = true
	}
	values := func(s *server) map[string]string {
		all := map[string]string{}
		for line := range strings.SplitSeq(string(s.do("INFO").Str), "\r\n") {
			name, value, _ := strings.Cut(line, ":")
			all[name] = value
		}
		return all
	}
	want, got := values(oracle), values(target)
	compared := 0
	for name, value := range want {
		measured := strings.HasPrefix(name, "used_") || strings.HasPrefix(name, "allocator_") ||
			strings.HasPrefix(name, "rss_") || differ[name]
		if measured {
			continue
		}
		compared++
		if got[name] != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
	t.Logf("%d values compared", compared)
}

func TestClientListHasTheFieldsOfRedis(t *testing.T) {
	oracle, target := start(t)
	line := func(s *server) (names []string, values map[string]string) {
		values = map[string]string{}
		for field := range strings.FieldsSeq(string(s.do("CLIENT", "LIST").Str)) {
			name, value, _ := strings.Cut(field, "=")
			names = append(names, name)
			values[name] = value
		}
		return names, values
	}
	names, want := line(oracle)
	gotNames, got := line(target)
	if !slices.Equal(gotNames, names) {
		t.Errorf("fields %q, want %q", gotNames, names)
	}
	// Each server has buffers of its own sizes.
	differ := strings.Fields("id addr laddr fd age idle qbuf qbuf-free rbs rbp tot-mem")
	for name, value := range want {
		if !slices.Contains(differ, name) && got[name] != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
}
