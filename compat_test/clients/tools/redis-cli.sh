# The checks of redis-cli. run sources this file.
client=redis-cli

# live COUNT PATTERN ARGUMENT …: redis-cli until so many lines of its output have the pattern,
# for at most 25 seconds. Each line is written at once.
live() {
  local count=$1 pattern=$2 n
  shift 2
  : > "$work/live" # the shell in the background makes it a little later
  timeout 30 stdbuf -oL redis-cli -p "$port" "$@" > "$work/live" 2>&1 &
  local pid=$!
  for ((n = 0; n < 500; n++)); do
    [ "$(grep -cE -- "$pattern" "$work/live")" -lt "$count" ] || break
    sleep 0.05
  done
  kill $pid 2>/dev/null; wait $pid
  cat "$work/live"
}

# exec_live ARGUMENT …: becomes redis-cli, for at most 15 seconds.
exec_live() { exec timeout 15 stdbuf -oL redis-cli -p "$port" "$@"; }

single_commands() {
  same "$(cli ping)" PONG && same "$(cli set k v)" OK && same "$(cli --no-raw get k)" '"v"' &&
    same "$(cli --no-raw get none)" '(nil)' && same "$(cli --no-raw strlen k)" '(integer) 1'
}
check "single commands, raw and for people" single_commands

lines_from_stdin() {
  same "$(printf 'set n 41\nincr n\n' | cli)" $'OK\n42' &&
    same "$(printf 'multi\nincr n\nincr n\nexec\n' | cli)" $'OK\nQUEUED\nQUEUED\n43\n44'
}
check "commands and a transaction from standard input" lines_from_stdin

last_argument() {
  printf 'from\nstdin' | cli -x set k >/dev/null && same "$(cli get k)" $'from\nstdin' &&
    printf v2 | cli -X TAG set k TAG px 60000 >/dev/null && same "$(cli get k)" v2
}
check "-x and -X take an argument from standard input" last_argument

output_forms() {
  cli del h >/dev/null && cli hset h a 1 >/dev/null &&
    same "$(cli --csv hgetall h)" '"a","1"' && same "$(cli --json hgetall h)" '{"a":"1"}' &&
    same "$(cli -3 --no-raw hgetall h)" '1# "a" => "1"' &&
    same "$(cli -2 --no-raw hgetall h)" $'1) "a"\n2) "1"'
}
check "--csv, --json, RESP2 and RESP3" output_forms

databases() {
  same "$(cli -n 3 set only here)" OK && same "$(cli exists only)" 0 &&
    same "$(timeout 20 redis-cli -u "redis://127.0.0.1:$port/3" get only)" here && same "$(cli -n 3 del only)" 1
}
check "-n and -u select a database" databases

users() {
  cli acl setuser reader on '>secret' '~*' +get +ping >/dev/null
  same "$(cli --user reader --pass secret --no-auth-warning get n)" 44 &&
    like "$(cli --user reader --pass secret --no-auth-warning set n 1)" '^NOPERM ' &&
    like "$(cli --user reader --pass wrong --no-auth-warning ping 2>&1)" 'WRONGPASS' &&
    same "$(cli acl deluser reader)" 1
}
check "--user and --pass" users

errors() {
  local out status=0
  like "$(cli nosuch)" "^ERR unknown command 'nosuch'" || return 1
  out=$(cli -e nosuch 2>&1) || status=$?
  like "$out" 'ERR unknown command' && same "$status" 1
}
check "-e makes an error reply the exit status" errors

repetition() { same "$(cli -r 3 -i 0.01 incrby rep 2 | tail -n 1)" 6; }
check "-r repeats with an interval" repetition

evaluation() {
  echo 'return {KEYS[1], ARGV[1], redis.call("incrby", KEYS[2], ARGV[2])}' > "$work/script.lua"
  same "$(cli --eval "$work/script.lua" one ev , a 7)" $'one\na\n7'
}
check "--eval runs a script with keys and arguments" evaluation

mass_insertion() {
  same "$(seq 1 2000 | awk '{ v = "v" $1; k = "mass:" $1
    printf "*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", length(k), k, length(v), v }' |
    cli --pipe | tail -n 1)" 'errors: 0, replies: 2000' && same "$(cli get mass:2000)" v2000
}
check "--pipe inserts 2000 keys" mass_insertion

