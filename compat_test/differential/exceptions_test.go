package differential

// This file lists all differences that lockredis may have from redis-server. Everything
// else must be equal byte for byte.

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockredis/lockredis/compat_test/wire"
)

const (
	// clockSlack is how far two deadlines may differ, in milliseconds. The servers get the
	// same command at slightly different times. Each repetition of the sequence allows a
	// millisecond more.
	clockSlack = 20
	// secondSlack is clockSlack for commands that round to seconds.
	secondSlack = 1
	// triesForTime is how often a sequence whose times differ is run before the difference
	// counts. On a busy machine one of the servers may have waited for a processor. With
	// clockSlack it stays below 100, so that a deadline 100 ms late is found.
	triesForTime = 60
	// triesWhenSlow is triesForTime when the servers are slower than clockSlack.
	triesWhenSlow = 12
)

// smallIntset is the set-max-intset-entries of sequences with small limits.
const smallIntset = 6

// exceptions returns the exception for a command, and false when it has none.
type exceptions func(args []string) (exception, bool)

// exception says how the replies to one command may differ.
type exception struct {
	// before are commands that make the outcome well defined.
	before func(args []string) [][]string
	// probes are commands sent before the command. Their replies are compared too.
	probes func(args []string) [][]string
	// same compares two replies that are not equal.
	same func(c comparison) bool
	// after are commands sent afterwards, to make the servers equal again.
	after func(args []string) [][]string
	// timing means that a difference is one of time.
	timing bool
}

// comparison is one pair of replies with different bytes.
type comparison struct {
	args           []string
	via            via
	oracle, target wire.Value
	// lateness is added to clockSlack, in milliseconds.
	lateness int64
	// probes are the replies of redis-server and lockredis to the probes.
	probes, targetProbes []wire.Value
}

// exceptionOf returns the exception for a command, and false when it has none.
func exceptionOf(args []string) (exception, bool) {
	name := strings.ToUpper(args[0])
	if slices.Contains([]string{"OBJECT", "PUBSUB", "CLIENT", "XINFO", "FUNCTION", "SLOWLOG"}, name) && len(args) > 1 {
		name += " " + strings.ToUpper(args[1])
	}
	switch name {
	case "DUMP":
		return exception{same: sameDump}, true
	case "FUNCTION DUMP":
		return exception{same: sameFunctionDump}, true
	// Hash-table order.
	case "HGETALL":
		return exception{probes: encodingsFrom(1, 2), same: unorderedIfTable(2)}, true
	case "HKEYS", "HVALS", "SMEMBERS":
		return exception{probes: encodingsFrom(1, 2), same: unorderedIfTable(1)}, true
	case "LCS", "CONFIG":
		return exception{same: func(c comparison) bool {
			return c.via == viaResp3 && sameItems(c.oracle, c.target, 2)
		}}, true
	case "SINTER", "SUNION", "SDIFF":
		return exception{probes: encodingsFrom(1, -1), same: unorderedIfTable(1)}, true
	case "KEYS", "PUBSUB CHANNELS", "PUBSUB SHARDCHANNELS", "FUNCTION LIST":
		return exception{same: func(c comparison) bool { return sameItems(c.oracle, c.target, 1) }}, true
	case "SORT", "SORT_RO":
		return exception{before: clearErrno, probes: encodingsFrom(1, 2), same: sameSort}, true
	// Ranges by name in a sorted set with several scores. The result of a skip list then
	// depends on its random levels, and Redis leaves it unspecified.
	case "ZRANGEBYLEX", "ZREVRANGEBYLEX", "ZLEXCOUNT":
		return exception{probes: scored(1), same: mixedScores}, true
	case "ZREMRANGEBYLEX":
		return exception{before: dropMixed(1), same: never}, true
	case "ZRANGE", "ZRANGESTORE":
		return byLexException(name, args)
	// Scans. Each server has its own cursor, and divides a hash table in its own way.
	case "SCAN":
		return exception{probes: func([]string) [][]string { return [][]string{{"KEYS", "*"}} },
			same: sameScan}, true
	case "HSCAN", "SSCAN", "ZSCAN":
		return exception{probes: encodingsFrom(1, 2), same: sameScan}, true
	// Random picks.
	case "RANDOMKEY":
		return exception{probes: func([]string) [][]string { return [][]string{{"KEYS", "*"}} },
			same: samePick}, true
	case "SPOP":
		return exception{probes: contents("SMEMBERS"), same: samePick, after: dropKey}, true
	case "SRANDMEMBER":
		return exception{probes: contents("SMEMBERS"), same: samePick}, true
	case "HRANDFIELD":
		return exception{probes: contents("HGETALL"), same: samePick}, true
	case "ZRANDMEMBER":
		return exception{probes: contents("ZRANGE", "0", "-1", "WITHSCORES"), same: samePick}, true
	// Distances. The last digit of a sine depends on the C library and the processor.
	case "GEODIST", "GEORADIUS", "GEORADIUS_RO", "GEORADIUSBYMEMBER", "GEORADIUSBYMEMBER_RO",
		"GEOSEARCH", "GEOSEARCHSTORE":
		return exception{same: func(c comparison) bool { return sameDistances(c.oracle, c.target) },
			after: dropDistances}, true
	// Times.
	case "TTL", "EXPIRETIME":
		return exception{same: withinSeconds, timing: true}, true
	case "PTTL", "PEXPIRETIME":
		return exception{same: withinSlack, timing: true}, true
	case "XREAD", "XREADGROUP":
		return exception{same: func(c comparison) bool {
			return c.via == viaResp3 && sameItems(c.oracle, c.target, 2)
		}}, true
	case "XPENDING", "XINFO STREAM", "XINFO GROUPS", "XINFO CONSUMERS":
		return exception{same: sameStreamTimes, timing: true}, true
	case "TIME":
		return exception{same: sameShape}, true
	case "LASTSAVE", "CLIENT ID":
		return exception{same: func(c comparison) bool {
			return c.oracle.Kind == wire.Integer && c.target.Kind == wire.Integer
		}}, true
	case "SLOWLOG GET": // compareSlowlog compares the entries
		return exception{same: func(c comparison) bool {
			return c.oracle.Kind == wire.Array && c.target.Kind == wire.Array
		}}, true
	case "HELLO":
		return exception{same: sameGreeting}, true
	case "OBJECT REFCOUNT":
		return exception{same: sameCount}, true
	case "OBJECT IDLETIME":
		return exception{probes: encodingsFrom(2, 3), same: sameIdleTime, timing: true}, true
	}
	return exception{}, false
}

