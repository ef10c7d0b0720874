package hash_test

import (
	"testing"

	"github.com/lockredis/lockredis/internal/command/commandtest"
)

func TestHashFieldsAnswerAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		hset h f v g w => :2
		hset h f v2 x y => :1
		hset h f => -ERR wrong number of arguments for 'hset' command
		hset h f v g => -ERR wrong number of arguments for 'hset' command
		hmset h f v => +OK
		hmset h f v g => -ERR wrong number of arguments for 'hmset' command
		hget h f => $1 v
		hget h none => $-1
		hget none f => $-1
		hmget h f none g => *3 $1 v $-1 $1 w
		hmget none f g => *2 $-1 $-1
		hgetall h => *6 $1 f $1 v $1 g $1 w $1 x $1 y
		hkeys h => *3 $1 f $1 g $1 x
		hvals h => *3 $1 v $1 w $1 y
		hlen h => :3
		hstrlen h g => :1
		hstrlen h none => :0
		hexists h f => :1
		hexists h none => :0
		hsetnx h f z => :0
		hsetnx h new z => :1
		hdel h f none g => :2
		hgetall h => *4 $1 x $1 y $3 new $1 z
		hgetall none => *0
		hkeys none => *0
		hdel none f => :0
		hlen none => :0
	`)
}

func TestHincrbyAnswersAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		hincrby h n 5 => :5
		hincrby h n -7 => :-2
		hincrby h n x => -ERR value is not an integer or out of range
		hincrby h n 1.5 => -ERR value is not an integer or out of range
		hset h m 9223372036854775807 t abc s '' i inf => :4
		hincrby h m 1 => -ERR increment or decrement would overflow
		hincrby h t 1 => -ERR hash value is not an integer
		hincrby h s 1 => -ERR hash value is not an integer
		hincrbyfloat h n 0.1 => $4 -1.9
		hincrbyfloat h n 1e2 => $4 98.1
		hincrbyfloat h t 1 => -ERR hash value is not a float
		hincrbyfloat h n x => -ERR value is not a valid float
		hincrbyfloat h n inf => -ERR value is NaN or Infinity
		hincrbyfloat h n nan => -ERR value is not a valid float
		hincrbyfloat h i 1 => -ERR increment would produce NaN or Infinity
		hget h n => $4 98.1
	`)
}

func TestHashScanAnswersAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		hscan none 0 foo => *2 $1 0 *0
		hscan none x => -ERR invalid cursor
		hset h f1 a f2 b g c => :3
		hscan h 0 => *2 $1 0 *6 $2 f1 $1 a $2 f2 $1 b $1 g $1 c
		hscan h -1 => *2 $1 0 *6 $2 f1 $1 a $2 f2 $1 b $1 g $1 c
		hscan h +0 => *2 $1 0 *6 $2 f1 $1 a $2 f2 $1 b $1 g $1 c
		hscan h 18446744073709551616 => -ERR invalid cursor
		hscan h 1x => -ERR invalid cursor
		hscan h 0 match f* count 100 => *2 $1 0 *4 $2 f1 $1 a $2 f2 $1 b
		hscan h 0 MATCH f[2-9] => *2 $1 0 *2 $2 f2 $1 b
		hscan h 0 count 0 => -ERR syntax error
		hscan h 0 count x => -ERR value is not an integer or out of range
		hscan h 0 match => -ERR syntax error
		hscan h 0 type hash => -ERR syntax error
	`)
}

func TestHrandfieldAnswersAsRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		hrandfield none => $-1
		hrandfield none 3 => *0
		hrandfield none x => -ERR value is not an integer or out of range
		hset h a 1 => :1
		hrandfield h => $1 a
		hrandfield h 5 => *1 $1 a
		hrandfield h -2 => *2 $1 a $1 a
		hrandfield h 0 => *0
		hrandfield h 1 withvalues => *2 $1 a $1 1
		hrandfield h 1 foo => -ERR syntax error
		hrandfield h 1 withvalues foo => -ERR syntax error
		hrandfield h -9223372036854775808 => -ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807
		hrandfield h 4611686018427387904 withvalues => -ERR value is out of range
	`)
}

func TestHashAnswersInRESP3(t *testing.T) {
	h := commandtest.New(t)
	h.Ctx.Proto = 3
	h.Check(`
		hset h a 1 => :1
		hgetall h => %1 $1 a $1 1
		hgetall none => %0
		hrandfield h -2 withvalues => *2 *2 $1 a $1 1 *2 $1 a $1 1
		hrandfield h 1 withvalues => *1 *2 $1 a $1 1
		hget h none => _
		hscan h 0 => *2 $1 0 *2 $1 a $1 1
	`)
}

func TestHashCommandsCheckTheirArgumentsInTheOrderOfRedis(t *testing.T) {
	h := commandtest.New(t)
	h.Check(`
		set k a => +OK
		hset k f v => -WRONGTYPE Operation against a key holding the wrong kind of value
		hset k f => -ERR wrong number of arguments for 'hset' command
		hsetnx k f v => -WRONGTYPE Operation against a key holding the wrong kind of value
		hget k f => -WRONGTYPE Operation against a key holding the wrong kind of value
		hmget k f => -WRONGTYPE Operation against a key holding the wrong kind of value
		hgetall k => -WRONGTYPE Operation against a key holding the wrong kind of value
		hkeys k => -WRONGTYPE Operation against a key holding the wrong kind of value
		hvals k => -WRONGTYPE Operation against a key holding the wrong kind of value
		hlen k => -WRONGTYPE Operation against a key holding the wrong kind of value
		hstrlen k f => -WRONGTYPE Operation against a key holding the wrong kind of value
		hexists k f => -WRONGTYPE Operation against a key holding the wrong kind of value
		hdel k f => -WRONGTYPE Operation against a key holding the wrong kind of value
		hincrby k f 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		hincrby k f x => -ERR value is not an integer or out of range
		hincrbyfloat k f 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
		hincrbyfloat k f x => -ERR value is not a valid float
		hscan k 0 foo => -WRONGTYPE Operation against a key holding the wrong kind of value
		hscan k x => -ERR invalid cursor
		hrandfield k => -WRONGTYPE Operation against a key holding the wrong kind of value
		hrandfield k 1 foo => -ERR syntax error
		hrandfield k x => -ERR value is not an integer or out of range
	`)
}
