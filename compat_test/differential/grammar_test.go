package differential

import "strings"

// command is one line of the grammar.
type command struct {
	// name is one word, or a container and its subcommand.
	name string
	// weight is how often the command is drawn compared with the others of its group.
	weight int
	// options are the words whose successes and failures the report counts.
	options string
	// args generates the words after the name.
	args part
}

// group is the commands of one Redis group and the group's share of all commands.
type group struct {
	name     string
	weight   int
	commands []command
}

func grammar() []group {
	return []group{
		{"string", 10, stringCommands()},
		{"hash", 9, hashCommands()},
		{"list", 11, listCommands()},
		{"set", 10, setCommands()},
		{"zset", 16, zsetCommands()},
		{"bitmap", 5, bitmapCommands()},
		{"hyperloglog", 3, hllCommands()},
		{"geo", 6, geoCommands()},
		{"stream", 14, streamCommands()},
		{"generic", 14, genericCommands()},
		{"server", 6, serverCommands()},
		{"connection", 4, connectionCommands()},
		{"functions", 4, functionCommands()},
	}
}

func (c command) words() []string { return strings.Fields(c.name) }

func stringCommands() []command {
	s := key("s")
	return []command{
		{"SET", 6, "NX XX GET EX PX EXAT PXAT KEEPTTL", seq(s, value, anyOrder(
			opt(30, oneOf(lit("NX"), lit("XX"))), opt(20, lit("GET")),
			opt(50, oneOf(seq(lit("EX"), ttlS), seq(lit("PX"), ttlMS), seq(lit("EXAT"), atS),
				seq(lit("PXAT"), atMS), lit("KEEPTTL")))))},
		{"GET", 2, "", s},
		{"GETDEL", 1, "", s},
		{"GETEX", 3, "EX PX EXAT PXAT PERSIST", seq(s, opt(80, oneOf(lit("PERSIST"), seq(lit("EX"), ttlS), seq(lit("PX"), ttlMS),
			seq(lit("EXAT"), atS), seq(lit("PXAT"), atMS))))},
		{"GETSET", 1, "", seq(s, value)},
		{"GETRANGE", 2, "", seq(s, index, index)},
		{"SUBSTR", 1, "", seq(s, index, index)},
		{"SETRANGE", 2, "", seq(s, mostly([]string{"0", "1", "2", "5", "10", "43", "44", "100"}, []string{"-1", "536870912", "9223372036854775807"}, wrongInts), value)},
		{"STRLEN", 1, "", s},
		{"APPEND", 2, "", seq(s, value)},
		{"INCR", 2, "", s},
		{"DECR", 1, "", s},
		{"INCRBY", 2, "", seq(s, number)},
		{"DECRBY", 2, "", seq(s, number)},
		{"INCRBYFLOAT", 3, "", seq(s, float)},
		{"MGET", 1, "", many(1, 4, key(""))},
		{"MSET", 2, "", many(1, 3, s, value)},
		{"MSETNX", 2, "", many(1, 3, s, value)},
		{"PSETEX", 1, "", seq(s, ttlMS, value)},
		{"SETEX", 1, "", seq(s, ttlS, value)},
		{"SETNX", 2, "", seq(s, value)},
		{"LCS", 5, "LEN IDX MINMATCHLEN WITHMATCHLEN", seq(s, s, anyOrder(opt(25, lit("LEN")), opt(45, lit("IDX")),
			opt(40, lit("MINMATCHLEN"), index), opt(40, lit("WITHMATCHLEN"))))},
	}
}

