package growth

import "strings"

// group is a set of cases that share their data.
type group struct {
	name         string
	small, large int
	fill         []string
	cases        []testCase
}

// testCase is a list of command lines, see expand. The commands in its name, up to a
// colon, are timed, and the commands in also.
type testCase struct {
	name  string
	lines []string
	also  string
	// takesOver means that redis-server stores the argument that it has read. Reading is not
	// timed, so the case cannot be compared.
	takesOver bool
}

// c returns a case of some lines. A case without lines is its own name as a line.
func c(name string, lines ...string) testCase { return testCase{name: name, lines: lines} }

// with adds a command whose time counts too.
func (c testCase) with(command string) testCase {
	c.also = command
	return c
}

// takingOver sets takesOver.
func (c testCase) takingOver() testCase {
	c.takesOver = true
	return c
}

// commands returns the names of the timed commands.
func (c testCase) commands() []string {
	name, _, _ := strings.Cut(c.name, ":")
	names := []string{strings.ReplaceAll(strings.ToLower(name), " ", "|")}
	if c.also != "" {
		names = append(names, c.also)
	}
	return names
}

const (
	thousand = 1_000
	million  = 1_000_000
)

// groups returns every case. After a line that changes the data, another line restores
// it.
func groups() []group {
	return []group{
		hashes(), lists(), sets(), sortedSets(), streams(), pendingEntries(), stringsOfBytes(),
		bitmaps(), hyperLogLogs(), places(), subsequences(), keys(),
		deadlines(),
		emptying(),
		manyArguments(), watching(), watchedByOthers(), channels(), patterns(), subscribers(), waiters(),
		waitersInLine(),
		wideWaiters(), connections(), scripts(),
		slowLogs(), latencyEvents(), refusals(), trackedKeys(), trackedPrefixes(), monitors(),
	}
}

func hashes() group {
	return group{"a hash of n fields", thousand, million,
		[]string{"HSET h f{i} v{i}", "HSET h count 1"}, append([]testCase{
			c("HGET", "HGET h f{i}"),
			c("HGET: missing", "HGET h g{i}"),
			c("HMGET: 3 fields", "HMGET h f{i} f{mid} g"),
			c("HEXISTS", "HEXISTS h f{i}"),
			c("HSTRLEN", "HSTRLEN h f{i}"),
			c("HLEN", "HLEN h"),
			c("HSET: there", "HSET h f{i} v{i}"),
			c("HSET: new", "HSET h g{new} v", "HDEL h g{new}"),
			c("HMSET", "HMSET h f{i} v{i}"),
			c("HSETNX", "HSETNX h f{i} v{i}"),
			c("HDEL", "HDEL h f{i}", "HSET h f{i} v{i}"),
			c("HINCRBY", "HINCRBY h count 1"),
			c("HINCRBYFLOAT", "HINCRBYFLOAT h count 1"),
			c("HGETALL", "HGETALL h"),
			c("HKEYS", "HKEYS h"),
			c("HVALS", "HVALS h"),
			c("HRANDFIELD", "HRANDFIELD h"),
			c("HRANDFIELD: 10", "HRANDFIELD h 10"),
			c("HRANDFIELD: -10 WITHVALUES", "HRANDFIELD h -10 WITHVALUES"),
			c("HRANDFIELD: n/2", "HRANDFIELD h {mid}"),
			c("HSCAN", "HSCAN h 0"),
			c("HSCAN: MATCH", "HSCAN h 0 MATCH f1* COUNT 100"),
		}, whole("h")...)}
}

// whole returns cases for a whole value of any type.
func whole(key string) []testCase {
	return []testCase{
		c("COPY: to a new key", "COPY "+key+" tmp", "UNLINK tmp"),
		c("DEL: it", "COPY "+key+" tmp", "DEL tmp"),
		c("UNLINK: it", "COPY "+key+" tmp", "UNLINK tmp"),
		c("RENAME: it", "RENAME "+key+" tmp", "RENAME tmp "+key),
		c("EXPIRE: it", "EXPIRE "+key+" 100000", "PERSIST "+key),
		c("TYPE: it", "TYPE "+key),
		c("DUMP: it", "DUMP "+key),
		c("OBJECT ENCODING: it", "OBJECT ENCODING "+key),
		c("MEMORY USAGE: it", "MEMORY USAGE "+key),
	}
}

