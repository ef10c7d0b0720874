# The checks of redis_exporter's metrics. run sources this file.

cli flushall >/dev/null
for command in 'set k:1 hello' 'set k:2 7' 'rpush list a b c' 'xadd stream 1-1 a b' \
  'xgroup create stream g 0' '-n 3 set far 1 ex 1000' '-n 3 set near 1'; do
  # shellcheck disable=SC2086
  cli $command >/dev/null
done
cli xreadgroup group g c streams stream '>' >/dev/null
echo "return {'words', '2', 'letters', tostring(#redis.call('ping').ok)}" >"$work/script.lua"

start -check-single-keys db0=k:2,db0=list -check-keys 'k:*' -check-streams db0=stream -count-keys 'db0=k:*,db3=*ar' \
  -check-key-groups '^(%a+):%d+$,^(.*)$' -export-client-list -include-config-metrics -include-system-metrics \
  -script "$work/script.lua"

isUp() { like "$(get metrics)" '^redis_up 1$' '^redis_exporter_last_scrape_error\{err=""} 0$'; }
check "a server is up" isUp

describesTheServer() {
  like "$(get metrics)" '^redis_instance_info\{.*maxmemory_policy="noeviction".*redis_mode="standalone".*redis_version="7\.0\.15".*role="master"' \
    "^redis_instance_info\{.*tcp_port=\"$port\"" '^redis_uptime_in_seconds [0-9]' '^redis_start_time_seconds [0-9]'
}
check "version, mode, role and port of the server" describesTheServer

countsKeys() {
  like "$(get metrics)" '^redis_db_keys\{db="db0"} 4$' '^redis_db_keys\{db="db3"} 2$' '^redis_db_keys\{db="db15"} 0$' \
    '^redis_db_keys_expiring\{db="db3"} 1$' '^redis_db_avg_ttl_seconds\{db="db3"} 9[0-9][0-9]'
}
check "keys of all databases, and keys that expire" countsKeys

countsCommands() {
  cli config resetstat >/dev/null
  cli set k:1 hello >/dev/null
  cli set k:1 hello >/dev/null
  cli object encoding k:1 >/dev/null
  like "$(get metrics)" '^redis_commands_total\{cmd="set"} 2$' '^redis_commands_duration_seconds_total\{cmd="set"} [0-9]' \
    '^redis_commands_total\{cmd="object\|encoding"} 1$' '^redis_latency_percentiles_usec\{cmd="set",quantile="99.9"} [0-9]' \
    '^redis_latency_percentiles_usec_count\{cmd="set"} 2$'
}
check "commands: calls, durations, percentiles" countsCommands

countsErrors() {
  cli config resetstat >/dev/null
  cli lpush k:1 x >/dev/null
  cli hget k:1 >/dev/null
  like "$(get metrics)" '^redis_commands_failed_calls_total\{cmd="lpush"} 1$' \
    '^redis_commands_rejected_calls_total\{cmd="hget"} 1$' '^redis_total_error_replies 2$'
}
check "commands that failed and that were rejected" countsErrors

countsHits() {
  cli config resetstat >/dev/null
  cli mget k:1 k:2 nope >/dev/null
  like "$(get metrics)" '^redis_keyspace_hits_total 2$' '^redis_keyspace_misses_total 1$'
}
check "hits and misses" countsHits

countsExpired() {
  cli config resetstat >/dev/null
  cli set brief 1 px 1 >/dev/null
  until_like 10 '^redis_expired_keys_total 1$' '^redis_db_keys\{db="db0"} 4$'
}
check "keys that have expired" countsExpired

readsConfig() {
  like "$(get metrics)" '^redis_config_maxclients 10000$' '^redis_config_value\{key="timeout"} 0$' \
    '^redis_config_key_value\{key="maxmemory-policy",value="noeviction"} 1$'
}
check "the configuration as metrics" readsConfig

readsMemory() {
  cli config set maxmemory 100mb >/dev/null
  local text
  text=$(get metrics)
  cli config set maxmemory 0 >/dev/null
  like "$text" '^redis_memory_max_bytes 1.048576e\+08$' '^redis_memory_used_bytes [1-9]' \
    '^redis_memory_used_rss_bytes [1-9]' '^redis_total_system_memory_bytes [1-9]'
}
check "memory" readsMemory