func hashCommands() []command {
	h := key("h")
	return []command{
		{"HSET", 8, "", seq(h, many(1, 5, member, value))},
		{"HMSET", 2, "", seq(h, many(1, 3, member, value))},
		{"HSETNX", 2, "", seq(h, member, value)},
		{"HGET", 2, "", seq(h, member)},
		{"HMGET", 2, "", seq(h, many(1, 4, member))},
		{"HGETALL", 2, "", h},
		{"HKEYS", 1, "", h},
		{"HVALS", 1, "", h},
		{"HLEN", 1, "", h},
		{"HSTRLEN", 1, "", seq(h, member)},
		{"HEXISTS", 1, "", seq(h, member)},
		{"HDEL", 3, "", seq(h, many(1, 3, member))},
		{"HINCRBY", 4, "", seq(h, member, number)},
		{"HINCRBYFLOAT", 4, "", seq(h, member, float)},
		{"HRANDFIELD", 3, "WITHVALUES", seq(h, opt(70, randomCount, opt(50, lit("WITHVALUES"))))},
		{"HSCAN", 3, "MATCH COUNT", seq(h, scanTail())},
	}
}

// scanTail is the cursor and the options of HSCAN, SSCAN and ZSCAN. The count usually
// covers the whole key in one call, because parts of a hash table cannot be compared.
func scanTail() part {
	return seq(mostly([]string{"0"}, []string{"0", "1", "17"},
		[]string{"abc", "", "-1", "18446744073709551616", "1.5"}),
		anyOrder(opt(35, lit("MATCH"), glob), opt(60, lit("COUNT"), scanCount)))
}

var (
	scanCount = mostly([]string{"1000", "10", "10000"}, []string{"1", "2", "9223372036854775807"},
		[]string{"0", "-1", "abc", "", "1.5"})
	randomCount = mostly([]string{"1", "2", "0", "3", "-2", "-5", "10", "100", "-1"},
		[]string{"4", "5", "6"},
		[]string{"abc", "", "9223372036854775808", "-9223372036854775808", "1.5"})
)

func listCommands() []command {
	l := key("l")
	side := oneOf(lit("LEFT"), lit("RIGHT"), lit("LEFT"), lit("RIGHT"), lit("RIGHT"), lit("LEFT"),
		lit("UP"))
	oneSide := oneOf(lit("LEFT"), lit("RIGHT"))
	return []command{
		{"RPUSH", 6, "", seq(l, many(1, 6, member))},
		{"LPUSH", 4, "", seq(l, many(1, 4, value))},
		{"RPUSHX", 1, "", seq(l, many(1, 3, member))},
		{"LPUSHX", 1, "", seq(l, many(1, 3, member))},
		{"LPOP", 2, "", seq(l, opt(50, popCount))},
		{"RPOP", 2, "", seq(l, opt(50, popCount))},
		{"LRANGE", 3, "", seq(l, index, index)},
		{"LINDEX", 2, "", seq(l, index)},
		{"LLEN", 1, "", l},
		{"LSET", 2, "", seq(l, oneOf(word([]string{"0", "-1", "1"}), index), value)},
		{"LREM", 3, "", seq(l, index, member)},
		{"LTRIM", 1, "", seq(l, index, index)},
		{"LINSERT", 3, "BEFORE AFTER", seq(l, oneOf(lit("BEFORE"), lit("AFTER")), member, value)},
		{"LPOS", 5, "RANK COUNT MAXLEN", seq(l, member, anyOrder(opt(40, lit("RANK"), index), opt(40, lit("COUNT"), count), opt(30, lit("MAXLEN"), count)))},
		{"LMOVE", 3, "LEFT RIGHT", seq(l, l, side, oneSide)},
		{"RPOPLPUSH", 2, "", seq(l, l)},
		{"LMPOP", 4, "LEFT RIGHT COUNT", seq(counted(1, 3, l), side, opt(50, lit("COUNT"), popCount))},
		{"BLPOP", 1, "", seq(many(1, 3, l), timeout)},
		{"BRPOP", 1, "", seq(many(1, 3, l), timeout)},
		{"BLMOVE", 1, "LEFT RIGHT", seq(l, l, oneSide, side, timeout)},
		{"BRPOPLPUSH", 1, "", seq(l, l, timeout)},
		{"BLMPOP", 2, "LEFT RIGHT COUNT", seq(timeout, counted(1, 3, l), side, opt(50, lit("COUNT"), popCount))},
	}
}

