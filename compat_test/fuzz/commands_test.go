package fuzz

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// filled gives keys values of all types and encodings.
const filled = "SET s 12\nSET t text\nRPUSH l a b c 1\nHSET h f 1 g x\nSADD i 1 2 3\nSADD m a b\nZADD z 1 a 2 b inf c\nSETEX e 1 v\n"

// maxLines and maxBytes limit an input, so that one run takes milliseconds.
const (
	maxLines = 60
	maxBytes = 4096
)

func lines(input string) []string {
	if len(input) > maxBytes {
		return nil
	}
	list := strings.Split(input, "\n")
	return list[:min(len(list), maxLines)]
}

func sortedLines(text string) string {
	list := strings.Split(text, "\n")
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// everyRow calls the rows of the table, each with up to six arguments.
func everyRow(rows int) (seeds []string) {
	words := []string{"h", "f", "1", "2", "z", "l"}
	for i := range rows {
		seed := filled
		for n := range len(words) + 1 {
			seed += fmt.Sprintf("#%d %s\n", i, strings.Join(words[:n], " "))
		}
		seeds = append(seeds, seed)
	}
	return seeds
}

func FuzzCommandLinesKeepTheEngineSound(f *testing.F) {
	for i, seed := range everyRow(len(newWorld(f).rows)) {
		f.Add(seed, i%2 == 0)
	}
	for _, seed := range []string{
		"BLPOP q 0\n@RPUSH q a b\nBLMOVE q p LEFT RIGHT 1.5\n+1500\n@LPUSH q x\n",
		"MULTI\nINCR n\nHSET n f 1\n@SET n x\nEXEC\nWATCH n\nMULTI\n@DEL n\nPING\nEXEC\n",
		"HELLO 3\nSUBSCRIBE c\nPSUBSCRIBE *\nSSUBSCRIBE c\n@PUBLISH c m\n@SPUBLISH c m\nGET k\nRESET\n",
		"EVAL \"return {redis.call('SET', KEYS[1], ARGV[1]), redis.pcall('INCR', KEYS[1]), 1.5, false}\" 1 k v\nEVAL \"while true do end\" 0\n",
		"EVAL \"redis.setresp(3) return redis.call('HGETALL', 'h')\" 0\nFUNCTION LIST\nSCRIPT EXISTS x\nSCRIPT FLUSH\n",
		"CLIENT PAUSE 100 WRITE\nSET a b\n@GET a\n+100\nCLIENT KILL ID 2\n@PING\nCLIENT REPLY SKIP\nPING\nCLIENT REPLY OFF\nPING\n",
		"PEXPIRE h 10\nGETEX e PERSIST\n+9\nTTL h\n+1\nHGET h f\nSWAPDB 0 1\nCOPY s t REPLACE DB 2\nMOVE s 3\nFLUSHALL ASYNC\n",
		"SORT l BY w_* GET # GET h->f LIMIT 0 2 ALPHA DESC STORE d\nLCS s t IDX WITHMATCHLEN\nSCAN 0 MATCH * COUNT 3 TYPE hash\n",
		"CONFIG SET maxmemory 1\nSET a b\nCONFIG SET notify-keyspace-events KEAmn hash-max-listpack-entries 1\nHSET h x y\nCONFIG GET *\n",
		"BZMPOP 0 2 z y MIN COUNT 2\n@ZADD y 1 a 2 b\n@CLIENT UNBLOCK 1 ERROR\nCLIENT NO-EVICT ON\nCLIENT TRACKINGINFO\nINFO everything\n",
		"DEBUG POPULATE 99999999\nDEBUG POPULATE 9 p 3\nDEBUG HTSTATS 0\nDEBUG OBJECT p:1\nDEBUG SDSLEN p:1\nDEBUG HTSTATS-KEY s\n",
		"FAULT.ADD hold-request COMMAND get\nFAULT.ADD stop COMMAND set FOR 1\nGET s\n@SET s 1\n@FAULT.LIST\n+10\nFAULT.CLEAR\n",
		"FAULT.ADD lose-reply NTH 3\nFAULT.ADD end-lease\nFAULT.ADD delay-reply KEY s SCRIPT CONTAINS a\nGET e\n@GET s\nPING\n@FAULT.RELEASE 3 1\n",
		"FAULT.ADD drop-message CHANNEL c NTH 2\nFAULT.ADD mute COMMAND incr TIMES ALWAYS\nSUBSCRIBE c\n@PUBLISH c m\n@INCR s\n@FAULT.REMOVE 2\n",
		"POST / HTTP/1.1\nDEBUG PROTOCOL attrib\nDEBUG SET-ACTIVE-EXPIRE 0\nSETEX k 1 v\n+2000\nDBSIZE\nGET k\nOBJECT FREQ s\nMEMORY USAGE h\n",
	} {
		f.Add(filled+seed, false)
	}
	f.Fuzz(func(t *testing.T, input string, three bool) {
		defer watch(input)()
		w := newWorld(t)
		if three {
			w.run("HELLO 3")
		}
		for _, line := range lines(input) {
			if w.over {
				break
			}
			w.run(line)
		}
		w.finish()
	})
}

// plain are the commands whose replies and effects depend only on the data and the clock.
// Alone, in a transaction and in a script they do the same.
var plain = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`
		append copy decr decrby del exists expire expireat expiretime get getdel getex getrange getset hdel hexists
		hget hgetall hincrby hincrbyfloat hkeys hlen hmget hmset hset hsetnx hstrlen hvals incr incrby incrbyfloat
		keys lcs lindex linsert llen lmove lmpop lpop lpos lpush lpushx lrange lrem lset ltrim mget move mset msetnx
		persist pexpire pexpireat pexpiretime psetex pttl rename renamenx rpop rpoplpush rpush rpushx sadd scard sdiff
		sdiffstore set setex setnx setrange sinter sintercard sinterstore sismember smembers smismember smove sort
		sort_ro srem strlen substr sunion sunionstore touch ttl type unlink zadd zcard zcount zdiff zdiffstore zincrby
		zinter zintercard zinterstore zlexcount zmpop zmscore zpopmax zpopmin zrange zrangebylex zrangebyscore
		zrangestore zrank zrem zremrangebylex zremrangebyrank zremrangebyscore zrevrange zrevrangebylex
		zrevrangebyscore zrevrank zscore zunion zunionstore blpop brpop blmove brpoplpush blmpop bzpopmin bzpopmax
		bzmpop ping echo dbsize flushdb setbit getbit bitcount bitpos bitop bitfield bitfield_ro
		pfadd pfcount pfmerge
		geoadd geodist geohash geopos georadius georadius_ro georadiusbymember georadiusbymember_ro geosearch
		geosearchstore`) {
		plain[name] = true
	}
}