func lists() group {
	return group{"a list of n elements", thousand, million, []string{"RPUSH l {i}"}, append([]testCase{
		c("LPUSH", "LPUSH l x", "LPOP l"),
		c("RPUSH", "RPUSH l x", "RPOP l"),
		c("LPUSHX", "LPUSHX l x", "LPOP l"),
		c("RPUSHX", "RPUSHX l x", "RPOP l"),
		c("LPOP", "LPOP l", "LPUSH l 0"),
		c("RPOP", "RPOP l", "RPUSH l {last}"),
		c("LPOP: all", "COPY l tmp", "LPOP tmp {n}"),
		c("LMPOP", "LMPOP 1 l LEFT", "LPUSH l 0"),
		c("LMOVE", "LMOVE l l LEFT RIGHT", "LMOVE l l RIGHT LEFT"),
		c("RPOPLPUSH", "RPOPLPUSH l l", "LMOVE l l LEFT RIGHT"),
		c("BLPOP: at once", "BLPOP l 0", "LPUSH l 0"),
		c("BRPOP: at once", "BRPOP l 0", "RPUSH l {last}"),
		c("BLMPOP: at once", "BLMPOP 0 1 l LEFT", "LPUSH l 0"),
		c("BLMOVE: at once", "BLMOVE l l LEFT RIGHT 0", "BLMOVE l l RIGHT LEFT 0"),
		c("BRPOPLPUSH: at once", "BRPOPLPUSH l l 0", "LMOVE l l LEFT RIGHT"),
		c("LLEN", "LLEN l"),
		c("LINDEX: start", "LINDEX l 0"),
		c("LINDEX: middle", "LINDEX l {mid}"),
		c("LINDEX: end", "LINDEX l -1"),
		c("LSET: start", "LSET l 0 0"),
		c("LSET: middle", "LSET l {mid} {mid}"),
		c("LSET: end", "LSET l -1 {last}"),
		c("LINSERT: start", "LINSERT l BEFORE 1 x", "LREM l 1 x"),
		c("LINSERT: middle", "LINSERT l BEFORE {mid} x", "LREM l 1 x"),
		c("LREM: start", "LREM l 1 0", "LPUSH l 0"),
		c("LREM: middle", "LREM l 1 {mid}", "LINSERT l BEFORE {mid+1} {mid}"),
		c("LREM: end", "LREM l -1 {last}", "RPUSH l {last}"),
		c("LREM: nothing", "LREM l 0 x"),
		c("LPOS: start", "LPOS l 0"),
		c("LPOS: middle", "LPOS l {mid}"),
		c("LPOS: end", "LPOS l {last} RANK -1"),
		c("LRANGE: start", "LRANGE l 0 9"),
		c("LRANGE: middle", "LRANGE l {mid} {mid+9}"),
		c("LRANGE: end", "LRANGE l -10 -1"),
		c("LRANGE: all", "LRANGE l 0 -1"),
		c("LTRIM: one off", "LTRIM l 1 -1", "LPUSH l 0"),
		c("SORT: a list", "SORT l DESC"),
		c("SORT: LIMIT", "SORT l LIMIT 0 10"),
		c("SORT: ALPHA", "SORT l ALPHA"),
		c("SORT: BY LIMIT", "SORT l BY w* LIMIT 0 10"),
		c("SORT: BY nosort LIMIT", "SORT l BY nosort LIMIT 0 10"),
		c("SORT_RO", "SORT_RO l DESC"),
	}, whole("l")...)}
}