func setCommands() []command {
	t := key("t")
	// The sets t2 and t3 get only integers, so that they stay intsets long enough to be
	// tested.
	add := func(g *gen) []string {
		words := t(g)
		pool := member
		if words[0] == "t2" || words[0] == "t3" {
			pool = mostly(smallInts, smallInts, edgeInts)
		}
		return append(words, many(1, 6, pool)(g)...)
	}
	element := oneOf(member, number)
	keys := many(1, 3, t)
	return []command{
		{"SADD", 9, "", add},
		{"SREM", 2, "", seq(t, many(1, 3, element))},
		{"SCARD", 1, "", t},
		{"SISMEMBER", 1, "", seq(t, element)},
		{"SMISMEMBER", 2, "", seq(t, many(1, 4, element))},
		{"SMEMBERS", 2, "", t},
		{"SMOVE", 2, "", seq(t, t, element)},
		{"SPOP", 2, "", seq(t, opt(60, randomCount))},
		{"SRANDMEMBER", 3, "", seq(t, opt(60, randomCount))},
		{"SSCAN", 3, "MATCH COUNT", seq(t, scanTail())},
		{"SINTER", 2, "", keys},
		{"SUNION", 2, "", keys},
		{"SDIFF", 2, "", keys},
		{"SINTERSTORE", 2, "", seq(into("t1"), keys)},
		{"SUNIONSTORE", 2, "", seq(into("t1"), keys)},
		{"SDIFFSTORE", 2, "", seq(into("t1"), keys)},
		{"SINTERCARD", 3, "LIMIT", seq(counted(1, 3, t), opt(50, lit("LIMIT"), count))},
	}
}

