# The checks of redis-benchmark. run sources this file.
client=redis-benchmark

rate='[0-9.]+ requests per second, p50=[0-9.]+ msec'

benchmark() { timeout 60 redis-benchmark -p "$port" "$@" 2>&1 | tr '\r' '\n'; }

benchmark -q -n 500 -c 20 > "$work/default"
for name in PING_INLINE PING_MBULK SET GET INCR LPUSH RPUSH LPOP RPOP SADD HSET SPOP ZADD ZPOPMIN \
  'LPUSH (needed to benchmark LRANGE)' 'LRANGE_100 (first 100 elements)' 'LRANGE_300 (first 300 elements)' \
  'LRANGE_500 (first 500 elements)' 'LRANGE_600 (first 600 elements)' 'MSET (10 keys)'; do
  measured() { like "$(grep -F "$name: " "$work/default")" "$rate"; }
  check "the default run measures $name" measured
done

no_errors() { same "$(grep -ciE 'error|warning' "$work/default")" 0 || cat "$work/default"; }
check "the default run prints no error" no_errors

measures() { # arguments: of redis-benchmark
  like "$(benchmark -q -n 1000 "$@" | grep -v 'overall:')" "$rate"
}
pipelining() { measures -P 16 -t set,get -r 1000 -d 100; }
check "-P 16 with random keys" pipelining
threads() { measures --threads 2 -t set -c 10; }
check "--threads 2" threads
resp3() { measures -3 -t get -c 5; }
check "-3 speaks RESP3" resp3
reconnecting() { measures -k 0 -t ping_mbulk -c 5; }
check "-k 0 connects for each request" reconnecting
database() { measures --dbnum 4 -r 10 -t set && like "$(cli -n 4 dbsize)" '^([1-9]|10)$'; }
check "--dbnum selects a database" database
tracking() { measures --enable-tracking -t get -c 5; }
check "--enable-tracking" tracking
scripts() { measures eval 'return redis.call("incr", KEYS[1])' 1 counter && same "$(cli get counter)" 1000; }
check "any command: EVAL" scripts
from_stdin() { printf value | measures -x set from-stdin && same "$(cli get from-stdin)" value; }
check "-x takes the last argument from standard input" from_stdin
csv() { like "$(benchmark -n 500 --csv -t set)" '^"test","rps",' '^"SET","[0-9.]+",'; }
check "--csv" csv
histogram() { like "$(benchmark -n 500 -t get)" 'Latency by percentile distribution' '100\.000% <=' 'host configuration "save":'; }
check "the long report with CONFIG GET" histogram
refused() { like "$(benchmark -q -n 10 nosuch)" "Error from server: ERR unknown command 'nosuch'"; }
check "an error reply ends the run" refused