// same reports whether two replies to an emission are as equal as they must be.
func (e emission) same(c comparison) bool {
	if bytes.Equal(c.oracle.Raw, c.target.Raw) {
		return true
	}
	if e.valkey && sameInValkeysWords(e, c) {
		return true
	}
	if c.oracle.IsError() || c.target.IsError() {
		return e.inv != nil && e.inv.luaText && sameBesideLua(c.oracle, c.target)
	}
	if isTimeScript(c.args) {
		return true
	}
	args := c.args
	if e.inv != nil && e.inv.via != viaPlain {
		args = args[3:]
		c.args, c.via = args, e.inv.via
	}
	if e.role == roleProbe {
		return sameProbe(c) || e.valkey && args[0] == "OBJECT" && sameEncoding(c)
	}
	x, masked := e.exceptionOf(args)
	return masked && x.same(c)
}

// isTimeScript reports whether the script returns the time of day.
func isTimeScript(args []string) bool {
	return strings.HasPrefix(args[0], "EVAL") && len(args) > 1 && strings.Contains(args[1], "'TIME'")
}

// luaFrame matches the text that Redis puts around Lua's own message: the class and the
// frame before it, the SHA and the line after it.
var luaFrame = regexp.MustCompile(`^(\S+ (?:Error compiling script \(new function\): )?user_script:\d+:)(.*?)( script: (?:[0-9a-f]{40}, )?on @user_script:\d+\.)?$`)

// sameBesideLua compares two script errors without the message in the middle.
func sameBesideLua(a, b wire.Value) bool {
	if a.Kind != b.Kind {
		return false
	}
	x, y := luaFrame.FindSubmatch(a.Str), luaFrame.FindSubmatch(b.Str)
	return x != nil && y != nil && bytes.Equal(x[1], y[1]) && bytes.Equal(x[3], y[3])
}

// encodingsFrom probes the encodings of the keys args[from:to]. A to of -1 is the end.
func encodingsFrom(from, to int) func([]string) [][]string {
	return func(args []string) [][]string {
		end := to
		if end < 0 || end > len(args) {
			end = len(args)
		}
		var probes [][]string
		for _, k := range args[min(from, end):end] {
			probes = append(probes, []string{"OBJECT", "ENCODING", k})
		}
		return probes
	}
}