func zsetCommands() []command {
	z := key("z")
	// All members of z3 have the same score, as ranges by name need.
	add := func(g *gen) []string {
		words := z(g)
		same := words[0] == "z3"
		words = append(words, anyOrder(opt(15, oneOf(lit("NX"), lit("XX"))),
			opt(15, oneOf(lit("GT"), lit("LT"))), opt(20, lit("CH")))(g)...)
		pool := score
		if same {
			pool = lit("0")
		}
		if g.chance(15) {
			return append(append(words, lit("INCR")(g)...), seq(pool, member)(g)...)
		}
		return append(words, many(1, 6, pool, member)(g)...)
	}
	withScores := opt(40, lit("WITHSCORES"))
	low, high := word(lowBounds), word(highBounds)
	scores, down := oneOf(seq(bound, bound), seq(low, high)), oneOf(seq(bound, bound), seq(high, low))
	limit := opt(40, lit("LIMIT"), index, index)
	set := oneOf(z, z, z, key("t"))
	sets := counted(1, 3, set)
	aggregate := opt(35, lit("AGGREGATE"), oneOf(lit("SUM"), lit("MIN"), lit("MAX"), lit("SUM"),
		lit("MIN"), lit("MAX"), lit("AVG")))
	merged := func(options ...part) part { return merge(set, options) }
	end := oneOf(lit("MIN"), lit("MAX"), lit("MIN"), lit("MAX"), lit("MIN"), lit("MAX"), lit("MID"))
	ranges := seq(oneOf(
		seq(index, index),
		seq(bound, bound, lit("BYSCORE")),
		seq(lowest(lex), lex, lit("BYLEX")),
	), anyOrder(opt(35, lit("REV")), limit))
	return []command{
		{"ZADD", 12, "NX XX GT LT CH INCR", add},
		{"ZINCRBY", 3, "", seq(z, score, member)},
		{"ZCARD", 1, "", z},
		{"ZCOUNT", 1, "", seq(z, scores)},
		{"ZLEXCOUNT", 2, "", seq(z, lex, lex)},
		{"ZSCORE", 2, "", seq(z, member)},
		{"ZMSCORE", 1, "", seq(z, many(1, 4, member))},
		{"ZRANK", 1, "", seq(z, member)},
		{"ZREVRANK", 1, "", seq(z, member)},
		{"ZREM", 2, "", seq(z, many(1, 3, member))},
		{"ZREMRANGEBYRANK", 1, "", seq(z, index, index)},
		{"ZREMRANGEBYSCORE", 1, "", seq(z, scores)},
		{"ZREMRANGEBYLEX", 1, "", seq(z, lex, lex)},
		{"ZRANGE", 8, "BYSCORE BYLEX REV LIMIT WITHSCORES", seq(z, ranges, withScores)},
		{"ZRANGESTORE", 4, "BYSCORE BYLEX REV LIMIT", seq(into("z2"), z, ranges)},
		{"ZREVRANGE", 2, "WITHSCORES", seq(z, index, index, withScores)},
		{"ZRANGEBYSCORE", 4, "WITHSCORES LIMIT", seq(z, scores, anyOrder(withScores, limit))},
		{"ZREVRANGEBYSCORE", 4, "WITHSCORES LIMIT", seq(z, down, anyOrder(withScores, limit))},
		{"ZRANGEBYLEX", 2, "LIMIT", seq(z, lex, lex, limit)},
		{"ZREVRANGEBYLEX", 2, "LIMIT", seq(z, lex, lex, limit)},
		{"ZPOPMIN", 2, "", seq(z, opt(50, popCount))},
		{"ZPOPMAX", 2, "", seq(z, opt(50, popCount))},
		{"ZMPOP", 3, "MIN MAX COUNT", seq(counted(1, 3, z), end, opt(50, lit("COUNT"), popCount))},
		{"BZPOPMIN", 1, "", seq(many(1, 3, z), timeout)},
		{"BZPOPMAX", 1, "", seq(many(1, 3, z), timeout)},
		{"BZMPOP", 2, "MIN MAX COUNT", seq(timeout, counted(1, 3, z), end, opt(50, lit("COUNT"), popCount))},
		{"ZRANDMEMBER", 3, "WITHSCORES", seq(z, opt(70, randomCount, opt(50, lit("WITHSCORES"))))},
		{"ZSCAN", 3, "MATCH COUNT", seq(z, scanTail())},
		{"ZUNION", 4, "WEIGHTS AGGREGATE WITHSCORES", merged(aggregate, withScores)},
		{"ZINTER", 4, "WEIGHTS AGGREGATE WITHSCORES", merged(aggregate, withScores)},
		{"ZDIFF", 3, "WITHSCORES", seq(sets, withScores)},
		{"ZUNIONSTORE", 4, "WEIGHTS AGGREGATE", seq(into("z2"), merged(aggregate))},
		{"ZINTERSTORE", 4, "WEIGHTS AGGREGATE", seq(into("z2"), merged(aggregate))},
		{"ZDIFFSTORE", 2, "", seq(into("z2"), sets)},
		{"ZINTERCARD", 3, "LIMIT", seq(sets, opt(50, lit("LIMIT"), count))},
	}
}

// merge generates the keys of a union or an intersection with their weights, usually as
// many weights as keys, and the options.
func merge(set part, options []part) part {
	return func(g *gen) []string {
		n := 1 + g.n(3)
		words := append([]string{decimal(n)}, many(n, n, set)(g)...)
		weights := opt(40, lit("WEIGHTS"), many(n, n, float))
		if g.chance(10) {
			weights = seq(lit("WEIGHTS"), many(1, 3, float))
			words[0] = g.pick([]string{decimal(n), "0", "-1", "abc", "5"})
		}
		return append(words, anyOrder(append([]part{weights}, options...)...)(g)...)
	}
}

// into generates the destination of a result: mostly one key, because an empty result
// deletes its old value.
func into(usual string) part {
	return func(g *gen) []string {
		if g.chance(30) {
			return key(usual[:1])(g)
		}
		return []string{usual}
	}
}

// lowest makes the low bound of a range by name the open bound in half of the cases, so
// that ranges are rarely empty.
func lowest(p part) part { return oneOf(lit("-"), p) }