readsKeys() {
  like "$(get metrics)" '^redis_key_value\{db="db0",key="k:2"} 7$' '^redis_key_size\{db="db0",key="list"} 3$'
}
check "values and sizes of single keys" readsKeys

readsPattern() {
  like "$(get metrics)" '^redis_key_size\{db="db0",key="k:1"} 5$' \
    '^redis_key_value_as_string\{db="db0",key="k:1",val="hello"} 1$'
}
check "keys of a pattern, found with SCAN" readsPattern

countsPattern() {
  like "$(get metrics)" '^redis_keys_count\{db="db0",key="k:\*"} 2$' '^redis_keys_count\{db="db3",key="\*ar"} 2$'
}
check "keys are counted by patterns" countsPattern

groupsKeys() {
  like "$(get metrics)" '^redis_key_group_count\{db="db0",key_group="k"} 2$' \
    '^redis_key_group_memory_usage_bytes\{db="db0",key_group="k"} [1-9]' '^redis_number_of_distinct_key_groups\{db="db0"} 3$'
}
check "memory of groups of keys, by a script" groupsKeys

readsStream() {
  like "$(get metrics)" '^redis_stream_length\{db="db0",stream="stream"} 1$' '^redis_stream_groups\{db="db0",stream="stream"} 1$' \
    '^redis_stream_group_consumers\{db="db0",group="g",stream="stream"} 1$' \
    '^redis_stream_group_consumer_messages_pending\{consumer="c",db="db0",group="g",stream="stream"} 1$' \
    '^redis_stream_group_last_delivered_id\{db="db0",group="g",stream="stream"} 1$'
}
check "a stream, its group and its consumer" readsStream

runsScript() {
  like "$(get metrics)" '^redis_script_values\{key="words"} 2$' '^redis_script_values\{key="letters"} 4$'
}
check "values of a script" runsScript

listsClients() {
  like "$(get metrics)" '^redis_connected_clients_details\{.*cmd="client\|list".*flags="N",host="127.0.0.1".*name="redis_exporter"' \
    '^redis_connected_clients [1-9]'
}
check "the list of clients" listsClients

readsSlowlog() {
  cli config set slowlog-log-slower-than 0 >/dev/null
  cli slowlog reset >/dev/null
  cli get k:1 >/dev/null
  local text
  text=$(get metrics)
  cli config set slowlog-log-slower-than 10000 >/dev/null
  like "$text" '^redis_slowlog_length [1-9]' '^redis_slowlog_last_id [1-9]' '^redis_last_slow_execution_duration_seconds [0-9]'
}
check "the slow log" readsSlowlog

countsWaiting() {
  redis-cli -p "$port" blpop empty 30 >/dev/null &
  local blocked=$!
  redis-cli -p "$port" subscribe news </dev/null >/dev/null &
  local listening=$! status=0
  until_like 15 '^redis_blocked_clients 1$' '^redis_pubsub_channels 1$' || status=1
  kill "$blocked" "$listening"
  return $status
}
check "blocked clients and channels" countsWaiting

scrapesTarget() {
  like "$(get "scrape?target=redis://127.0.0.1:$port")" '^redis_up 1$' '^redis_instance_info\{.*redis_version="7\.0\.15"' || return
  like "$(get 'scrape?target=redis://127.0.0.1:1')" '^redis_up 0$'
}
check "another target, and a target that is away" scrapesTarget

refusedWithoutPassword() { like "$(get metrics)" '^redis_up 0$'; }
isRead() {
  like "$(get metrics)" '^redis_up 1$' '^redis_exporter_last_scrape_error\{err=""} 0$'
}
cli config set requirepass sesame >/dev/null
cli -a sesame --no-auth-warning client kill type normal skipme yes >/dev/null
check "a server with a password refuses without it" refusedWithoutPassword
start -redis.password sesame
check "a server with a password" isRead
cli -a sesame --no-auth-warning config set requirepass '' >/dev/null

cli acl setuser watcher on '>eyes' '~*' +client +ping +info +config\|get +cluster\|info +slowlog +latency +select >/dev/null
start -redis.user watcher -redis.password eyes
check "a user of the ACL that may only watch" isRead
cli acl deluser watcher >/dev/null