func sets() group {
	fill := []string{"SADD s m{i}", "SADD half m{i+mid}", "SADD tiny m{mid} x y z", "SADD p m{i}"}
	return group{"a set of n members", thousand, million, fill, append([]testCase{
		c("SADD: there", "SADD s m{i}"),
		c("SADD: new", "SADD s x{new}", "SREM s x{new}"),
		c("SREM", "SREM s m{i}", "SADD s m{i}"),
		c("SMOVE", "SMOVE s tiny m{mid+1}", "SMOVE tiny s m{mid+1}"),
		c("SCARD", "SCARD s"),
		c("SISMEMBER", "SISMEMBER s m{i}"),
		c("SMISMEMBER", "SMISMEMBER s m{i} m{mid} x"),
		c("SMEMBERS", "SMEMBERS s"),
		c("SPOP", "SPOP p", "SADD p x{new}"),
		c("SPOP: 3", "SPOP p 3", "SADD p x{new} y{new} z{new}"),
		c("SPOP: n/2", "COPY s tmp", "SPOP tmp {mid}", "DEL tmp"),
		c("SRANDMEMBER", "SRANDMEMBER s"),
		c("SRANDMEMBER: 10", "SRANDMEMBER s 10"),
		c("SRANDMEMBER: -10", "SRANDMEMBER s -10"),
		c("SRANDMEMBER: n/2", "SRANDMEMBER s {mid}"),
		c("SSCAN", "SSCAN s 0"),
		c("SINTER: with 4", "SINTER s tiny"),
		c("SINTER: with n", "SINTER s half"),
		c("SINTERCARD", "SINTERCARD 2 s half"),
		c("SINTERCARD: LIMIT", "SINTERCARD 2 s p LIMIT 10"),
		c("SINTERSTORE", "SINTERSTORE tmp s half", "DEL tmp"),
		c("SUNION", "SUNION s half"),
		c("SUNIONSTORE", "SUNIONSTORE tmp s half", "DEL tmp"),
		c("SDIFF: 4 less n", "SDIFF tiny s"),
		c("SDIFF: n less 4", "SDIFF s tiny"),
		c("SDIFF: n less n", "SDIFF s half"),
		c("SDIFFSTORE", "SDIFFSTORE tmp s half", "DEL tmp"),
		c("SORT: a set", "SORT s ALPHA"),
	}, whole("s")...)}
}