func genericCommands() []command {
	any := key("")
	one := oneOf(lit("NX"), lit("XX"), lit("GT"), lit("LT"))
	condition := opt(50, oneOf(one, one, one, seq(one, one)))
	kinds := mostly([]string{"string", "hash", "list", "set", "zset", "stream"}, []string{"stream", "STRING"},
		[]string{"nothing", ""})
	pattern := word([]string{"s*", "h*->a", "nosort", "h*->b", "z*", "*", "s*->a", "missing*", "*->",
		"h*->"})
	get := opt(50, many(1, 2, lit("GET"), oneOf(lit("#"), pattern)))
	from := oneOf(key("l"), key("t"), key("z"), any)
	sorted := anyOrder(opt(35, lit("LIMIT"), index, index), get,
		opt(30, oneOf(lit("ASC"), lit("DESC"))))
	serialized := mostly(payloads())
	// A mutation may leave ABSTTL out: a small number would then be a time to live that
	// ends at another moment on each server.
	farMS := mostly([]string{"4102444800000"}, []string{"9223372036854775807"}, []string{"-1", "abc", ""})
	restored := oneOf(seq(lit("0"), serialized), seq(ttlMS, serialized), seq(farMS, serialized, lit("ABSTTL")))
	return []command{
		{"DEL", 2, "", many(1, 3, any)},
		{"UNLINK", 1, "", many(1, 3, any)},
		{"EXISTS", 1, "", many(1, 3, any)},
		{"TOUCH", 1, "", many(1, 3, any)},
		{"TYPE", 1, "", any},
		{"RENAME", 2, "", seq(any, any)},
		{"RENAMENX", 2, "", seq(any, any)},
		{"DUMP", 2, "", any},
		{"RESTORE", 4, "REPLACE ABSTTL IDLETIME FREQ", seq(any, restored, anyOrder(opt(60, lit("REPLACE")),
			opt(25, lit("IDLETIME"), mostly([]string{"0", "5", "1000"}, []string{"100000"}, []string{"-1", "x", ""})),
			opt(25, lit("FREQ"), mostly([]string{"0", "255"}, []string{"1"}, []string{"256", "-1", "x"}))))},
		{"RESTORE-ASKING", 1, "REPLACE", seq(any, restored, opt(60, lit("REPLACE")))},
		{"COPY", 3, "DB REPLACE", seq(any, any, anyOrder(opt(40, lit("DB"), dbIdx), opt(50, lit("REPLACE"))))},
		{"MOVE", 2, "", seq(any, dbIdx)},
		{"PERSIST", 2, "", any},
		{"EXPIRE", 4, "NX XX GT LT", seq(any, ttlS, condition)},
		{"PEXPIRE", 4, "NX XX GT LT", seq(any, ttlMS, condition)},
		{"EXPIREAT", 3, "NX XX GT LT", seq(any, atS, condition)},
		{"PEXPIREAT", 3, "NX XX GT LT", seq(any, atMS, condition)},
		{"TTL", 1, "", any},
		{"PTTL", 1, "", any},
		{"EXPIRETIME", 1, "", any},
		{"PEXPIRETIME", 1, "", any},
		{"KEYS", 1, "", glob},
		{"RANDOMKEY", 1, "", lit()},
		{"SCAN", 3, "MATCH COUNT TYPE", seq(mostly([]string{"0"}, []string{"0", "3"}, []string{"abc", "", "-1"}),
			anyOrder(opt(35, lit("MATCH"), glob), lit("COUNT"), scanCount, opt(35, lit("TYPE"), kinds)))},
		{"OBJECT ENCODING", 2, "", any},
		{"OBJECT REFCOUNT", 1, "", any},
		{"OBJECT IDLETIME", 1, "", any},
		{"OBJECT FREQ", 1, "", any},
		{"SORT", 5, "BY LIMIT GET ASC DESC ALPHA STORE", seq(from, oneOf(
			seq(opt(40, lit("BY"), pattern), sorted, opt(40, lit("ALPHA"))),
			seq(opt(40, lit("BY"), pattern), sorted, lit("STORE"), into("l3")),
			seq(sorted, lit("ALPHA"), opt(50, lit("STORE"), into("l3"))),
		))},
		{"SORT_RO", 3, "BY LIMIT GET ASC DESC ALPHA", seq(from, opt(40, lit("BY"), pattern), sorted, opt(40, lit("ALPHA")))},
		{"WAIT", 1, "", seq(mostly([]string{"0"}, []string{"0"}, []string{"abc", "-1", ""}), mostly([]string{"0", "1"}, []string{"0"}, []string{"abc", "-1", ""}))},
	}
}