// contents probes the encoding of the key and everything in it.
func contents(name string, rest ...string) func([]string) [][]string {
	return func(args []string) [][]string {
		if len(args) < 2 {
			return nil
		}
		return [][]string{{"OBJECT", "ENCODING", args[1]}, append([]string{name, args[1]}, rest...)}
	}
}

// byLexException is the exception for the BYLEX forms. The other forms have none.
func byLexException(name string, args []string) (exception, bool) {
	if !slices.ContainsFunc(args, func(a string) bool { return strings.EqualFold(a, "BYLEX") }) {
		return exception{}, false
	}
	if name == "ZRANGE" {
		return exception{probes: scored(1), same: mixedScores}, true
	}
	return exception{before: dropMixed(2), same: never}, true
}

// scored probes the encoding of the sorted set args[at] and its scores.
func scored(at int) func([]string) [][]string {
	return func(args []string) [][]string {
		if len(args) <= at {
			return nil
		}
		return [][]string{{"OBJECT", "ENCODING", args[at]}, {"ZRANGE", args[at], "0", "-1", "WITHSCORES"}}
	}
}

// mixedScores allows any reply for a skip list with more than one score.
func mixedScores(c comparison) bool {
	if len(c.probes) < 2 || string(c.probes[0].Str) != "skiplist" {
		return false
	}
	var scores []string
	for i, e := range c.probes[1].Elems {
		if e.IsAggregate() && len(e.Elems) == 2 {
			scores = append(scores, string(e.Elems[1].Str))
		} else if i%2 == 1 {
			scores = append(scores, string(e.Str))
		}
	}
	slices.Sort(scores)
	return len(slices.Compact(scores)) > 1
}

// dropMixed deletes the sorted set args[at] when a range by name would be unspecified
// there. After a command that writes, the servers could not be compared any more.
func dropMixed(at int) func([]string) [][]string {
	return func(args []string) [][]string {
		if len(args) <= at {
			return nil
		}
		return [][]string{{"EVAL", dropMixedScript, "1", args[at]}}
	}
}

const dropMixedScript = "local k = KEYS[1] if redis.call('OBJECT','ENCODING',k) ~= 'skiplist' then return 0 end " +
	"local r = redis.call('ZRANGE',k,0,-1,'WITHSCORES') for i = 4,#r,2 do if r[i] ~= r[2] then return redis.call('DEL',k) end end return 0"

// dropKey makes two sets equal again after they lost different members.
func dropKey(args []string) [][]string {
	if len(args) < 2 {
		return nil
	}
	return [][]string{{"DEL", args[1]}}
}

func isTable(probes []wire.Value) bool {
	return slices.ContainsFunc(probes, func(v wire.Value) bool { return string(v.Str) == "hashtable" })
}

func isSkiplist(probes []wire.Value) bool {
	return slices.ContainsFunc(probes, func(v wire.Value) bool { return string(v.Str) == "skiplist" })
}

// sameProbe compares the replies to the probes of the random picks: a set in any order.
func sameProbe(c comparison) bool {
	switch c.args[0] {
	case "KEYS", "SMEMBERS":
		return sameItems(c.oracle, c.target, 1)
	case "HGETALL":
		return sameItems(c.oracle, c.target, 2)
	}
	return false
}

// never is the comparison where a preparation makes the replies equal.
func never(comparison) bool { return false }

// unorderedIfTable allows any order where a hash table is involved. A Lua table counts:
// RESP3's maps and sets become Lua tables in a script.
func unorderedIfTable(group int) func(comparison) bool {
	return func(c comparison) bool {
		// A union of intsets may be too long for an intset.
		tooLong := len(c.probes) > 1 && len(c.oracle.Elems) > smallIntset
		if !isTable(c.probes) && c.via != viaResp3 && !tooLong {
			return false
		}
		return sameItems(c.oracle, c.target, group)
	}
}