func sortedSets() group {
	fill := []string{"ZADD z {i} m{i:7}", "ZADD half {i} m{i+mid:7}", "ZADD lex 0 m{i:7}",
		"ZADD tiny 1 m{mid:7} 2 x 3 y"}
	return group{"a sorted set of n members", thousand, million, fill, append([]testCase{
		c("ZADD: the same score", "ZADD z {i} m{i:7}"),
		c("ZADD: another score", "ZADD z {mid} m{i:7}", "ZADD z {i} m{i:7}"),
		c("ZADD: new, end", "ZADD z {n+new} x", "ZREM z x"),
		c("ZADD: new, start", "ZADD z -1 x", "ZREM z x"),
		c("ZADD: new, middle", "ZADD z {i} x", "ZREM z x"),
		c("ZINCRBY", "ZINCRBY z 0.5 m{i:7}", "ZINCRBY z -0.5 m{i:7}"),
		c("ZREM", "ZREM z m{i:7}", "ZADD z {i} m{i:7}"),
		c("ZSCORE", "ZSCORE z m{i:7}"),
		c("ZMSCORE", "ZMSCORE z m{i:7} m{mid:7} x"),
		c("ZCARD", "ZCARD z"),
		c("ZRANK", "ZRANK z m{i:7}"),
		c("ZREVRANK", "ZREVRANK z m{i:7}"),
		c("ZCOUNT", "ZCOUNT z {i} +inf"),
		c("ZLEXCOUNT", "ZLEXCOUNT lex [m{i:7} +"),
		c("ZRANGE: start", "ZRANGE z 0 9"),
		c("ZRANGE: middle", "ZRANGE z {mid} {mid+9}"),
		c("ZRANGE: end", "ZRANGE z -10 -1"),
		c("ZRANGE: all", "ZRANGE z 0 -1"),
		c("ZRANGE: all WITHSCORES", "ZRANGE z 0 -1 WITHSCORES"),
		c("ZRANGE: BYSCORE REV", "ZRANGE z {i+9} {i} BYSCORE REV"),
		c("ZRANGE: BYLEX", "ZRANGE lex [m{i:7} + BYLEX LIMIT 0 10"),
		c("ZREVRANGE", "ZREVRANGE z {mid} {mid+9}"),
		c("ZRANGEBYSCORE", "ZRANGEBYSCORE z {i} {i+9}"),
		c("ZRANGEBYSCORE: LIMIT", "ZRANGEBYSCORE z -inf +inf LIMIT 10 10"),
		c("ZRANGEBYSCORE: LIMIT n/2", "ZRANGEBYSCORE z -inf +inf LIMIT {mid} 10"),
		c("ZREVRANGEBYSCORE", "ZREVRANGEBYSCORE z {i+9} {i}"),
		c("ZRANGEBYLEX", "ZRANGEBYLEX lex [m{i:7} [m{i+9:7}"),
		c("ZREVRANGEBYLEX", "ZREVRANGEBYLEX lex [m{i+9:7} [m{i:7}"),
		c("ZRANGESTORE", "ZRANGESTORE tmp z {mid} {mid+9}", "DEL tmp"),
		c("ZRANGESTORE: all", "ZRANGESTORE tmp z 0 -1", "DEL tmp"),
		c("ZREMRANGEBYRANK", "ZREMRANGEBYRANK z {mid} {mid}", "ZADD z {mid} m{mid:7}"),
		c("ZREMRANGEBYSCORE", "ZREMRANGEBYSCORE z {mid} {mid}", "ZADD z {mid} m{mid:7}"),
		c("ZREMRANGEBYLEX", "ZREMRANGEBYLEX lex [m{mid:7} [m{mid:7}", "ZADD lex 0 m{mid:7}"),
		c("ZREMRANGEBYRANK: n/2", "COPY z tmp", "ZREMRANGEBYRANK tmp 0 {mid}", "DEL tmp"),
		c("ZPOPMIN", "ZPOPMIN z", "ZADD z 0 m{0:7}"),
		c("ZPOPMAX", "ZPOPMAX z", "ZADD z {last} m{last:7}"),
		c("ZPOPMIN: n/2", "COPY z tmp", "ZPOPMIN tmp {mid}", "DEL tmp"),
		c("ZMPOP", "ZMPOP 1 z MIN", "ZADD z 0 m{0:7}"),
		c("BZPOPMIN: at once", "BZPOPMIN z 0", "ZADD z 0 m{0:7}"),
		c("BZPOPMAX: at once", "BZPOPMAX z 0", "ZADD z {last} m{last:7}"),
		c("BZMPOP: at once", "BZMPOP 0 1 z MIN", "ZADD z 0 m{0:7}"),
		c("ZRANDMEMBER", "ZRANDMEMBER z"),
		c("ZRANDMEMBER: 10", "ZRANDMEMBER z 10"),
		c("ZRANDMEMBER: -10 WITHSCORES", "ZRANDMEMBER z -10 WITHSCORES"),
		c("ZRANDMEMBER: n/2", "ZRANDMEMBER z {mid}"),
		c("ZSCAN", "ZSCAN z 0"),
		c("ZINTER: with 3", "ZINTER 2 z tiny"),
		c("ZINTER: with n", "ZINTER 2 z half"),
		c("ZINTERCARD", "ZINTERCARD 2 z half"),
		c("ZINTERCARD: LIMIT", "ZINTERCARD 2 z lex LIMIT 10"),
		c("ZINTERSTORE", "ZINTERSTORE tmp 2 z half", "DEL tmp"),
		c("ZUNION", "ZUNION 2 z half"),
		c("ZUNIONSTORE", "ZUNIONSTORE tmp 2 z half", "DEL tmp"),
		c("ZDIFF: 3 less n", "ZDIFF 2 tiny z"),
		c("ZDIFF: n less n", "ZDIFF 2 z half"),
		c("ZDIFFSTORE", "ZDIFFSTORE tmp 2 z half", "DEL tmp"),
		c("SORT: a sorted set", "SORT z ALPHA"),
		c("SORT: a sorted set, nosort LIMIT", "SORT z BY nosort LIMIT 0 10"),
	}, whole("z")...)}
}

func stringsOfBytes() group {
	return group{"a string of n bytes", thousand, million, []string{"SET s {bytes}"},
		append([]testCase{
			c("GET", "GET s"),
			c("SET: n bytes", "SET tmp {bytes}").takingOver(),
			c("SET: GET", "SET s {bytes} GET").takingOver(),
			c("GETSET", "GETSET s {bytes}").takingOver(),
			c("GETDEL", "COPY s tmp", "GETDEL tmp"),
			c("GETEX", "GETEX s"),
			c("SETEX", "SETEX tmp 1000 {bytes}").takingOver(),
			c("PSETEX", "PSETEX tmp 1000000 {bytes}").takingOver(),
			c("STRLEN", "STRLEN s"),
			c("GETRANGE: start", "GETRANGE s 0 9"),
			c("GETRANGE: middle", "GETRANGE s {mid} {mid+9}"),
			c("GETRANGE: end", "GETRANGE s -10 -1"),
			c("SUBSTR", "SUBSTR s {mid} {mid+9}"),
			c("SETRANGE: middle", "SETRANGE s {mid} x"),
			c("SETRANGE: a byte more", "SETRANGE s {n+round} x"),
			c("APPEND", "APPEND s x"),
		}, whole("s")...)}
}