func serverCommands() []command {
	channel, events := word(channels), []string{"command", "fast-command", "expire-cycle", "nosuch"}
	flush := opt(90, oneOf(lit("SYNC"), lit("ASYNC"), lit("SYNC"), lit("ASYNC"), lit("SYNC"), lit("ASYNC"), lit("LATER"),
		lit("SYNC", "ASYNC")))
	shas := knownShas()
	cached := oneOf(word(shas[:2]), word(shas[:2]), word(shas[:2]), word(shas), lit("ffffffffffffffffffffffffffffffffffffffff"))
	return []command{
		{"DBSIZE", 4, "", lit()},
		{"SELECT", 2, "", dbIdx},
		{"SWAPDB", 2, "", seq(dbIdx, dbIdx)},
		{"FLUSHDB", 2, "ASYNC SYNC", flush},
		{"FLUSHALL", 1, "ASYNC SYNC", flush},
		{"PING", 2, "", opt(60, many(1, 2, value))},
		{"ECHO", 2, "", value},
		{"TIME", 2, "", lit()},
		{"PUBLISH", 8, "", seq(channel, value)},
		{"SPUBLISH", 4, "", seq(channel, value)},
		{"PUBSUB CHANNELS", 2, "", many(0, 2, glob)},
		{"PUBSUB NUMSUB", 2, "", many(0, 3, channel)},
		{"PUBSUB NUMPAT", 2, "", lit()},
		{"PUBSUB SHARDCHANNELS", 2, "", many(0, 2, glob)},
		{"PUBSUB SHARDNUMSUB", 2, "", many(0, 3, channel)},
		{"WATCH", 4, "", many(1, 2, key(""))},
		{"UNWATCH", 2, "", lit()},
		{"EXEC", 2, "", lit()},
		{"DISCARD", 2, "", lit()},
		{"EVALSHA", 3, "", seq(oneOf(cached, cached, cached, lit("short")), lit("0"), value)},
		{"EVALSHA_RO", 2, "", seq(cached, lit("0"), value)},
		{"SCRIPT LOAD", 3, "", word(loadedScripts)},
		{"SCRIPT EXISTS", 2, "", many(1, 2, word(knownShas()))},
		{"COMMAND GETKEYS", 4, "", oneOf(
			seq(lit("SET"), key("s"), value), seq(lit("MSET"), many(1, 3, key("s"), value)),
			seq(lit("EVAL", "return 1"), counted(0, 2, key("s")), value),
			seq(lit("ZUNIONSTORE"), key("z"), counted(1, 3, key("z"))),
			seq(lit("BLPOP"), many(1, 2, key("l")), lit("0")),
			seq(lit("LMPOP"), counted(1, 2, key("l")), lit("LEFT")),
			seq(lit("SORT"), key("l"), lit("STORE"), key("l")), lit("PING"), lit("NOSUCH"),
			seq(lit("XREADGROUP", "GROUP", "g", "c", "STREAMS"), many(1, 4, key("x"))),
			seq(lit("XREAD", "BLOCK", "0", "STREAMS"), many(1, 4, key("x"))),
			seq(lit("XGROUP", "CREATE"), key("x"), lit("g", "0")),
			seq(lit("RENAME"), key(""), key("")), seq(lit("GET")))},
		{"SLOWLOG GET", 2, "", oneOf(lit("0"), lit("0"), lit("-2"), lit("x"), lit("0", "0"))},
		{"SLOWLOG RESET", 1, "", lit()},
		{"LATENCY HISTORY", 2, "", word(events)},
		{"LATENCY LATEST", 2, "", lit()},
		{"LATENCY RESET", 2, "", many(0, 2, word(events))},
		{"LATENCY GRAPH", 2, "", word(events)},
		{"NOSUCHCOMMAND", 2, "", many(0, 3, value)},
		{"OBJECT NOSUCH", 2, "", key("")},
	}
}