mass_errors() {
  like "$(printf '*2\r\n$4\r\nLPOP\r\n$1\r\nn\r\n*1\r\n$4\r\nPING\r\n' | cli --pipe 2>&1)" \
    'WRONGTYPE' 'errors: 1, replies: 2'
}
check "--pipe counts errors" mass_errors

scanning() {
  same "$(cli --scan --pattern 'mass:*' | sort -u | wc -l)" 2000 &&
    same "$(cli --scan --pattern 'mass:1?' | sort | wc -l)" 10 &&
    same "$(cli --scan --quoted-pattern '"mass:\x31"')" mass:1
}
check "--scan with patterns" scanning

# fill creates one key of each type; big is the biggest string.
fill() {
  {
    echo "set big $(printf '%01000d' 0)"
    echo "rpush fill:list $(seq -s ' ' 1 40)"
    echo "sadd fill:set $(seq -s ' ' 1 30)"
    echo "zadd fill:zset $(for i in {1..20}; do printf '%d m%d ' "$i" "$i"; done)"
    echo "hset fill:hash $(for i in {1..10}; do printf 'f%d v%d ' "$i" "$i"; done)"
    for i in {1..5}; do echo "xadd fill:stream $i-0 f v"; done
  } | cli >/dev/null
}
fill

big_keys() {
  like "$(cli --bigkeys)" 'Biggest string found .*big.* has 1000 bytes' 'Biggest +list found .*fill:list.* has 40 items' \
    'Biggest +set found .*fill:set.* has 30 members' 'Biggest +zset found .*fill:zset.* has 20 members' \
    'Biggest +hash found .*fill:hash.* has 10 fields' 'Biggest stream found .*fill:stream.* has 5 entries' \
    'Sampled 20[0-9][0-9] keys'
}
check "--bigkeys names the biggest of each type" big_keys

memory_keys() {
  like "$(cli --memkeys)" 'Biggest string found .*big.* has [0-9]+ bytes' 'Biggest +list found .*fill:list' \
    'Biggest +set found .*fill:set' 'Biggest +zset found .*fill:zset' 'Biggest +hash found .*fill:hash' \
    'Biggest stream found .*fill:stream' && like "$(cli --memkeys-samples 0)" 'Biggest stream found'
}
check "--memkeys names the largest of each type" memory_keys

hot_keys() {
  cli config set maxmemory-policy allkeys-lfu >/dev/null
  cli del hot >/dev/null
  cli set hot v >/dev/null
  cli -r 300 get hot >/dev/null
  like "$(cli --hotkeys)" 'hot key found with counter: [0-9]+.*keyname: "hot"'
  local status=$?
  cli config set maxmemory-policy noeviction >/dev/null
  return $status
}
check "--hotkeys counts accesses with an LFU policy" hot_keys

statistics() {
  local out line='^20[0-9]{2} +[0-9.]+[BKMG] +[0-9]+ +0 +[0-9]+ \(\+[0-9]+\) +[0-9]+'
  out=$(live 3 "$line" --stat -i 0.2)
  like "$out" '^keys +mem +clients +blocked +requests +connections' &&
    same "$(($(grep -cE "$line" <<<"$out") >= 3))" 1
}
check "--stat prints keys, memory, clients and requests" statistics

latency() {
  like "$(cli --raw --latency -i 1)" '^[0-9]+ [0-9]+ [0-9.]+ [0-9]+$' &&
    like "$(cli --csv --latency -i 1)" '^[0-9]+,[0-9]+,[0-9.]+,[0-9]+$' &&
    like "$(live 1 '^[0-9]+ [0-9]+ [0-9.]+ [0-9]+' --raw --latency-history -i 1)" '^[0-9]+ [0-9]+ [0-9.]+ [0-9]+'
}
check "--latency and --latency-history" latency

latency_distribution() {
  like "$(live 1 '^From 0 to ' --latency-dist -i 1)" '\. - \* # +\.01 \.125 \.25 \.5 milliseconds' '^From 0 to '
}
check "--latency-dist draws a spectrum" latency_distribution