func bitmaps() group {
	return group{"bitmaps of n bytes", thousand, million,
		[]string{"SET s {bytes}", "SET t {bytes}", "SETRANGE zeros {n} x"},
		[]testCase{
			c("SETBIT: middle", "SETBIT s {mid} 1", "SETBIT s {mid} 0"),
			c("SETBIT: a byte more", "SETBIT s {n+round}0 1"),
			c("GETBIT", "GETBIT s {mid}"),
			c("BITCOUNT", "BITCOUNT s"),
			c("BITCOUNT: 10 bytes", "BITCOUNT s {mid} {mid+9}"),
			c("BITPOS: all", "BITPOS zeros 1"),
			c("BITFIELD", "BITFIELD s INCRBY i64 {mid} 1 GET u8 #1"),
			c("BITFIELD_RO", "BITFIELD_RO s GET i64 {mid}"),
			c("BITOP: AND", "BITOP AND tmp s t", "DEL tmp"),
			c("BITOP: OR", "BITOP OR tmp s t", "DEL tmp"),
			c("BITOP: XOR", "BITOP XOR tmp s t", "DEL tmp"),
			c("BITOP: NOT", "BITOP NOT tmp s", "DEL tmp"),
		}}
}

func hyperLogLogs() group {
	return group{"a HyperLogLog of n elements", thousand, million,
		[]string{"PFADD h {i}", "PFADD other x{i}"}, []testCase{
			c("PFADD: there", "PFADD h {i}"),
			c("PFADD: new", "PFADD h x{new}"),
			c("PFADD: few, sparse", "PFADD sparse {i}", "UNLINK sparse"),
			c("PFCOUNT: cached", "PFCOUNT other"),
			c("PFCOUNT: 2 keys", "PFCOUNT h other"),
			c("PFMERGE", "PFMERGE tmp h other", "UNLINK tmp"),
			c("PFDEBUG: GETREG", "PFDEBUG GETREG h"),
		}}
}

// places returns the cases of geo commands. The scores make a grid of places.
func places() group {
	return group{"a set of n places", thousand, million, []string{"ZADD g 2{i:6}000000000 m{i}"}, []testCase{
		c("GEOADD: new", "GEOADD g 10 10 x{new}", "ZREM g x{new}"),
		c("GEOPOS", "GEOPOS g m{i}"),
		c("GEOHASH", "GEOHASH g m{i}"),
		c("GEODIST", "GEODIST g m{i} m{mid}"),
		c("GEOSEARCH: around", "GEOSEARCH g FROMMEMBER m{i} BYRADIUS 100 km"),
		c("GEOSEARCH: a box", "GEOSEARCH g FROMMEMBER m{i} BYBOX 200 100 km ASC WITHDIST"),
		c("GEOSEARCH: COUNT ANY", "GEOSEARCH g FROMMEMBER m{i} BYRADIUS 30000 km COUNT 10 ANY"),
		c("GEOSEARCH: COUNT", "GEOSEARCH g FROMMEMBER m{i} BYRADIUS 30000 km COUNT 10"),
		c("GEOSEARCH: all", "GEOSEARCH g FROMMEMBER m{i} BYRADIUS 30000 km"),
		c("GEOSEARCHSTORE", "GEOSEARCHSTORE tmp g FROMMEMBER m{i} BYRADIUS 100 km", "UNLINK tmp"),
		c("GEORADIUS", "GEORADIUS g 10 10 100 km"),
		c("GEORADIUS_RO", "GEORADIUS_RO g 10 10 100 km"),
		c("GEORADIUSBYMEMBER", "GEORADIUSBYMEMBER g m{i} 100 km"),
		c("GEORADIUSBYMEMBER_RO", "GEORADIUSBYMEMBER_RO g m{i} 100 km"),
	}}
}

func subsequences() group {
	return group{"two strings of n bytes", 100, thousand, []string{"SET s {bytes}", "SET t {bytes}"},
		[]testCase{
			c("LCS", "LCS s t"),
			c("LCS: IDX", "LCS s t IDX"),
		}}
}