// sameItems compares two aggregates as multisets of groups of size elements.
func sameItems(a, b wire.Value, group int) bool {
	if a.Kind != b.Kind || a.IsNil != b.IsNil || len(a.Elems) != len(b.Elems) || !a.IsAggregate() {
		return false
	}
	x, y := items(a, group), items(b, group)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func items(v wire.Value, group int) []string {
	var all []string
	for i := 0; i < len(v.Elems); i += group {
		var b strings.Builder
		for _, e := range v.Elems[i:min(i+group, len(v.Elems))] {
			b.Write(e.Raw)
		}
		all = append(all, b.String())
	}
	return all
}

// sameSort allows any order where Redis leaves it open: BY a constant on a hash table,
// and elements of equal weight in a set or a sorted set, which SORT reads in hash-table
// order. With LIMIT only the number of elements is compared.
func sameSort(c comparison) bool {
	by, weighed, alpha, limit, gets := "", false, false, false, 0
	for i, a := range c.args {
		switch strings.ToUpper(a) {
		case "BY":
			by, weighed = c.args[min(i+1, len(c.args)-1)], true
		case "ALPHA":
			alpha = true
		case "LIMIT":
			limit = true
		case "GET":
			gets++
		}
	}
	hashed := isTable(c.probes)
	if strings.Contains(by, "*") {
		hashed = alpha && (hashed || isSorted(c.probes))
	}
	if !weighed && alpha && (hashed || isSorted(c.probes)) && bytes.IndexByte(c.oracle.Raw, 0) >= 0 {
		weighed, hashed = true, true // C's comparison ends at a NUL: these elements have equal weight
	}
	if !weighed || !hashed || c.oracle.Kind != wire.Array || c.target.Kind != wire.Array {
		return false
	}
	if c.via == viaResp3 && gets > 0 {
		return true // a Lua table ends at the first missing value
	}
	if limit {
		return len(c.oracle.Elems) == len(c.target.Elems)
	}
	return sameItems(c.oracle, c.target, max(gets, 1))
}

// isSorted reports whether the key has the encoding of a sorted set.
func isSorted(probes []wire.Value) bool {
	return slices.ContainsFunc(probes, func(v wire.Value) bool {
		return string(v.Str) == "skiplist" || string(v.Str) == "listpack"
	})
}

// sameScan compares one call. When the call returned the whole key, it compares all
// elements, else only the form.
func sameScan(c comparison) bool {
	name := strings.ToUpper(c.args[0])
	if name != "SCAN" && !isTable(c.probes) && !isSkiplist(c.probes) {
		return false
	}
	group := 1
	if name == "HSCAN" || name == "ZSCAN" {
		group = 2
	}
	if !isScanReply(c.oracle, group) || !isScanReply(c.target, group) {
		return false
	}
	fresh := len(c.args) > 1 &&
		(name == "SCAN" && c.args[1] == "0" || len(c.args) > 2 && c.args[2] == "0")
	if !fresh || string(c.oracle.Elems[0].Str) != "0" || string(c.target.Elems[0].Str) != "0" {
		return true
	}
	return sameItems(c.oracle.Elems[1], c.target.Elems[1], group)
}

func isScanReply(v wire.Value, group int) bool {
	return v.Kind == wire.Array && len(v.Elems) == 2 && v.Elems[0].Kind == wire.BulkString &&
		v.Elems[1].Kind == wire.Array && len(v.Elems[1].Elems)%group == 0
}

// samePick compares random picks. Both servers return the same number, each element
// exists, and none comes twice unless the command allows it. A pick of the whole key is
// not random: where the key is compact, its order must be equal.
func samePick(c comparison) bool {
	if c.oracle.Kind != c.target.Kind || c.oracle.IsNil != c.target.IsNil || len(c.probes) == 0 {
		return false
	}
	step, present := memberStep(c), c.probes[len(c.probes)-1]
	if !c.oracle.IsAggregate() {
		return isPresent(c.target, present, step)
	}
	if len(c.oracle.Elems) != len(c.target.Elems) {
		return false
	}
	group := pickGroup(c)
	picks := len(c.target.Elems) / group
	if repeats := strings.HasPrefix(c.args[2], "-"); !repeats {
		unique := slices.Compact(slices.Sorted(slices.Values(items(c.target, group))))
		whole := picks == len(present.Elems)/step
		if len(unique) != picks || whole && !isTable(c.probes) && c.via != viaResp3 {
			return false
		}
	}
	for i := 0; i < len(c.target.Elems); i += group {
		if !isPresent(first(c.target.Elems[i]), present, step) {
			return false
		}
	}
	return true
}

// first returns the member of a pair that RESP3 nests.
func first(v wire.Value) wire.Value {
	if v.IsAggregate() && len(v.Elems) > 0 {
		return v.Elems[0]
	}
	return v
}

// pickGroup returns how many elements of the reply belong to one pick.
func pickGroup(c comparison) int {
	if len(c.args) > 3 && len(c.target.Elems) > 0 && !c.target.Elems[0].IsAggregate() {
		return 2
	}
	return 1
}

// memberStep returns how many elements of the last probe's reply belong to one member.
func memberStep(c comparison) int {
	present := c.probes[len(c.probes)-1]
	switch strings.ToUpper(c.args[0]) {
	case "HRANDFIELD":
		return 2
	case "ZRANDMEMBER":
		if len(present.Elems) > 0 && !present.Elems[0].IsAggregate() {
			return 2
		}
	}
	return 1
}

func isPresent(v, present wire.Value, step int) bool {
	for i := 0; i < len(present.Elems); i += step {
		if bytes.Equal(first(present.Elems[i]).Str, v.Str) {
			return true
		}
	}
	return false
}

// within allows two integers to differ by that much. -1 and -2 have their own meaning and
// must be equal.
func within(slack int64) func(comparison) bool {
	return func(c comparison) bool {
		a, ok := c.oracle.Int()
		b, also := c.target.Int()
		return ok && also && (a < 0) == (b < 0) && math.Abs(float64(a-b)) <= float64(slack)
	}
}

// withinSlack is within for deadlines in milliseconds.
func withinSlack(c comparison) bool { return within(clockSlack + c.lateness)(c) }

// withinSeconds is within for deadlines in seconds.
func withinSeconds(c comparison) bool { return within(secondSlack + c.lateness/1000)(c) }

// sameIdleTime allows a second. It allows any time when the value can be one of Redis's
// shared integers, which have one access time for all keys.
func sameIdleTime(c comparison) bool {
	shared := slices.ContainsFunc(c.probes, func(v wire.Value) bool { return string(v.Str) == "int" })
	return withinSeconds(c) || shared && within(math.MaxInt32)(c)
}

// clearErrno is a command that changes nothing and leaves errno at 0. SORT of
// redis-server 7.0.15 reports an ERANGE that an earlier command left in errno.
func clearErrno([]string) [][]string {
	return [][]string{{"ZADD", "errno", "XX", "1", "a"}}
}

// sameCount allows another number of references to a value that Redis does not report as
// shared. Between MULTI and EXEC Redis counts the queued command as a reference. A small
// integer that COPY made is not one of the shared integers.
func sameCount(c comparison) bool {
	const shared = 1<<31 - 1
	a, ok := c.oracle.Int()
	b, also := c.target.Int()
	return ok && also && a != shared && a > 0 && b > 0
}

// sameGreeting compares two replies to HELLO without the connection's id.
func sameGreeting(c comparison) bool {
	if c.oracle.Kind != c.target.Kind || len(c.oracle.Elems) != len(c.target.Elems) {
		return false
	}
	for i := 0; i < len(c.oracle.Elems); i++ {
		if i > 0 && string(c.oracle.Elems[i-1].Str) == "id" {
			continue
		}
		if !bytes.Equal(c.oracle.Elems[i].Raw, c.target.Elems[i].Raw) {
			return false
		}
	}
	return true
}

// sameShape compares only the types of an aggregate and of its elements.
func sameShape(c comparison) bool {
	a, b := c.oracle, c.target
	if a.Kind != b.Kind || len(a.Elems) != len(b.Elems) {
		return false
	}
	for i := range a.Elems {
		if a.Elems[i].Kind != b.Elems[i].Kind {
			return false
		}
	}
	return true
}

// dropDistances deletes a set of distances. Their last digits may differ.
func dropDistances(args []string) [][]string {
	at := slices.IndexFunc(args, func(a string) bool { return strings.EqualFold(a, "STOREDIST") })
	switch {
	case at < 0:
		return nil
	case strings.EqualFold(args[0], "GEOSEARCHSTORE"):
		return [][]string{{"DEL", args[1]}}
	case at+1 < len(args):
		return [][]string{{"DEL", args[at+1]}}
	}
	return nil
}

// sameDistances compares two replies that may differ in the last digit of a distance.
func sameDistances(a, b wire.Value) bool {
	if a.Kind != b.Kind || len(a.Elems) != len(b.Elems) {
		return false
	}
	for i := range a.Elems {
		if !sameDistances(a.Elems[i], b.Elems[i]) {
			return false
		}
	}
	if len(a.Elems) > 0 || bytes.Equal(a.Raw, b.Raw) {
		return true
	}
	x, errX := strconv.ParseFloat(string(a.Str), 64)
	y, errY := strconv.ParseFloat(string(b.Str), 64)
	return errX == nil && errY == nil && math.Abs(x-y) < 0.00011 && len(a.Str) == len(b.Str)
}