lru_test() {
  like "$(live 1 'Gets/sec' --lru-test 100)" '[0-9]+ Gets/sec \| Hits: [0-9]+ \([0-9.]+%\) \| Misses'
}
check "--lru-test simulates a cache" lru_test

# await COUNT COMMAND …: the command prints COUNT within ten seconds.
await() {
  local want=$1 n
  shift
  for ((n = 0; n < 200; n++)); do
    [ "$("$@")" != "$want" ] || return 0
    sleep 0.05
  done
  echo "$* is not $want"
  return 1
}

monitoring() {
  (exec_live monitor) > "$work/monitor" 2>&1 &
  local pid=$! status=0
  seen() { grep -c '^OK' "$work/monitor"; }
  await 1 seen && cli -n 2 set 'mon key' $'a"\n' >/dev/null && cli eval 'return redis.call("get", KEYS[1])' 1 mk >/dev/null
  last() { grep -cE '"(ask|end)"' "$work/monitor"; }
  cli echo end >/dev/null && await 1 last
  kill $pid; wait $pid
  like "$(cat "$work/monitor")" '^[0-9]+\.[0-9]{6} \[2 127.0.0.1:[0-9]+\] "set" "mon key" "a\\"\\n"$' \
    '\[0 127.0.0.1:[0-9]+\] "eval" "return redis' '\[0 lua\] "get" "mk"$' || status=1
  return $status
}
check "MONITOR prints commands with client and database" monitoring

subscriptions() {
  (exec_live --csv psubscribe 'news.*') > "$work/sub" &
  local pid=$!
  await 1 cli pubsub numpat && cli publish news.a hello >/dev/null
  got() { wc -l < "$work/sub"; }
  await 3 got # the first line says how to end
  kill $pid; wait $pid
  same "$(tail -n 2 "$work/sub")" $'"psubscribe","news.*",1\n"pmessage","news.*","news.a","hello"'
}
check "PSUBSCRIBE prints messages" subscriptions

blocking() {
  cli blpop queue 15 > "$work/pop" &
  local pid=$!
  blocked() { cli info clients | tr -d '\r' | grep '^blocked_clients'; }
  await blocked_clients:1 blocked && cli rpush queue job >/dev/null
  wait $pid
  same "$(cat "$work/pop")" $'queue\njob'
}
check "BLPOP waits for an element" blocking

information() {
  like "$(cli info | tr -d '\r')" '^# Server' '^redis_version:7\.0\.15$' '^# Keyspace' '^db0:keys=[0-9]+,expires=' &&
    like "$(cli --no-raw client list)" 'addr=127.0.0.1:[0-9]+ ' &&
    like "$(cli command count)" '^[0-9]{3}$' && like "$(cli -3 --json command docs get)" '"get":\{"summary":"'
}
check "INFO, CLIENT LIST and COMMAND DOCS" information

hello() { like "$(cli -3 --json hello 3)" '"server":"redis"' '"version":"7\.0\.15"' '"proto":3' '"mode":"standalone"'; }
check "HELLO 3 names a standalone Redis 7.0.15" hello

files() {
  cli set k v >/dev/null && cli --rdb "$work/all.rdb" >/dev/null 2>&1 &&
    cli --functions-rdb "$work/functions.rdb" >/dev/null 2>&1 &&
    same "$(head -c 5 "$work/all.rdb")$(head -c 5 "$work/functions.rdb")" REDISREDIS &&
    [ "$(wc -c < "$work/all.rdb")" -gt "$(wc -c < "$work/functions.rdb")" ]
}
check "--rdb and --functions-rdb write files" files

replica() {
  following() { cli info replication | tr -d '\r' | grep '^slave0:.*state=online' | wc -l; }
  exec_live --replica > "$work/stream" 2>&1 &
  local pid=$!
  await 1 following && cli set told yes >/dev/null
  streamed() { grep -c '"set","told","yes"' "$work/stream"; }
  await 1 streamed
  kill $pid; wait $pid
  like "$(cat "$work/stream")" '"set","told","yes"'
}
check "--replica prints the stream" replica

say skip "--ldb" "needs the Lua debugger, which lockredis does not have"