func keys() group {
	return group{"n keys", thousand, million, []string{"SET key:{i} {i}"}, []testCase{
		c("GET: a key", "GET key:{i}"),
		c("GET: missing", "GET k{i}"),
		c("SET: there", "SET key:{i} {i}"),
		c("SET: new", "SET k{new} v", "DEL k{new}"),
		c("SETNX", "SETNX k{new} v", "DEL k{new}"),
		c("MGET: 3 keys", "MGET key:{i} key:{mid} k"),
		c("MSET: 3 keys", "MSET key:{i} {i} key:{mid} {mid} key:{last} {last}"),
		c("MSETNX", "MSETNX k{new} v", "DEL k{new}"),
		c("INCR", "INCR key:{i}", "DECR key:{i}"),
		c("DECR", "DECR key:{i}", "INCR key:{i}"),
		c("INCRBY", "INCRBY key:{i} 5", "DECRBY key:{i} 5"),
		c("DECRBY", "DECRBY key:{i} 5", "INCRBY key:{i} 5"),
		c("INCRBYFLOAT", "INCRBYFLOAT key:{i} 0.5", "SET key:{i} {i}"),
		c("DEL", "DEL key:{i}", "SET key:{i} {i}"),
		c("UNLINK", "UNLINK key:{i}", "SET key:{i} {i}"),
		c("EXISTS", "EXISTS key:{i}"),
		c("TOUCH", "TOUCH key:{i}"),
		c("TYPE", "TYPE key:{i}"),
		c("TTL: none", "TTL key:{i}"),
		c("EXPIRE: the only deadline", "EXPIRE key:{i} 1000", "PERSIST key:{i}"),
		c("RENAME", "RENAME key:{i} k{new}", "RENAME k{new} key:{i}"),
		c("RENAMENX", "RENAMENX key:{i} k{new}", "RENAMENX k{new} key:{i}"),
		c("COPY", "COPY key:{i} k{new}", "DEL k{new}"),
		c("MOVE", "MOVE key:{i} 1", "SELECT 1", "MOVE key:{i} 0", "SELECT 0"),
		c("OBJECT ENCODING", "OBJECT ENCODING key:{i}"),
		c("OBJECT IDLETIME", "OBJECT IDLETIME key:{i}"),
		c("OBJECT REFCOUNT", "OBJECT REFCOUNT key:{i}"),
		c("MEMORY USAGE", "MEMORY USAGE key:{i}"),
		c("RANDOMKEY", "RANDOMKEY"),
		c("DBSIZE", "DBSIZE"),
		c("INFO: keyspace", "INFO keyspace"),
		c("SCAN", "SCAN 0"),
		c("SCAN: COUNT 1000", "SCAN 0 COUNT 1000"),
		c("SCAN: MATCH TYPE", "SCAN 0 MATCH key:1* TYPE string COUNT 100"),
		c("KEYS: all", "KEYS *"),
		c("KEYS: a pattern", "KEYS *:123*"),
		c("SWAPDB", "SWAPDB 0 1", "SWAPDB 0 1"),
		c("EVAL: a script of 3 calls", "EVAL redis.call('set',KEYS[1],ARGV[1]);redis.call('pexpire',KEYS[1],1e5);return~redis.call('persist',KEYS[1]) 1 key:{i} {i}"),
		c("EVAL_RO", "EVAL_RO return~redis.call('get',KEYS[1]) 1 key:{i}"),
		c("EXEC: a SET", "MULTI", "SET key:{i} {i}", "EXEC"),
		c("WATCH", "WATCH key:{i}", "UNWATCH"),
	}}
}

func deadlines() group {
	return group{"n keys with deadlines", thousand, million,
		[]string{"SET key:{i} {i} EX {i+100000}"}, []testCase{
			c("SET: PX, the latest", "SET k{new} v PX {n+n+200000}000", "DEL k{new}"),
			c("SET: PX, the earliest", "SET k{new} v PX 90000", "DEL k{new}"),
			c("EXPIRE: the latest", "EXPIRE key:{i} {n+n+200000}", "EXPIRE key:{i} {i+100000}"),
			c("EXPIRE: the earliest", "EXPIRE key:{i} 90000", "EXPIRE key:{i} {i+100000}"),
			c("PEXPIRE", "PEXPIRE key:{i} {i+100000}000"),
			c("EXPIREAT", "EXPIREAT key:{i} 4000000000", "EXPIRE key:{i} {i+100000}"),
			c("PEXPIREAT", "PEXPIREAT key:{i} 4000000000000", "EXPIRE key:{i} {i+100000}"),
			c("PERSIST", "PERSIST key:{i}", "EXPIRE key:{i} {i+100000}"),
			c("TTL", "TTL key:{i}"),
			c("PTTL", "PTTL key:{i}"),
			c("EXPIRETIME", "EXPIRETIME key:{i}"),
			c("PEXPIRETIME", "PEXPIRETIME key:{i}"),
			c("GETEX: EX", "GETEX key:{i} EX {i+100000}"),
			c("DEL: with a deadline", "DEL key:{i}", "SET key:{i} {i} EX {i+100000}"),
			c("SWAPDB: deadlines", "SWAPDB 0 1", "SWAPDB 0 1"),
			c("KEYS: with deadlines", "KEYS *"),
		}}
}

