package set_test

import (
	"testing"

	"github.com/lockredis/lockredis/internal/command/commandtest"
)

func TestSetMembersAnswerAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		sadd s 3 1 2 1 => :3
		sadd s 1 => :0
		scard s => :3
		scard none => :0
		smembers s => *3 $1 1 $1 2 $1 3
		smembers none => *0
		sismember s 1 => :1
		sismember s x => :0
		sismember none x => :0
		smismember s 1 9 => *2 :1 :0
		smismember none 1 => *1 :0
		srem s 9 => :0
		srem s 1 2 => :2
		smove s t 3 => :1
		smove s t 3 => :0
		smove t t 3 => :1
		smove t t 4 => :0
		smove none t 1 => :0
		smembers t => *1 $1 3
		sscan t 0 => *2 $1 0 *1 $1 3
		sscan none 0 foo => *2 $1 0 *0
		sscan t 0 match 4 => *2 $1 0 *0
		sscan t x => -ERR invalid cursor
	`)
}

func TestSetOperationsAnswerAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		sadd a 1 2 3 4 => :4
		sadd b 2 3 5 => :3
		sadd c 3 => :1
		sinter a b => *2 $1 2 $1 3
		sinter a b c => *1 $1 3
		sinter a none => *0
		sunion c b => *3 $1 2 $1 3 $1 5
		sunion none => *0
		sdiff a b => *2 $1 1 $1 4
		sdiff a none c => *3 $1 1 $1 2 $1 4
		sdiff none a => *0
		sdiff a a => *0
		sinterstore d a b => :2
		smembers d => *2 $1 2 $1 3
		sinterstore d a none => :0
		exists d => :0
		sunionstore d a b => :5
		sdiffstore d a b => :2
		smembers d => *2 $1 1 $1 4
		sintercard 2 a b => :2
		sintercard 2 a b limit 1 => :1
		sintercard 2 a b limit 0 => :2
		sintercard 0 a => -ERR numkeys should be greater than 0
		sintercard x a => -ERR numkeys should be greater than 0
		sintercard 3 a b => -ERR Number of keys can't be greater than number of args
		sintercard 1 a limit => -ERR syntax error
		sintercard 1 a limit -1 => -ERR LIMIT can't be negative
		sintercard 1 a limit x => -ERR LIMIT can't be negative
		sintercard 1 a b => -ERR syntax error
		sintercard 2 a none => :0
	`)
}

func TestRandomMembersAnswerAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		srandmember none => $-1
		srandmember none 2 => *0
		srandmember none x => -ERR value is not an integer or out of range
		sadd s 7 => :1
		srandmember s => $1 7
		srandmember s 3 => *1 $1 7
		srandmember s -3 => *3 $1 7 $1 7 $1 7
		srandmember s 0 => *0
		srandmember s 1 2 => -ERR syntax error
		srandmember s -9223372036854775808 => -ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807
		spop none => $-1
		spop none 1 => *0
		spop s 0 => *0
		spop s -1 => -ERR value is out of range, must be positive
		spop s x => -ERR value is out of range, must be positive
		spop s 1 2 => -ERR syntax error
		spop s 5 => *1 $1 7
		exists s => :0
		sadd s 7 => :1
		spop s => $1 7
		spop s => $-1
	`)
}

func TestSetAnswersInRESP3(t *testing.T) {
	h := commandtest.New(t)
	h.Ctx.Proto = 3
	h.Check(`
		sadd s 1 2 => :2
		smembers s => ~2 $1 1 $1 2
		sinter s none => ~0
		sdiff s => ~2 $1 1 $1 2
		srandmember s 5 => *2 $1 1 $1 2
		srandmember none => _
		spop none => _
		spop none 1 => ~0
		spop s 5 => ~2 $1 1 $1 2
		smismember s 1 => *1 :0
	`)
}

func TestSetCommandsCheckTheirArgumentsInTheOrderOfRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		set k a => +OK
		sadd s 1 => :1
		sadd k 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		srem k 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		smove k s 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		smove s k 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		smove s k 9 => -WRONGTYPE Operation against a key holding the wrong kind of value
		smove none k 1 => :0
		scard k => -WRONGTYPE Operation against a key holding the wrong kind of value
		sismember k 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		smismember k 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		smembers k => -WRONGTYPE Operation against a key holding the wrong kind of value
		sinter k s => -WRONGTYPE Operation against a key holding the wrong kind of value
		sinter none k => -WRONGTYPE Operation against a key holding the wrong kind of value
		sunion s k => -WRONGTYPE Operation against a key holding the wrong kind of value
		sdiff none k => -WRONGTYPE Operation against a key holding the wrong kind of value
		sinterstore d none k => -WRONGTYPE Operation against a key holding the wrong kind of value
		sintercard 2 none k => -WRONGTYPE Operation against a key holding the wrong kind of value
		spop k => -WRONGTYPE Operation against a key holding the wrong kind of value
		spop k 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		spop k x => -ERR value is out of range, must be positive
		srandmember k => -WRONGTYPE Operation against a key holding the wrong kind of value
		srandmember k 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		sscan k 0 => -WRONGTYPE Operation against a key holding the wrong kind of value
		sunionstore k s => :1
		type k => +set
	`)
}
