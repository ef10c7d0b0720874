package zset_test

import (
	"testing"

	"github.com/lockredis/lockredis/internal/command/commandtest"
)

func TestZSetCommandsAnswerAsRedis(t *testing.T) {
	commandtest.New(t).Check(`
		zadd z -0 a 1.5 b 1e17 c inf d => :4
		zscore z a => $1 0
		zscore z c => $5 1e+17
		zscan z 0 match c => *2 $1 0 *2 $1 c $18 100000000000000000
		zadd z nx gt 1 a => -ERR GT, LT, and/or NX options at the same time are not compatible
		zadd z gt ch 1 a 1 b => :1
		zadd z nx incr 1 a => $-1
		zincrby z -inf d => -ERR resulting score is not a number (NaN)
		zrange z (1 inf byscore limit 1 1 withscores => *2 $1 c $5 1e+17
		zrange z 0 1 limit 0 1 => -ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX
		zrange z + (b bylex rev => *2 $1 d $1 c
		zrevrank z c => :1
		zcount z '' 1 => :1
		zunion 1 z weights 0 withscores => *8 $1 a $1 0 $1 b $1 0 $1 c $1 0 $1 d $1 0
		zunionstore d 0 z => -ERR at least 1 input key is needed for 'zunionstore' command
		zdiffstore d 2 z none => :4
		zintercard 2 z d limit 2 => :2
		zrandmember z 9 => *4 $1 d $1 c $1 b $1 a
		zmpop 1 z min count 2 => *2 $1 z *2 *2 $1 a $1 1 *2 $1 b $3 1.5
		zremrangebyrank z 0 -1 => :2
		zpopmin z => *0
	`)
}

func TestZSetRepliesInRESP3(t *testing.T) {
	h := commandtest.New(t)
	h.Ctx.Proto = 3
	h.Check(`
		zadd z 1 a 2 b 3 c => :3
		zscore z a => ,1
		zrange z 0 0 withscores => *1 *2 $1 a ,1
		zpopmin z => *2 $1 a ,1
		zpopmin z 1 => *1 *2 $1 b ,2
		zadd z incr 1.5 c => ,4.5
		zrank z none => _
		zscan z 0 => *2 $1 0 *2 $1 c $3 4.5
	`)
}