func runsPlain(w *world, words [][]byte) bool {
	return len(words) > 0 && plain[strings.ToLower(string(words[0]))]
}

func FuzzTransactionsDoWhatTheirCommandsDo(f *testing.F) {
	for _, seed := range []string{
		"INCR s\nHSET h f 2\nLPUSH l x\nINCR t\nZADD z 1 d\nEXPIRE h 0\nHGET h f\n",
		"RENAME l k\nLRANGE k 0 -1\nSORT i STORE d\nCOPY d e\nMOVE e 1\n",
		"SADD i x\nSMOVE i m 1\nSINTERSTORE d i m\nZUNIONSTORE d 2 z i WEIGHTS 2 3\nZRANGE d 0 -1 WITHSCORES\n",
		"BLPOP l 0\nBLMOVE l l LEFT RIGHT 1\nLMPOP 2 a l LEFT COUNT 9\nTYPE l\n",
		"SETRANGE t 20 x\nAPPEND t y\nINCRBYFLOAT s 1.5\nHINCRBYFLOAT h f 1e300\nGETEX e PX 5\nPTTL e\nLCS s t IDX\n",
		"FLUSHDB\nMSETNX a 1 b 2\nMSETNX b 1 c 2\nKEYS *\n",
		"SETBIT t 99 1\nBITOP NOT d t\nBITFIELD d OVERFLOW FAIL SET u8 3 256 INCRBY i5 #9 -7\nBITCOUNT d 1 9 BIT\nBITPOS d 0\n",
		"PFADD p a b c\nPFCOUNT p\nCOPY p q\nPFADD q d\nPFMERGE r p q\nPFCOUNT p q r\nSETRANGE q 17 x\nPFCOUNT q\nPFADD q e\n",
		"GEOADD g 1 2 a 3 4 b -179.9 85 c\nGEOSEARCH g FROMMEMBER a BYBOX 9e5 9e6 m ASC COUNT 2 ANY WITHDIST\nGEORADIUS g 180 -85 1e9 km STORE z\nGEOPOS z a 1\nGEOHASH g c\nGEODIST z a b mi\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		defer watch(input)()
		alone, multi, script := newWorld(t), newWorld(t), newWorld(t)
		for _, line := range strings.Split(filled, "\n") {
			alone.run(line)
			multi.run(line)
			script.run(line)
		}
		multi.run("MULTI")
		var want []wire.Value
		for _, line := range lines(input) {
			_, args := alone.parse(line)
			if !runsPlain(alone, args) {
				continue
			}
			queued := multi.execute(0, args)
			if len(queued) != 1 || queued[0].String() != "+QUEUED" {
				multi.run("DISCARD")
				return
			}
			blocks := strings.HasPrefix(strings.ToLower(string(args[0])), "b")
			replies := alone.execute(0, args)
			if c := alone.clients[0]; c.session.Parked != nil {
				alone.inside(func() {
					alone.engine.Env().Parking.Unpark(c.session, c.session.Parked.OnTimeout)
				})
				replies = alone.values(c)
			}
			if len(replies) != 1 {
				t.Fatalf("%q: %d replies", args, len(replies))
			}
			want = append(want, replies[0])
			if !blocks { // a script may not block
				script.execute(0, append([][]byte{[]byte("EVAL"), []byte("return redis.pcall(unpack(ARGV))"),
					[]byte("0")}, args...))
			} else {
				script.execute(0, args)
				if c := script.clients[0]; c.session.Parked != nil {
					script.inside(func() {
						script.engine.Env().Parking.Unpark(c.session, c.session.Parked.OnTimeout)
					})
				}
			}
		}
		got := multi.execute(0, [][]byte{[]byte("EXEC")})
		if len(got) != 1 || len(got[0].Elems) != len(want) {
			t.Fatalf("EXEC answers %v to %d commands", got, len(want))
		}
		for i := range want {
			a, b := want[i], got[0].Elems[i]
			if a.IsNil && b.IsNil { // BLMOVE answers with either kind of null, as in Redis
				continue
			}
			if string(a.Raw) != string(b.Raw) {
				t.Fatalf("command %d answers %s alone and %s in EXEC", i, a, b)
			}
		}
		state := alone.state()
		if s := multi.state(); s != state {
			t.Fatalf("alone:\n%s\nin EXEC:\n%s", state, s)
		}
		if s := script.state(); s != state {
			t.Fatalf("alone:\n%s\nin scripts:\n%s", state, s)
		}
		for _, w := range []*world{alone, multi, script} {
			w.check("all")
			w.finish()
		}
	})
}