func emptying() group {
	return group{"a database of n keys", thousand, million / 2, nil, []testCase{
		c("FLUSHDB", "MSET {key:*,v}", "FLUSHDB"),
		c("FLUSHALL", "MSET {key:*,v}", "FLUSHALL"),
		c("DEL: n keys", "MSET {key:*,v}", "DEL {key:*}"),
		c("UNLINK: n keys", "MSET {key:*,v}", "UNLINK {key:*}"),
	}}
}

func manyArguments() group {
	return group{"n arguments", thousand, million / 2, []string{"MSET {key:*,v}", "SADD s x"},
		[]testCase{
			c("MGET: n keys", "MGET {key:*}"),
			c("MSET: n keys", "MSET {key:*,v}"),
			c("EXISTS: n keys", "EXISTS {key:*}"),
			c("TOUCH: n keys", "TOUCH {key:*}"),
			c("RPUSH: n elements", "RPUSH tmp {e*}", "DEL tmp"),
			c("LPUSH: n elements", "LPUSH tmp {e*}", "DEL tmp"),
			c("HSET: n fields", "HSET tmp {f*,v}", "DEL tmp"),
			c("HMGET: n fields", "HMGET tmp {f*}"),
			c("HDEL: n fields", "HSET tmp {f*,v}", "HDEL tmp {f*}"),
			c("SADD: n members", "SADD tmp {m*}", "DEL tmp"),
			c("SREM: n members", "SADD tmp {m*}", "SREM tmp {m*}"),
			c("ZADD: n members", "ZADD tmp {*,m*}", "DEL tmp"),
			c("ZREM: n members", "ZADD tmp {*,m*}", "ZREM tmp {m*}"),
			c("SINTERCARD: n keys", "SINTERCARD {n} {s*}"),
			c("SUNION: n keys", "SUNION {s*}"),
			c("SDIFF: n keys", "SDIFF s {s*}"),
			c("ZUNION: n keys", "ZUNION {n} {s*}"),
			c("EVAL: n arguments", "EVAL return~#ARGV 0 {a*}"),
			c("EVAL: n keys", "EVAL return~#KEYS {n} {a*}"),
		}}
}

func watching() group {
	return group{"n watched keys", 100, 10_000, nil, []testCase{
		c("WATCH: n keys", "WATCH {key:*}", "UNWATCH"),
		c("UNWATCH: n keys", "WATCH {key:*}", "UNWATCH"),
		c("EXEC: with n watched keys", "WATCH {key:*}", "MULTI", "EXEC"),
		c("DISCARD: with n watched keys", "WATCH {key:*}", "MULTI", "DISCARD"),
	}}
}

func watchedByOthers() group {
	return group{"n keys watched by another", 100, 10_000, []string{"@1 WATCH {key:*}"}, []testCase{
		c("SWAPDB: watched keys", "SWAPDB 0 1", "SWAPDB 0 1"),
		c("SET: another key", "SET k v"),
		// The last case, because redis-server unwatches the other clients at once.
		c("SET: a watched key", "SET key:{i} v"),
	}}
}