// connectionCommands has no commands that end or mute the connection.
func connectionCommands() []command {
	name := word([]string{"one", "two", "", "x", "one", "two", "with space", "\n"})
	return []command{
		{"HELLO", 3, "AUTH SETNAME", seq(opt(85, mostly([]string{"2", "3"}, []string{"2", "3"}, []string{"1", "4", "abc", ""})),
			opt(35, lit("AUTH"), word([]string{"default", "default", "default", "nobody"}), word([]string{"", "secret"})),
			opt(30, lit("SETNAME"), name))},
		{"RESET", 2, "", lit()},
		{"AUTH", 3, "", oneOf(seq(lit("default"), value), many(1, 2, word([]string{"default", "nobody", "secret"})))},
		{"CLIENT ID", 1, "", lit()},
		{"CLIENT SETNAME", 2, "", name},
		{"CLIENT GETNAME", 2, "", lit()},
		{"CLIENT TRACKING", 4, "OPTIN OPTOUT NOLOOP REDIRECT BCAST PREFIX", trackingArguments},
		{"CLIENT CACHING", 6, "YES NO", word([]string{"YES", "NO", "YES", "NO", "maybe"})},
		{"CLIENT TRACKINGINFO", 2, "", lit()},
		{"CLIENT GETREDIR", 2, "", lit()},
		{"CLIENT NO-EVICT", 2, "", word([]string{"ON", "OFF", "maybe"})},
		{"CLIENT UNBLOCK", 3, "TIMEOUT ERROR", seq(mostly([]string{"999999"}, edgeInts, wrongInts), opt(60, word([]string{"TIMEOUT", "ERROR", "TIMEOUT", "ERROR", "else"})))},
		{"CLIENT UNPAUSE", 1, "", lit()},
		{"CLIENT NOSUCH", 1, "", name},
		{"ROLE", 1, "", lit()},
		{"REPLICAOF", 1, "", toNoOne},
		{"SLAVEOF", 1, "", toNoOne},
		{"MODULE LIST", 1, "", lit()},
		{"LASTSAVE", 1, "", lit()},
		{"SCRIPT KILL", 1, "", lit()},
		{"SCRIPT FLUSH", 2, "SYNC ASYNC", opt(75, word([]string{"SYNC", "ASYNC", "SYNC", "ASYNC", "async", "later", "sync"}), opt(10, lit("extra")))},
		{"CONFIG GET", 1, "", word([]string{"maxmemory", "nosuchsetting", "hash-max-listpack-entries", "databases", "timeout"})},
		{"CONFIG SET", 3, "", oneOf(lit("nosuchsetting", "1"), lit("timeout", "0"), lit("timeout", "0"), lit("timeout", "abc"), lit("databases", "4"),
			lit("timeout", "0", "timeout", "0"), lit("timeout"), lit("list-max-listpack-size", "1"), lit("list-max-listpack-size", "-1"))},
		{"CONFIG RESETSTAT", 1, "", lit()},
	}
}

// toNoOne are the arguments of REPLICAOF that make no replica: NO ONE, or a wrong number of
// words.
var toNoOne = oneOf(lit("NO", "ONE"), lit("NO", "ONE"), lit("no", "one"), lit("NO"), lit("NO", "ONE", "x"))