func channels() group {
	return group{"n channels", 1000, 100_000, []string{"@1 SUBSCRIBE {ch:*}", "@2 SSUBSCRIBE {ch:*}"},
		[]testCase{
			c("PUBLISH", "PUBLISH ch:{i} hello"),
			c("PUBLISH: to nobody", "PUBLISH c:{i} hello"),
			c("SPUBLISH", "SPUBLISH ch:{i} hello"),
			c("SUBSCRIBE", "@3 SUBSCRIBE ch:{i}", "@3 UNSUBSCRIBE ch:{i}"),
			c("UNSUBSCRIBE", "@3 SUBSCRIBE ch:{i}", "@3 UNSUBSCRIBE ch:{i}"),
			c("UNSUBSCRIBE: n channels", "@4 SUBSCRIBE {ch:*}", "@4 UNSUBSCRIBE"),
			c("SUNSUBSCRIBE: n channels", "@4 SSUBSCRIBE {ch:*}", "@4 SUNSUBSCRIBE"),
			c("SSUBSCRIBE", "@3 SSUBSCRIBE ch:{i}", "@3 SUNSUBSCRIBE ch:{i}"),
			c("PUBSUB NUMSUB", "PUBSUB NUMSUB ch:{i}"),
			c("PUBSUB CHANNELS", "PUBSUB CHANNELS"),
			c("PUBSUB SHARDCHANNELS", "PUBSUB SHARDCHANNELS ch:1*"),
		}}
}

func patterns() group {
	return group{"n patterns", 100, 10_000, []string{"@1 PSUBSCRIBE {p:*}"}, []testCase{
		c("PUBLISH: beside n patterns", "PUBLISH ch hello"),
		c("PSUBSCRIBE", "@3 PSUBSCRIBE q:{i}", "@3 PUNSUBSCRIBE q:{i}"),
		c("PUNSUBSCRIBE", "@3 PSUBSCRIBE q:{i}", "@3 PUNSUBSCRIBE q:{i}"),
		c("PUNSUBSCRIBE: n patterns", "@4 PSUBSCRIBE {q:*}", "@4 PUNSUBSCRIBE"),
		c("PUBSUB NUMPAT", "PUBSUB NUMPAT"),
	}}
}

func subscribers() group {
	return group{"n subscribers of a channel", 10, thousand, []string{"@{i+1} SUBSCRIBE ch"},
		[]testCase{
			c("PUBLISH: to n", "PUBLISH ch hello"),
			c("PUBLISH: beside n", "PUBLISH other hello"),
			c("UNSUBSCRIBE: one of n", "@{i+1} UNSUBSCRIBE ch", "@{i+1} SUBSCRIBE ch"),
		}}
}

func waiters() group {
	return group{"n clients that wait for other keys", 10, thousand, []string{"@{i+1} BLPOP q:{i} 0"},
		[]testCase{
			c("LPUSH: served to a client", "@{n+1} BLPOP q 0", "LPUSH q x").with("blpop"),
			c("ZADD: served to a client", "@{n+1} BZPOPMIN z 0", "ZADD z 1 x").with("bzpopmin"),
			c("RPUSH: moved for a client", "@{n+1} BLMOVE q d LEFT RIGHT 0", "RPUSH q x",
				"DEL d").with("blmove"),
			c("LPUSH: nobody waits", "LPUSH l x", "LPOP l"),
			c("SWAPDB: clients wait", "SWAPDB 0 1", "SWAPDB 0 1"),
		}}
}

func waitersInLine() group {
	return group{"n clients that wait for a key", 10, thousand, []string{"@{i+1} BLPOP q 0"},
		[]testCase{
			c("LPUSH: served to the first", "LPUSH q x", "@{turn+1} BLPOP q 0").with("blpop"),
		}}
}

func wideWaiters() group {
	return group{"a client that waits for n keys", 100, 10_000, nil, []testCase{
		c("LPUSH: served to it", "@1 BLPOP {q:*} 0", "LPUSH q:{i} x").with("blpop"),
	}}
}

func connections() group {
	return group{"n connections", 10, thousand, []string{"@{i+1} PING"}, []testCase{
		c("PING", "PING"),
		c("CLIENT LIST", "CLIENT LIST"),
		c("CLIENT INFO", "CLIENT INFO"),
		c("CLIENT KILL: nobody", "CLIENT KILL ID 1000000"),
		c("INFO: clients", "INFO clients"),
	}}
}

func scripts() group {
	return group{"n cached scripts", thousand, 100_000, []string{"SCRIPT LOAD return~{i}"}, []testCase{
		c("EVALSHA", "EVALSHA sha1(return~{i}) 0"),
		c("EVALSHA_RO", "EVALSHA_RO sha1(return~{i}) 0"),
		c("EVAL", "EVAL return~{i} 0"),
		c("SCRIPT EXISTS", "SCRIPT EXISTS sha1(return~{i})"),
		c("SCRIPT LOAD: there", "SCRIPT LOAD return~{i}"),
	}}
}
